/* The debug information of a module, independent of its encoding: the source line of every address,
 * and the inlined calls around it.
 *
 * Functions and files that are the same in the source have the same number, whichever compilation
 * unit names them. Read-only after debug_info_finish, and then for any number of threads. */
#ifndef HPCSTRUCT_DEBUG_INFO_H
#define HPCSTRUCT_DEBUG_INFO_H

#include "hpcstruct/code/procedures.h"

#include "lib/hash-tables.h"

#define DEBUG_NONE UINT32_MAX

/* Source line of the addresses from here to the next row. */
struct line_row {
    uint64_t address;
    uint32_t file; /* in files; DEBUG_NONE: unknown */
    uint32_t line; /* 0: unknown */
};

struct debug_function {
    uint32_t name; /* in names, demangled */
    uint32_t file; /* of its declaration, in files; DEBUG_NONE: unknown */
    uint32_t line; /* of its declaration; 0: unknown */
};

/* A function compiled out of line, or a call inlined into another scope. */
struct debug_scope {
    uint32_t function; /* in functions */
    uint32_t parent;   /* scope that it is inlined into; DEBUG_NONE: compiled out of line */
    uint32_t depth;    /* number of enclosing scopes */
    uint32_t call_file, call_line; /* of the inlined call; as in a line_row */
};

/* Innermost scope of the addresses from here to the next row. */
struct scope_row {
    uint64_t address;
    uint32_t scope; /* in scopes; DEBUG_NONE: unknown */
};

/* A sequence of the line table, before debug_info_finish. */
struct line_sequence {
    uint64_t begin, end;
    size_t first, count; /* range of raw_lines */
};

/* An address range of a scope, before debug_info_finish. */
struct scope_range {
    uint64_t begin, end;
    uint32_t scope;
};

struct debug_info {
    struct strtab files;       /* normalized paths */
    struct strtab directories; /* working directories of the compiler, normalized */
    struct strtab names;
    VEC(struct debug_function) functions;
    VEC(struct debug_scope) scopes;   /* parents first */
    VEC(struct line_row) lines;       /* sorted by address */
    VEC(struct scope_row) scope_rows; /* sorted by address */
    VEC(struct code_link) links;      /* of functions with several address ranges */
    /* Compilation units whose compiler records its options, and those of them that were compiled
     * without optimization. */
    uint32_t n_units, n_unoptimized;
    bool names_lines; /* compilation units refer to line tables */
    /* Used until debug_info_finish. */
    struct idmap function_ids;
    VEC(struct line_row) raw_lines;
    VEC(struct line_sequence) sequences;
    VEC(struct scope_range) ranges;
};

/* ---- filling ---- */

/* The number of a function; a new one if no function has this name, file and line. */
uint32_t debug_info_function(struct debug_info *info, const char *name, uint32_t file,
                             uint32_t line);

/* A new number for a function whose declaration is unknown, such as a C++ lambda ("operator()"): its name
 * does not identify it, and its code in each unit says where it is. */
uint32_t debug_info_local_function(struct debug_info *info, const char *name);

/* Adds a row of the line table. Rows come in sequences of ascending addresses. */
void debug_info_add_line(struct debug_info *info, uint64_t address, uint32_t file, uint32_t line);

/* Ends the sequence; `end` is the first address after it. Drops a sequence that does not begin in
 * code of `image`: the linker removed its function. */
void debug_info_end_sequence(struct debug_info *info, uint64_t end, const struct elf_image *image);

/* Moves the files, rows and sequences of `part` to `info`, and replaces the ids of files in `ids` by
 * theirs in `info`. `part` is empty afterwards. */
void debug_info_merge_lines(struct debug_info *info, struct debug_info *part, uint32_t *ids,
                            size_t n_ids);

/* Adds an address range of a scope, unless it does not begin in code of `image`. The ranges of
 * inner scopes lie in those of outer ones. */
void debug_info_add_range(struct debug_info *info, uint64_t begin, uint64_t end, uint32_t scope,
                          const struct elf_image *image);

/* Sorts everything and resolves conflicts:
 * - an address in several sequences takes its line from the one that begins first;
 * - an address in several scopes belongs to the one that begins last, and to the deepest of those;
 * - a function whose declaration is unknown takes the smallest line of its code. */
void debug_info_finish(struct debug_info *info, unsigned workers);

void debug_info_free(struct debug_info *info);

/* ---- lookup ---- */

/* The index of the last row at or before an address; DEBUG_NONE if there is none. */
uint32_t debug_info_line_index(const struct debug_info *info, uint64_t address);
uint32_t debug_info_scope_index(const struct debug_info *info, uint64_t address);

/* The function compiled out of line that an address belongs to, or NULL. */
const struct debug_function *debug_info_function_at(const struct debug_info *info,
                                                    uint64_t address);

#endif
