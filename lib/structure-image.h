/* The image of a structure: the file that hpcstruct writes for hpcprof (doc/FORMAT-structure.md has its
 * layout). hpcprof maps it and reads only the procedures in call paths.
 *
 * All structs are written as they lie in memory; each table begins at a multiple of 8 bytes. Ids of names,
 * files and kinds are indices in the tables of strings. */
#ifndef LIB_STRUCTURE_IMAGE_H
#define LIB_STRUCTURE_IMAGE_H

#include <stdint.h>

#define STRUCTURE_NONE UINT32_MAX

/* Version of hpcstruct: the first bytes of an image, filled up with zeros, and the attribute `g` of LM. Must
 * change whenever hpcstruct may produce a different structure, or the structs below change. */
#define STRUCTURE_GENERATOR "hpcstruct 12"
#define IMAGE_MAGIC_SIZE    16

enum image_section {
    IMAGE_FRAGMENTS,
    /* A table of strings has two sections: the offset of each string in the text, and the text. */
    IMAGE_NAMES,
    IMAGE_NAMES_TEXT,
    IMAGE_FILES,
    IMAGE_FILES_TEXT,
    IMAGE_DIRECTORIES,
    IMAGE_DIRECTORIES_TEXT,
    IMAGE_KINDS,
    IMAGE_KINDS_TEXT,
    IMAGE_SECTIONS
};

/* An address range of a procedure. Those of one procedure follow each other. */
struct image_fragment {
    uint64_t begin, end;
    uint64_t procedure; /* its offset in the file */
};

/* A procedure: this struct, its name with a byte 0, and its tables. */
struct image_procedure {
    uint64_t entry; /* first address of the first fragment */
    uint32_t name_size;
    uint32_t file, line; /* of the declaration; STRUCTURE_NONE and 0: unknown */
    uint32_t n_scopes, n_statements, n_waits, n_calls;
    uint32_t unused; /* 0 */
};

/* Statements and calls have tables of their own. */
enum scope_kind { SCOPE_PROCEDURE, SCOPE_INLINED, SCOPE_LOOP, SCOPE_STATEMENT, SCOPE_CALL };

/* An inlined procedure or loop. Scope 0 is the procedure, so that the first one in the table is scope 1. */
struct image_scope {
    uint32_t kind;       /* enum scope_kind */
    uint32_t parent;     /* a smaller number than its own */
    uint32_t name;       /* inlined procedure */
    uint32_t file, line; /* of the declaration; of the header of a loop */
    uint32_t call_file, call_line; /* of the inlined call */
    uint32_t pauses;     /* 1: loop with a `pause` instruction, inner loops aside */
    uint64_t address;    /* header of a loop */
};

struct structure_statement {
    uint64_t begin, end;
    uint32_t scope;
    uint32_t file, line; /* line 0: unknown */
    uint32_t overhead;   /* kind of overhead, from the tag of the statement or of a procedure around it;
                            STRUCTURE_NONE: not tagged */
};

/* The addresses at which samples of a waiting system call can lie. */
struct structure_wait {
    uint64_t begin, end;
};

/* A direct call. */
struct structure_call {
    uint64_t address; /* last byte of the instruction: the return address minus 1 */
    uint64_t target;
};

/* The end of the file. Sections follow the procedures, one after the other. */
struct image_foot {
    struct {
        uint64_t at, n; /* offset in the file, number of elements */
    } sections[IMAGE_SECTIONS];
    uint64_t has_lines;     /* 1: the binary has line tables, or some statement has a line */
    uint64_t n_units;       /* compilation units that record their compiler options */
    uint64_t n_unoptimized; /* of these, units compiled without optimization */
};

/* Bytes of an element. */
static inline uint64_t image_element_size(enum image_section section)
{
    if (section == IMAGE_FRAGMENTS)
        return sizeof(struct image_fragment);
    return (section - IMAGE_NAMES) % 2 ? 1 : sizeof(uint64_t);
}

/* The first multiple of 8 at or after a number. */
static inline uint64_t image_aligned(uint64_t at)
{
    return (at + 7) & ~(uint64_t)7;
}

#endif
