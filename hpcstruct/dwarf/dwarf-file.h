/* What the files of the DWARF reader share; nobody else includes this. */
#ifndef HPCSTRUCT_DWARF_FILE_H
#define HPCSTRUCT_DWARF_FILE_H

#include "hpcstruct/dwarf/dwarf-process.h"
#include "hpcstruct/dwarf/line-table.h"

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

/* Does the work of dwarf_read in this process (dwarf-reader.c). */
struct dwarf_report dwarf_read_here(struct debug_info *info, const struct dwarf_files *files);

/* ---- sections for libdwarf (dwarf-object.c) ---- */

struct dwarf_object;

/* Presents a file's debug sections, unpacked, to libdwarf. NULL when it has none or libdwarf
 * refuses them; *problem is then the cause, or NULL when there are none. */
struct dwarf_object *dwarf_object_open(const struct elf_image *image, char **problem);

void dwarf_object_close(struct dwarf_object *object);

Dwarf_Debug dwarf_object_debug(const struct dwarf_object *object);

/* The contents of one of the sections; none when the file lacks it. */
struct elf_bytes dwarf_object_section(const struct dwarf_object *object, const char *name);

/* ---- the reader ---- */

/* One of the two files that are read: the main one, or the supplement of dwz. */
struct dwarf_source {
    Dwarf_Debug debug;
    struct line_sections line_sections;
    struct idmap units;       /* offset of a unit's first entry -> its file table */
    struct idmap line_tables; /* offset of a line table -> its file table */
    struct idmap functions;   /* offset of an entry -> the function that it speaks of */
    struct idmap prefixes;    /* offset of a function's entry -> the namespaces and classes around,
                                 in reader.prefixes, if it has no linkage name */
};

/* A function that has no linkage name, and the entry at which namespaces and classes may stand. */
struct unqualified {
    uint32_t function;
    const struct dwarf_source *source;
    uint64_t offset;
};

struct dwarf_reader {
    struct debug_info *info;
    const struct elf_image *image;
    struct dwarf_source main, supplement;
    VEC(struct file_table) file_tables;
    struct strtab prefixes; /* "NAMESPACE::CLASS::" */
    VEC(struct unqualified) unqualified;
    uint64_t entries_left; /* that may still be visited: damage can make circles */
    struct dwarf_report report;
};

/* Whether a libdwarf function succeeded; notes its error if it failed. (A pointer: `error` itself
 * might be read before the function that sets it is called.) */
bool dwarf_ok(struct dwarf_reader *reader, const struct dwarf_source *source, int result,
              Dwarf_Error *error);

/* Notes the first problem. */
void dwarf_problem(struct dwarf_reader *reader, const char *text);

/* Calls `visit` with the first entry of each unit in .debug_info. */
typedef void dwarf_unit_visitor(struct dwarf_reader *reader, struct dwarf_source *source,
                                Dwarf_Die unit);
void dwarf_each_unit(struct dwarf_reader *reader, struct dwarf_source *source,
                     dwarf_unit_visitor *visit);

/* ---- attributes (dwarf-attributes.c) ---- */

/* The attribute of an entry, NULL when it has none; to be freed by dwarf_dealloc_attribute. */
Dwarf_Attribute dwarf_attribute(struct dwarf_reader *reader, const struct dwarf_source *source,
                                Dwarf_Die die, Dwarf_Half number);

/* The values of attributes. False, or NULL, when the entry has none; strings belong to libdwarf. */
bool dwarf_number(struct dwarf_reader *reader, const struct dwarf_source *source, Dwarf_Die die,
                  Dwarf_Half number, uint64_t *value);
bool dwarf_address(struct dwarf_reader *reader, const struct dwarf_source *source, Dwarf_Die die,
                   Dwarf_Half number, uint64_t *value);
const char *dwarf_string(struct dwarf_reader *reader, const struct dwarf_source *source,
                         Dwarf_Die die, Dwarf_Half number);
/* The entry that an attribute refers to: its offset, and the source that it is in. */
bool dwarf_reference(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die die,
                     Dwarf_Half number, uint64_t *offset, struct dwarf_source **in);

/* ---- line tables (dwarf-lines.c) ---- */

/* Reads the line table of a unit: its files, and of the main source its rows. */
dwarf_unit_visitor dwarf_read_lines;

/* The file of this number in the unit that an entry belongs to; DEBUG_NONE: unknown. */
uint32_t dwarf_file(struct dwarf_reader *reader, struct dwarf_source *source, Dwarf_Die die,
                    uint64_t number);

/* ---- address ranges (dwarf-ranges.c) ---- */

struct dwarf_ranges {
    VEC(struct elf_code) all; /* only begin and end */
};

/* The address ranges of an entry, in the order of the file. */
void dwarf_entry_ranges(struct dwarf_reader *reader, const struct dwarf_source *source,
                        Dwarf_Die die, uint64_t unit_base, struct dwarf_ranges *ranges);

/* ---- functions (dwarf-scopes.c) ---- */

/* Reads the functions of a unit, and what is inlined into them. */
dwarf_unit_visitor dwarf_read_scopes;

/* Completes the names of functions without linkage name by the namespaces and classes that they
 * are in, after the last unit. */
void dwarf_qualify_names(struct dwarf_reader *reader);

#endif
