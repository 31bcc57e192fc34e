/* The structure of one load module, read from its image (lib/structure-image.h) and indexed for the
 * question that hpcprof asks most: which chain of scopes encloses an address?
 *
 * - Scopes are procedures, inlined procedures and loops; each is linked to the scope around it.
 * - Statements are address ranges, sorted and disjoint; each knows its innermost scope.
 * - Functions are what procedures and inlined procedures are instances of: one per name, file and
 *   line. So the clones and inlined copies of a source procedure are one function. Functions
 *   without a file differ by their address.
 *
 * The structure owns everything. It does not change after structure_read: threads may share it. */
#ifndef HPCPROF_STRUCTURE_H
#define HPCPROF_STRUCTURE_H

#include "hpcprof/modules/module-addresses.h"

#include "lib/alloc.h"
#include "lib/hash-tables.h"
#include "lib/structure-image.h"

#include <stdbool.h>
#include <stdint.h>

struct structure_function {
    uint32_t name;  /* in names */
    uint32_t file;  /* in files, or STRUCTURE_NONE */
    uint32_t line;  /* 0: unknown */
    uint64_t entry; /* lowest first address of its procedures, or of those that samples are in (see
                       structure_mark_sampled); 0: it has none */
};

struct structure_scope {
    uint32_t parent; /* index, smaller than the scope's own; STRUCTURE_NONE for a procedure */
    enum scope_kind kind;
    uint32_t function;   /* of a procedure or inlined procedure */
    uint32_t file, line; /* inlined procedure: its call site; loop: its header; procedure:
                            STRUCTURE_NONE and 0 */
    uint64_t address;    /* loop: its header; procedure: its first address */
    bool is_sampled;     /* procedure: see structure_mark_sampled */
    bool pauses;         /* loop: it contains a `pause` instruction, inner loops aside */
    bool is_stub;        /* it lies in a PLT stub */
};

struct structure {
    struct strtab names, files; /* paths are normalized */
    struct strtab directories;  /* of compilation; absolute */
    struct strtab overhead_kinds;
    VEC(struct structure_function) functions;
    VEC(struct structure_scope) scopes;
    VEC(struct structure_statement) statements; /* sorted, disjoint */
    uint32_t *first_of;                         /* by bucket of addresses: see structure_index */
    unsigned bucket_bits;
    VEC(struct structure_wait) waits;           /* sorted */
    VEC(struct structure_call) calls; /* only if the file lists them (hpcstruct --calls) */
    bool has_lines;                   /* the binary has line tables, or some statement has a line */
    unsigned n_units;                 /* compilation units that record their compiler options */
    unsigned n_unoptimized;           /* of these, units compiled without optimization */
};

/* The structure in the bytes of an image, which begin at a multiple of 8. With `only`, that of the procedures
 * that contain one of the addresses; NULL: of all. NULL if the image is of another version of hpcstruct
 * or damaged. Any bytes are accepted; memory stays within a small multiple of the image's size. */
struct structure *structure_read(const uint8_t *bytes, size_t size, const struct address_set *only);

/* The same for the image in a file; NULL, too, if it cannot be mapped. */
struct structure *structure_read_file(int fd, const struct address_set *only);

/* Completes a structure whose statements are sorted: marks PLT stubs, and divides the addresses into
 * about as many buckets of equal size as there are statements. Bucket b begins at address
 * statements.at[0].begin + (b << bucket_bits); first_of[b] is the number of statements that begin
 * before it. */
void structure_index(struct structure *s);

/* Marks the procedures that contain one of `n` addresses: those that call paths go through. Unless the
 * others matter, they may be absent (`hpcstruct --only`), and the database must not depend on them: functions
 * then have the entries of marked procedures only. */
void structure_mark_sampled(struct structure *s, const uint64_t *addresses, size_t n,
                            bool others_matter);

void structure_free(struct structure *s);

/* The statement that an address belongs to, or NULL. */
const struct structure_statement *structure_find(const struct structure *s, uint64_t address);

/* Whether an address lies at a waiting system call. */
bool structure_waits_at(const struct structure *s, uint64_t address);

/* Whether a statement belongs to a PLT stub: linker code that jumps to another module's
 * function. */
bool structure_is_stub(const struct structure *s, const struct structure_statement *statement);

/* The procedure around a scope. */
uint32_t structure_procedure(const struct structure *s, uint32_t scope);

#endif
