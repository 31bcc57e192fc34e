#include "hpcstruct/dwarf/range-list.h"

#include "hpcstruct/dwarf/attribute-value.h"
#include "hpcstruct/elf/byte-reader.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>

void address_ranges_add(struct address_ranges *ranges, uint64_t begin, uint64_t end)
{
    if (begin < end)
        vec_push(&ranges->all, (struct address_range){begin, end});
}

static uint64_t read_indexed(const struct range_lists *from, struct byte_reader *c)
{
    uint64_t address = 0;
    if (!address_by_index(from->addresses, from->address_base, read_uleb128(c), &address))
        c->failed = true;
    return address;
}

bool range_list_read(const struct range_lists *from, uint64_t offset, struct address_ranges *ranges)
{
    struct byte_reader c = {.bytes = from->lists, .at = offset};
    uint64_t base = from->base;
    while (has_more_bytes(&c) && ranges->list_entries_left) {
        ranges->list_entries_left--;
        uint64_t begin = 0, end = 0;
        switch (read_uint(&c, 1)) {
        case DW_RLE_end_of_list: return true;
        case DW_RLE_base_addressx: base = read_indexed(from, &c); continue;
        case DW_RLE_base_address: base = read_uint(&c, 8); continue;
        case DW_RLE_startx_endx:
            begin = read_indexed(from, &c);
            end = read_indexed(from, &c);
            break;
        case DW_RLE_startx_length:
            begin = read_indexed(from, &c);
            end = begin + read_uleb128(&c);
            break;
        case DW_RLE_offset_pair:
            begin = base + read_uleb128(&c);
            end = base + read_uleb128(&c);
            break;
        case DW_RLE_start_end:
            begin = read_uint(&c, 8);
            end = read_uint(&c, 8);
            break;
        case DW_RLE_start_length:
            begin = read_uint(&c, 8);
            end = begin + read_uleb128(&c);
            break;
        default: return false;
        }
        if (!c.failed)
            address_ranges_add(ranges, begin, end);
    }
    return false;
}

bool range_list_read_indexed(const struct range_lists *from, uint64_t index,
                             struct address_ranges *ranges)
{
    /* Offsets in the table count from its start. */
    const unsigned offset_size = 4;
    if (index > from->lists.size / offset_size || from->table > from->lists.size)
        return false;
    struct byte_reader c = {.bytes = from->lists, .at = from->table + index * offset_size};
    uint64_t offset = from->table + read_uint(&c, offset_size);
    return !c.failed && offset < from->lists.size && range_list_read(from, offset, ranges);
}

bool old_range_list_read(const struct range_lists *from, uint64_t offset,
                         struct address_ranges *ranges)
{
    struct byte_reader c = {.bytes = from->lists, .at = offset};
    uint64_t base = from->base;
    while (has_more_bytes(&c) && ranges->list_entries_left) {
        ranges->list_entries_left--;
        uint64_t begin = read_uint(&c, 8), end = read_uint(&c, 8);
        if (c.failed)
            return false;
        if (begin == 0 && end == 0)
            return true;
        if (begin == UINT64_MAX)
            base = end;
        else
            address_ranges_add(ranges, base + begin, base + end);
    }
    return false;
}
