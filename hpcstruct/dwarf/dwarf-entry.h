/* Debugging information entries (DIEs), read one after the other: the attributes of functions and of
 * what can contain functions. */
#ifndef HPCSTRUCT_DWARF_ENTRY_H
#define HPCSTRUCT_DWARF_ENTRY_H

#include "hpcstruct/dwarf/dwarf-source.h"

enum entry_attribute {
    ENTRY_NAME,
    ENTRY_LINKAGE_NAME,
    ENTRY_DECL_FILE,
    ENTRY_DECL_LINE,
    ENTRY_LOW_PC,
    ENTRY_HIGH_PC,
    ENTRY_RANGES,
    ENTRY_ABSTRACT_ORIGIN,
    ENTRY_SPECIFICATION,
    ENTRY_CALL_FILE,
    ENTRY_CALL_LINE,
    ENTRY_ATTRIBUTES
};

struct dwarf_entry {
    uint64_t offset;                         /* in .debug_info */
    const struct abbreviation *abbreviation; /* NULL: the end of a list of siblings */
    uint32_t present;                        /* a bit for each attribute in `values` */
    struct attribute_value values[ENTRY_ATTRIBUTES];
};

/* A reader of the entries of a unit, at an offset. */
struct entry_reader entry_reader_at(const struct dwarf_source *source,
                                    const struct dwarf_unit *unit, uint64_t offset);

/* Begins the entry at the reader. False at the end of the unit, or if the entry is damaged
 * (r->bytes.failed). */
bool entry_begin(struct entry_reader *r, const struct dwarf_unit *unit, struct dwarf_entry *entry);

/* Then either reads the attributes of the entry, or skips it with its children. */
void entry_read(struct entry_reader *r, const struct dwarf_unit *unit, struct dwarf_entry *entry);
void entry_skip(struct entry_reader *r, const struct dwarf_unit *unit,
                const struct dwarf_entry *entry);

/* Skips the rest of a list of siblings. */
void entry_skip_siblings(struct entry_reader *r, const struct dwarf_unit *unit);

/* ---- attributes of an entry that was read: false, or NULL, if it lacks them ---- */

bool entry_number(const struct dwarf_entry *entry, enum entry_attribute attribute,
                  uint64_t *number);

const char *entry_text(const struct dwarf_source *source, const struct dwarf_unit *unit,
                       const struct dwarf_entry *entry, enum entry_attribute attribute);

/* The entry that an attribute refers to: its offset, and the source that holds it. */
bool entry_reference(const struct dwarf_source *source, const struct dwarf_unit *unit,
                     const struct dwarf_entry *entry, enum entry_attribute attribute,
                     uint64_t *offset, const struct dwarf_source **in);

/* Adds the address ranges of an entry, in the order of the file. False if their list is damaged, or
 * longer than ranges->list_entries_left. */
bool entry_ranges(const struct dwarf_source *source, const struct dwarf_unit *unit,
                  const struct dwarf_entry *entry, struct address_ranges *ranges);

#endif
