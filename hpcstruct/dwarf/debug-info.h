/* What debug information says about a module, apart from how it is encoded (that is known to
 * dwarf-reader.h alone): the source line of every address, and the chain of inlined functions
 * around it.
 *
 * Functions and files are the same number exactly when they are the same in the source, whichever
 * compilation unit speaks of them. Read-only, and thus for many threads, after
 * debug_info_finish. */
#ifndef HPCSTRUCT_DEBUG_INFO_H
#define HPCSTRUCT_DEBUG_INFO_H

#include "hpcstruct/code/procedures.h"

#include "lib/idmap.h"
#include "lib/strtab.h"

#include <stdio.h>

#define DEBUG_NONE UINT32_MAX

/* Source line of the addresses from here to the next mark. */
struct line_mark {
    uint64_t address;
    uint32_t file; /* in files; DEBUG_NONE: unknown */
    uint32_t line; /* 0: unknown */
};

struct debug_function {
    uint32_t name; /* in names, for people */
    uint32_t file; /* of its declaration, in files; DEBUG_NONE: unknown */
    uint32_t line; /* of its declaration, 0: unknown */
};

/* A function compiled out of line, or one inlined into another scope. */
struct debug_scope {
    uint32_t function; /* in functions */
    uint32_t parent;   /* scope that it is inlined into; DEBUG_NONE: compiled out of line */
    uint32_t depth;    /* number of scopes around it */
    uint32_t call_file, call_line; /* where it was called, if inlined; as in a line_mark */
};

/* Innermost scope of the addresses from here to the next mark; DEBUG_NONE: unknown. */
struct scope_mark {
    uint64_t address;
    uint32_t scope;
};

/* Rows of the line map as they come: see debug_info_add_line. */
struct line_sequence {
    uint64_t begin, end;
    size_t first, count; /* range of raw_lines */
};

/* Ranges of scopes as they come: see debug_info_add_range. */
struct scope_range {
    uint64_t begin, end;
    uint32_t scope;
};

struct debug_info {
    struct strtab files;       /* paths, normalized */
    struct strtab directories; /* in which units were compiled, normalized */
    struct strtab names;
    VEC(struct debug_function) functions;
    VEC(struct debug_scope) scopes; /* parents first */
    VEC(struct line_mark) lines;    /* sorted */
    VEC(struct scope_mark) marks;   /* sorted */
    VEC(struct code_link) links;    /* of functions with several ranges */
    /* Compilation units whose compiler says what its options were, and those of them that were
     * compiled without optimization. */
    uint32_t n_units, n_unoptimized;
    /* While it is being filled. */
    struct idmap function_ids;
    VEC(struct line_mark) raw_lines;
    VEC(struct line_sequence) sequences;
    VEC(struct scope_range) ranges;
};

/* ---- filling ---- */

/* The number of a function. */
uint32_t debug_info_function(struct debug_info *info, const char *name, uint32_t file,
                             uint32_t line);

/* The number of a function of which only the name is known, and not even that is its own, such as
 * a C++ lambda: it is another one than all so far. */
uint32_t debug_info_local_function(struct debug_info *info, const char *name);

/* Adds a row of the line map; rows come in sequences of ascending addresses. */
void debug_info_add_line(struct debug_info *info, uint64_t address, uint32_t file, uint32_t line);

/* Ends the sequence; `end` is the first address behind it. Sequences that do not begin in code of
 * `image` (code that the linker dropped) are forgotten. */
void debug_info_end_sequence(struct debug_info *info, uint64_t end, const struct elf_image *image);

/* Adds an address range of a scope; scopes are nested in each other. Ranges that do not begin in
 * code of `image` are forgotten. */
void debug_info_add_range(struct debug_info *info, uint64_t begin, uint64_t end, uint32_t scope,
                          const struct elf_image *image);

/* Brings everything into order. Of two statements about an address, the first sequence counts in
 * the line map, and the scope that begins last (of those the deepest) among scopes. Functions whose
 * declaration is not known take the first line of their code for it. */
void debug_info_finish(struct debug_info *info);

void debug_info_free(struct debug_info *info);

/* ---- asking ---- */

/* The index of the last mark at or before an address; DEBUG_NONE when there is none. */
uint32_t debug_info_line_index(const struct debug_info *info, uint64_t address);
uint32_t debug_info_scope_index(const struct debug_info *info, uint64_t address);

/* The function compiled out of line that an address belongs to, or NULL. */
const struct debug_function *debug_info_function_at(const struct debug_info *info,
                                                    uint64_t address);

/* Carries a struct debug_info (after debug_info_finish) from one process to another. */

/* Writes it; false when the stream does not take it. */
bool debug_info_save(const struct debug_info *info, FILE *out);

/* Reads what debug_info_save wrote into an empty `info`. False, and `info` is empty again, when the
 * bytes are not consistent: the writer may have run on damaged memory. */
bool debug_info_load(struct debug_info *info, struct elf_bytes bytes);

#endif
