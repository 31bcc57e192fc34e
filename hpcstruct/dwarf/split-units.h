/* Split DWARF (gcc and clang -gsplit-dwarf): the linked file has a skeleton of each unit; the rest
 * is in a .dwo file for each unit, or in one .dwp file for all.
 *
 * A .dwp file is searched beside the binary (NAME.dwp); a .dwo file where the compiler wrote it,
 * and beside the binary. Files that another user may have put there are not used
 * (debug_file_why_not). */
#ifndef HPCSTRUCT_SPLIT_UNITS_H
#define HPCSTRUCT_SPLIT_UNITS_H

#include "hpcstruct/dwarf/unit-head.h"
#include "hpcstruct/dwarf/unit-index.h"

/* A unit whose .dwo or .dwp file was found. */
struct split_unit {
    struct unit_head skeleton;
    struct elf_image *file;  /* in split_debug.files */
    struct unit_parts parts; /* of the file's sections */
};

struct split_debug {
    VEC(struct split_unit) units; /* in the order of their skeletons */
    VEC(struct elf_image *) files;
    uint32_t skeletons, missing; /* number of units; of those whose file was not found */
    uint32_t untrusted;          /* number of files that are not used, since another user may have put them there */
    char *first_missing;         /* path of the first file that was not found; NULL: none */
};

/* Finds the files. `from` has the debug information of the binary. */
void split_debug_open(struct split_debug *split, const struct elf_image *from,
                      const char *binary_path);

void split_debug_close(struct split_debug *split);

/* The unit whose skeleton has its first entry at an offset of .debug_info; NULL: it is not split,
 * or its file was not found. */
const struct split_unit *split_unit_at(const struct split_debug *split, uint64_t entry);

/* The sections of a unit; empty if the file lacks one. */
struct split_sections {
    struct elf_bytes info, abbreviations, strings, string_offsets, range_lists;
};

/* Returns them. If a compressed one is damaged, sets *cause to a line that the caller frees. */
struct split_sections split_unit_sections(const struct split_unit *unit, char **cause);

/* The string with this index in a unit. */
const char *split_unit_string(const struct split_unit *unit, const struct split_sections *sections,
                              uint64_t index);

#endif
