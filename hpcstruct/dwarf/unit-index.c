#include "hpcstruct/dwarf/unit-index.h"

#include "hpcstruct/elf/byte-reader.h"

/* Layout, all numbers of 4 bytes but the ids:
 *
 *   version, number of columns, number of units, number of slots
 *   ids             8 bytes per slot: a hash table; 0: free
 *   rows            per slot: row of the unit, from 1
 *   sections        per column: which section it is about
 *   offsets         per unit and column
 *   sizes           per unit and column */
struct layout {
    struct elf_bytes index;
    uint64_t columns, units, slots;
    uint64_t ids, rows, sections, offsets, sizes; /* where these begin */
};

enum { HEADER_SIZE = 16, ID_SIZE = 8, CELL_SIZE = 4 };

/* Numbers of the sections. Those that we need are the same in versions 2 and 5, but for 8, which is
 * .debug_macro in version 2. */
enum { INFO = 1, ABBREVIATIONS = 3, STRING_OFFSETS = 6, RANGE_LISTS = 8 };

static uint64_t cell(const struct layout *layout, uint64_t table, uint64_t number)
{
    struct byte_reader c = {.bytes = layout->index, .at = table + number * CELL_SIZE};
    return read_uint(&c, CELL_SIZE);
}

static bool read_layout(struct layout *layout, struct elf_bytes index)
{
    struct byte_reader c = {.bytes = index};
    uint64_t version = read_uint(&c, 4) & 0xffff; /* in version 5 two bytes, and padding */
    *layout = (struct layout){.index = index};
    layout->columns = read_uint(&c, 4);
    layout->units = read_uint(&c, 4);
    layout->slots = read_uint(&c, 4);
    layout->ids = HEADER_SIZE;
    /* No sum overflows: all counts have 32 bits, and the product is checked by division. */
    layout->rows = layout->ids + layout->slots * ID_SIZE;
    layout->sections = layout->rows + layout->slots * CELL_SIZE;
    layout->offsets = layout->sections + layout->columns * CELL_SIZE;
    if (c.failed || (version != 2 && version != 5) || layout->columns == 0 ||
        layout->units > index.size / layout->columns)
        return false;
    layout->sizes = layout->offsets + layout->units * layout->columns * CELL_SIZE;
    return layout->sizes + layout->units * layout->columns * CELL_SIZE <= index.size;
}

/* The row of a unit, from 1; 0: none. */
static uint64_t find_row(const struct layout *layout, uint64_t id)
{
    uint64_t mask = layout->slots - 1, slot = id & mask, step = (id >> 32 & mask) | 1;
    if (layout->slots == 0 || (layout->slots & mask) != 0)
        return 0;
    for (uint64_t i = 0; i < layout->slots; i++, slot = (slot + step) & mask) {
        struct byte_reader c = {.bytes = layout->index, .at = layout->ids + slot * ID_SIZE};
        uint64_t found = read_uint(&c, ID_SIZE), row = cell(layout, layout->rows, slot);
        if (row == 0)
            return 0;
        if (found == id)
            return row <= layout->units ? row : 0;
    }
    return 0;
}

bool unit_index_find(struct elf_bytes index, uint64_t id, struct unit_parts *parts)
{
    struct layout layout;
    *parts = (struct unit_parts){0};
    uint64_t row = read_layout(&layout, index) ? find_row(&layout, id) : 0;
    for (uint64_t i = 0; row && i < layout.columns; i++) {
        uint64_t number = (row - 1) * layout.columns + i;
        const struct section_part part = {cell(&layout, layout.offsets, number),
                                          cell(&layout, layout.sizes, number)};
        switch (cell(&layout, layout.sections, i)) {
        case INFO: parts->info = part; break;
        case ABBREVIATIONS: parts->abbreviations = part; break;
        case STRING_OFFSETS: parts->string_offsets = part; break;
        case RANGE_LISTS: parts->range_lists = part; break;
        }
    }
    return row != 0;
}
