/* A file with DWARF 2 to 5, read through libdwarf: its sections, its units, and the attributes of
 * their debugging information entries (DIEs).
 *
 * Functions return false, or NULL, if an entry lacks the attribute or is damaged;
 * the first damage is recorded. */
#ifndef HPCSTRUCT_DWARF_FILE_H
#define HPCSTRUCT_DWARF_FILE_H

#include "hpcstruct/dwarf/range-list.h"
#include "hpcstruct/dwarf/split-units.h"

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

struct dwarf_section {
    const char *name;
    struct elf_bytes bytes;
};

struct dwarf_file {
    Dwarf_Debug debug;
    struct dwarf_file
        *supplement; /* with the entries that dwz moved out of this file; NULL: none */
    const struct split_unit *split; /* the unit of a .dwo or .dwp file; NULL: a whole file */
    struct split_sections split_sections;
    struct range_lists range_lists; /* of the unit */
    char **problem;  /* the first thing that could not be read, one line; NULL: none. Not owned */
    VEC(struct dwarf_section) sections;   /* uncompressed; the first is the null section */
    Dwarf_Obj_Access_Interface interface; /* through which libdwarf reads the sections */
};

/* Opens the DWARF of an ELF file. `file` must stay where it is until dwarf_file_close. False if the
 * file has none, or if libdwarf rejects it. */
bool dwarf_file_open(struct dwarf_file *file, const struct elf_image *image, char **problem);

/* Opens one unit of a .dwo or .dwp file. `linked` has the rest of its debug information. Both must
 * stay open until dwarf_file_close. */
bool dwarf_file_open_split(struct dwarf_file *file, const struct split_unit *split,
                           const struct dwarf_file *linked, char **problem);

void dwarf_file_close(struct dwarf_file *file);

/* The contents of a section that the reader needs; empty if the file lacks it. */
struct elf_bytes dwarf_file_section(const struct dwarf_file *file, const char *name);

/* Records a problem, unless there is one already. */
void dwarf_file_problem(const struct dwarf_file *file, const char *text);

/* Whether a libdwarf function succeeded, by its result; records its error. `error` is a pointer
 * because C may evaluate this argument before the one that calls the function. */
bool dwarf_file_ok(const struct dwarf_file *file, int result, Dwarf_Error *error);

/* Calls `visit` with the first entry of each unit in .debug_info. */
void dwarf_file_each_unit(const struct dwarf_file *file,
                          void (*visit)(void *context, Dwarf_Die unit), void *context);

/* ---- entries ---- */

bool die_offset(const struct dwarf_file *file, Dwarf_Die die, uint64_t *offset);
bool die_has(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute);
bool die_number(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                uint64_t *value);
bool die_address(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                 uint64_t *value);

/* The string belongs to libdwarf and lives as long as the file is open. */
const char *die_string(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute);

/* The entry (or line table) that an attribute refers to: its offset, and the file that holds it,
 * which is this one or its supplement. */
bool die_reference(const struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                   uint64_t *offset, const struct dwarf_file **in);

/* Sets `ranges` to the address ranges of an entry, in the order of the file. `unit_base` is the
 * first address of the unit, to which range lists of DWARF 3 and 4 are relative. */
void die_ranges(const struct dwarf_file *file, Dwarf_Die die, uint64_t unit_base,
                struct address_ranges *ranges);

#endif
