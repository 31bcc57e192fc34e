/* The structure of one load module, as read from a structure file (doc/FORMAT-structure.md) and
 * made ready for the question that hpcprof asks most: which chain of scopes encloses an address?
 *
 * Scopes are procedures, inlined procedures and loops, linked to the scope around them. Addresses
 * belong to statements, kept sorted; a statement knows its innermost scope. Functions are what
 * procedures and inlined procedures are instances of: one per name, file and line, so that clones
 * and inlined copies of a source procedure count as that procedure. Functions without a file are
 * told apart by their address.
 *
 * Everything belongs to the structure. After structure_read it does not change: threads may read
 * it together. */
#ifndef HPCPROF_STRUCTURE_H
#define HPCPROF_STRUCTURE_H

#include "lib/alloc.h"
#include "lib/hash-tables.h"

#include <stdbool.h>
#include <stdint.h>

#define STRUCTURE_NONE UINT32_MAX

struct structure_function {
    uint32_t name;  /* in names */
    uint32_t file;  /* in files, or STRUCTURE_NONE */
    uint32_t line;  /* 0: unknown */
    uint64_t entry; /* lowest first address of its procedures, 0 when it is only inlined */
};

enum scope_kind { SCOPE_PROCEDURE, SCOPE_INLINED, SCOPE_LOOP };

struct structure_scope {
    uint32_t parent; /* STRUCTURE_NONE for a procedure, else smaller than the scope's own index */
    enum scope_kind kind;
    uint32_t function;   /* of a procedure or inlined procedure */
    uint32_t file, line; /* of the call site of an inlined procedure, of a loop's header; else
                            STRUCTURE_NONE and 0 */
    uint64_t address;    /* of a loop's header */
    bool pauses;         /* of a loop: it has a `pause` instruction of its own */
};

struct structure_statement {
    uint64_t begin, end;
    uint32_t scope;
    uint32_t file, line; /* line 0: unknown */
    uint32_t overhead;   /* in overhead_kinds: it, or a procedure around it, is tagged as that kind
                            of parallel overhead; else STRUCTURE_NONE */
};

/* A system call by which the code may wait, as far as samples in it reach. */
struct structure_wait {
    uint64_t begin, end;
};

/* A direct call. */
struct structure_call {
    uint64_t address; /* in the instruction: one before its end, as a return address minus 1 */
    uint64_t target;
};

struct structure {
    struct strtab names, files; /* paths are normalized */
    struct strtab directories;  /* in which it was compiled: absolute */
    struct strtab overhead_kinds;
    VEC(struct structure_function) functions;
    VEC(struct structure_scope) scopes;
    VEC(struct structure_statement) statements; /* sorted, disjoint */
    VEC(struct structure_wait) waits;           /* sorted */
    VEC(struct structure_call) calls;           /* only where the file lists them */
    bool has_lines;                             /* some statement has a line */
    unsigned n_units, n_unoptimized; /* whose compiler says its options; without optimization */
};

/* Reads a structure file. NULL when it is not well-formed or holds no load module; *cause is then a
 * line that says why and belongs to the caller. Call xmlInitParser before there are threads. */
struct structure *structure_read(const char *path, char **cause);

/* The same from a text in memory. */
struct structure *structure_read_text(const char *text, char **cause);

void structure_free(struct structure *s);

/* The statement that an address belongs to, or NULL. */
const struct structure_statement *structure_find(const struct structure *s, uint64_t address);

/* Whether code waits by a system call at an address. */
bool structure_waits_at(const struct structure *s, uint64_t address);

/* Whether a statement is the linker's: of the stub by which another module's function is called. */
bool structure_is_stub(const struct structure *s, const struct structure_statement *statement);

/* The procedure around a scope. */
uint32_t structure_procedure(const struct structure *s, uint32_t scope);

#endif
