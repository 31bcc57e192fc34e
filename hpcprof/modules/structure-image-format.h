/* What lies in an image (structure-image.h): a head, then its sections, one after the other. */
#ifndef HPCPROF_STRUCTURE_IMAGE_FORMAT_H
#define HPCPROF_STRUCTURE_IMAGE_FORMAT_H

#include "hpcprof/modules/structure.h"

#include "lib/binary-search.h"

/* Changes when the sections below do. */
#define IMAGE_MAGIC "HPCIMG02"
#define IMAGE_MAGIC_SIZE 8

/* What an image belongs to: of the structure file, and of hpcprof's own file. */
struct image_key {
    uint64_t size, time, program_size, program_time; /* bytes; ns */
};

/* A table of strings has two sections: the offset of each string in the text, and the text. */
enum image_section {
    IMAGE_NAMES,
    IMAGE_NAMES_TEXT,
    IMAGE_FILES,
    IMAGE_FILES_TEXT,
    IMAGE_DIRECTORIES,
    IMAGE_DIRECTORIES_TEXT,
    IMAGE_KINDS,
    IMAGE_KINDS_TEXT,
    IMAGE_FUNCTIONS,
    IMAGE_SCOPES,
    IMAGE_STATEMENTS,
    IMAGE_WAITS,
    IMAGE_CALLS,
    IMAGE_PROCEDURES,
    IMAGE_ORDER, /* numbers of statements, procedure by procedure */
    IMAGE_SECTIONS
};

/* Where the elements of a section are; they begin at a multiple of 8. */
struct section_place {
    uint64_t at, n;
};

struct image_head {
    char magic[IMAGE_MAGIC_SIZE];
    struct image_key key;
    uint64_t has_lines, n_units, n_unoptimized;
    struct section_place sections[IMAGE_SECTIONS];
};

/* A procedure. Its scopes and statements go to those of the next one; the last one is followed by the ends of
 * the tables. */
struct image_procedure {
    uint32_t scope; /* in IMAGE_SCOPES */
    uint32_t first; /* in IMAGE_ORDER */
};

/* Bytes of an element. */
static const size_t image_sizes[IMAGE_SECTIONS] = {
    [IMAGE_NAMES] = sizeof(uint64_t),
    [IMAGE_NAMES_TEXT] = 1,
    [IMAGE_FILES] = sizeof(uint64_t),
    [IMAGE_FILES_TEXT] = 1,
    [IMAGE_DIRECTORIES] = sizeof(uint64_t),
    [IMAGE_DIRECTORIES_TEXT] = 1,
    [IMAGE_KINDS] = sizeof(uint64_t),
    [IMAGE_KINDS_TEXT] = 1,
    [IMAGE_FUNCTIONS] = sizeof(struct structure_function),
    [IMAGE_SCOPES] = sizeof(struct structure_scope),
    [IMAGE_STATEMENTS] = sizeof(struct structure_statement),
    [IMAGE_WAITS] = sizeof(struct structure_wait),
    [IMAGE_CALLS] = sizeof(struct structure_call),
    [IMAGE_PROCEDURES] = sizeof(struct image_procedure),
    [IMAGE_ORDER] = sizeof(uint32_t),
};

/* The first multiple of 8 at or after a number. */
static inline uint64_t image_aligned(uint64_t at)
{
    return (at + 7) & ~(uint64_t)7;
}

/* The number of the procedure that a scope is in: the last that begins at or before it. */
static inline size_t image_procedure_number(const struct image_procedure *procedures, size_t n,
                                            uint32_t scope)
{
    return partition_point(i, n, procedures[i].scope <= scope) - 1;
}

#endif
