#include "hpcstruct/dwarf/wanted-units.h"

#include "hpcstruct/dwarf/dwarf-entry.h"

#include <stdlib.h>

static bool overlap(const struct address_ranges *ranges, const struct code_ranges *wanted)
{
    for (size_t i = 0; i < ranges->all.n; i++)
        if (code_ranges_overlap(wanted, ranges->all.at[i].begin, ranges->all.at[i].end))
            return true;
    return false;
}

static bool is_wanted(const struct dwarf_source *source, const struct dwarf_unit *unit,
                      const struct code_ranges *wanted)
{
    struct entry_reader reader = entry_reader_at(source, unit, unit->head.entry);
    struct address_ranges ranges = {.list_entries_left = unit->head.end - unit->head.begin};
    struct dwarf_entry first;
    if (!entry_begin(&reader, unit, &first) || !first.abbreviation)
        return true;
    entry_read(&reader, unit, &first);
    bool is_known = !reader.bytes.failed && entry_ranges(source, unit, &first, &ranges);
    bool found = !is_known || ranges.all.n == 0 || overlap(&ranges, wanted);
    vec_free(&ranges.all);
    return found;
}

uint8_t *wanted_units_find(const struct dwarf_source *source, const struct code_ranges *wanted)
{
    uint8_t *parts = mem_alloc(source->units.n * sizeof *parts);
    for (size_t i = 0; i < source->units.n; i++)
        parts[i] = !wanted || is_wanted(source, &source->units.at[i], wanted) ? UNIT_WHOLE
                                                                              : UNIT_UNREAD;
    return parts;
}
