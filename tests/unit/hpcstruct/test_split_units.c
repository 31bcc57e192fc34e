/* The parts of split DWARF: heads of units, lists of address ranges,
 * and the index of a .dwp file; written byte by byte as the standard says (DWARF 5, 7.3.5, 7.5.1
 * and 2.17.3). */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/dwarf/range-list.h"
#include "hpcstruct/dwarf/unit-head.h"
#include "hpcstruct/dwarf/unit-index.h"

#include <libdwarf/dwarf.h>

/* ---- writing ---- */

struct bytes {
    uint8_t at[1024];
    size_t n;
};

static void number(struct bytes *b, unsigned size, uint64_t value)
{
    memcpy(b->at + b->n, &value, size);
    b->n += size;
}

static struct elf_bytes all_of(const struct bytes *b)
{
    return (struct elf_bytes){b->at, b->n};
}

/* ---- heads of units ---- */

enum { ID = 0x1234567, LOW_INDEX = 1, ADDRESS_BASE = 8, STRINGS_BASE = 8 };

/* Abbreviation 1 has an attribute of each size of value before those that we read, whose bases come
 * last. Abbreviation 2 is the one of the unit. */
static const uint8_t abbreviations[] = {
    1, DW_TAG_base_type, 0, DW_AT_name, DW_FORM_implicit_const, 0x81, 0, 0, 0,
    2, DW_TAG_skeleton_unit, 0,
    DW_AT_producer, DW_FORM_string,
    DW_AT_language, DW_FORM_data2,
    DW_AT_byte_size, DW_FORM_implicit_const, 0xff, 0,
    DW_AT_location, DW_FORM_exprloc,
    DW_AT_data_location, DW_FORM_data16,
    DW_AT_external, DW_FORM_flag_present,
    DW_AT_stmt_list, DW_FORM_sec_offset,
    DW_AT_dwo_name, DW_FORM_strx1,
    DW_AT_comp_dir, DW_FORM_line_strp,
    DW_AT_low_pc, DW_FORM_addrx,
    DW_AT_addr_base, DW_FORM_sec_offset,
    DW_AT_str_offsets_base, DW_FORM_sec_offset,
    0, 0, 0};

static void write_skeleton(struct bytes *b)
{
    size_t length_at = b->n;
    number(b, 4, 0);
    number(b, 2, 5);
    number(b, 1, DW_UT_skeleton);
    number(b, 1, 8);
    number(b, 4, 0);
    number(b, 8, ID);
    number(b, 1, 2); /* abbreviation */
    memcpy(b->at + b->n, "x", 2);
    b->n += 2;
    number(b, 2, 0x1d);
    number(b, 2, 0x0001); /* exprloc of one byte */
    number(b, 8, 0);
    number(b, 8, 0);
    number(b, 4, 0x77);
    number(b, 1, 1); /* index of the name */
    number(b, 4, 3); /* directory */
    number(b, 1, LOW_INDEX);
    number(b, 4, ADDRESS_BASE);
    number(b, 4, STRINGS_BASE);
    uint32_t length = (uint32_t)(b->n - length_at - 4);
    memcpy(b->at + length_at, &length, 4);
}

static const uint8_t string_offsets[] = {0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0};
static const uint64_t addresses[] = {0, 0x1000, 0x2000, 0x3000};

static struct unit_sections sections_with(const struct bytes *info)
{
    return (struct unit_sections){
        .info = all_of(info),
        .abbreviations = {abbreviations, sizeof abbreviations},
        .strings = {(const uint8_t *)"a\0b.dwo", 8},
        .line_strings = {(const uint8_t *)"no\0/dir", 8},
        .string_offsets = {string_offsets, sizeof string_offsets},
        .addresses = {(const uint8_t *)addresses, sizeof addresses},
    };
}

TEST(test_heads)
{
    struct bytes info = {0};
    write_skeleton(&info);
    size_t second = info.n;
    write_skeleton(&info);
    const struct unit_sections sections = sections_with(&info);
    struct unit_heads heads = {0};
    unit_heads_read(&sections, &heads);
    assert_int_equal(heads.all.n, 2);
    const struct unit_head *head = &heads.all.at[1];
    assert_int_equal(head->begin, second);
    assert_int_equal(head->end, info.n);
    assert_int_equal(head->entry, second + 20);
    assert_int_equal(head->version, 5);
    assert_true(head->has_id && !head->is_type);
    assert_int_equal(head->id, ID);
    assert_string_equal(head->dwo_name, "b.dwo");
    assert_string_equal(head->directory, "/dir");
    assert_int_equal(head->address_base, ADDRESS_BASE);
    assert_int_equal(head->low, 0x2000);
    vec_free(&heads.all);
}

/* No damage leads out of the sections (the sanitizers see that). */
TEST(test_damaged_heads)
{
    for (size_t damaged = 0; damaged < 80; damaged++) {
        struct bytes info = {0};
        struct unit_heads heads = {0};
        write_skeleton(&info);
        if (damaged < info.n)
            info.at[damaged] ^= 0xff;
        struct unit_sections sections = sections_with(&info);
        unit_heads_read(&sections, &heads);
        heads.all.n = 0;
        for (size_t size = 0; size < info.n; size++) {
            sections.info.size = size;
            unit_heads_read(&sections, &heads);
        }
        assert_int_equal(heads.all.n, 0);
        vec_free(&heads.all);
    }
}

/* ---- lists of address ranges ---- */

static void assert_ranges(const struct address_ranges *found, const struct address_range *expected,
                          size_t count)
{
    assert_int_equal(found->all.n, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found->all.at[i].begin, expected[i].begin);
        assert_int_equal(found->all.at[i].end, expected[i].end);
    }
}

static struct range_lists lists_of(const struct bytes *b)
{
    return (struct range_lists){
        .lists = all_of(b),
        .addresses = {(const uint8_t *)addresses, sizeof addresses},
        .address_base = ADDRESS_BASE,
        .table = 12,
        .base = 0x40000,
    };
}

/* One entry of each kind. */
static void write_list(struct bytes *b)
{
    static const uint8_t first[] = {DW_RLE_offset_pair,   0x10, 0x20, DW_RLE_startx_length, 0, 8,
                                    DW_RLE_startx_endx,   0,    1,    DW_RLE_base_addressx, 2,
                                    DW_RLE_offset_pair,   1,    5,    DW_RLE_offset_pair,   7, 7};
    memcpy(b->at + b->n, first, sizeof first);
    b->n += sizeof first;
    number(b, 1, DW_RLE_base_address);
    number(b, 8, 0x50000);
    number(b, 1, DW_RLE_offset_pair);
    number(b, 2, 0x0200);
    number(b, 1, DW_RLE_start_end);
    number(b, 8, 0x60000);
    number(b, 8, 0x60004);
    number(b, 1, DW_RLE_start_length);
    number(b, 8, 0x70000);
    number(b, 1, 9);
    number(b, 1, DW_RLE_end_of_list);
}

static const struct address_range listed[] = {
    {0x40010, 0x40020}, {0x1000, 0x1008},   {0x1000, 0x2000},   {0x3001, 0x3005},
    {0x50000, 0x50002}, {0x60000, 0x60004}, {0x70000, 0x70009},
};

TEST(test_range_lists)
{
    struct bytes b = {0};
    struct address_ranges ranges = {.list_entries_left = 1000};
    b.n = 12;             /* the header, which is not read */
    number(&b, 4, 0);     /* list 0: not used */
    number(&b, 4, 4 + 4); /* list 1, from the table on */
    write_list(&b);
    const struct range_lists from = lists_of(&b);
    assert_true(range_list_read_indexed(&from, 1, &ranges));
    assert_ranges(&ranges, listed, sizeof listed / sizeof *listed);
    ranges.all.n = 0;
    assert_true(range_list_read(&from, 20, &ranges));
    assert_ranges(&ranges, listed, sizeof listed / sizeof *listed);
    assert_false(range_list_read_indexed(&from, 1000, &ranges));
    assert_false(range_list_read_indexed(&from, UINT64_MAX, &ranges));
    assert_false(range_list_read(&from, UINT64_MAX, &ranges));
    ranges = (struct address_ranges){.all = ranges.all, .list_entries_left = 11};
    ranges.all.n = 0;
    assert_true(range_list_read(&from, 20, &ranges));
    assert_false(range_list_read(&from, 20, &ranges)); /* no entry is left */
    assert_ranges(&ranges, listed, sizeof listed / sizeof *listed);
    vec_free(&ranges.all);
}

TEST(test_damaged_range_lists)
{
    struct bytes b = {0};
    struct address_ranges ranges = {.list_entries_left = 1000};
    write_list(&b);
    struct range_lists from = lists_of(&b);
    for (from.lists.size = 0; from.lists.size < b.n; from.lists.size++)
        assert_false(range_list_read(&from, 0, &ranges));
    from.lists.size = b.n;
    from.addresses.size = 16; /* index 1 lies behind the end */
    assert_false(range_list_read(&from, 0, &ranges));
    b.at[0] = 0x55; /* no kind of entry */
    assert_false(range_list_read(&from, 0, &ranges));
    vec_free(&ranges.all);
}

TEST(test_old_range_lists)
{
    static const uint64_t words[] = {0x99,       0x99, 0x10, 0x20, 0x30, 0x30,
                                     UINT64_MAX, 0x50, 1,    4,    0,    0};
    static const struct address_range expected[] = {{0x40010, 0x40020}, {0x51, 0x54}};
    struct bytes b = {0};
    struct address_ranges ranges = {.list_entries_left = 1000};
    memcpy(b.at, words, sizeof words);
    b.n = sizeof words;
    struct range_lists from = lists_of(&b);
    assert_true(old_range_list_read(&from, 16, &ranges));
    assert_ranges(&ranges, expected, 2);
    from.lists.size -= 8;
    assert_false(old_range_list_read(&from, 16, &ranges));
    assert_false(old_range_list_read(&from, UINT64_MAX, &ranges));
    vec_free(&ranges.all);
}

/* ---- indices of .dwp files ---- */

/* Two units of four slots whose ids meet in one slot. */
static const uint64_t ids[] = {0x100000002, 0x500000002};

static void write_index(struct bytes *b, unsigned version)
{
    static const uint8_t columns[] = {1, 3, 6, 8};
    uint64_t slots[4] = {0};
    uint32_t rows[4] = {0};
    for (unsigned unit = 0; unit < 2; unit++) {
        uint64_t slot = ids[unit] & 3, step = (ids[unit] >> 32 & 3) | 1;
        while (rows[slot])
            slot = (slot + step) & 3;
        slots[slot] = ids[unit];
        rows[slot] = unit + 1;
    }
    number(b, 4, version);
    number(b, 4, sizeof columns);
    number(b, 4, 2);
    number(b, 4, 4);
    memcpy(b->at + b->n, slots, sizeof slots);
    b->n += sizeof slots;
    memcpy(b->at + b->n, rows, sizeof rows);
    b->n += sizeof rows;
    for (size_t i = 0; i < sizeof columns; i++)
        number(b, 4, columns[i]);
    for (unsigned cell = 0; cell < 16; cell++) /* offsets, then sizes */
        number(b, 4, 100 + cell);
}

TEST(test_index)
{
    for (unsigned version = 2; version <= 5; version += 3) {
        struct bytes b = {0};
        struct unit_parts parts;
        write_index(&b, version);
        for (unsigned unit = 0; unit < 2; unit++) {
            assert_true(unit_index_find(all_of(&b), ids[unit], &parts));
            assert_int_equal(parts.info.offset, 100 + 4 * unit);
            assert_int_equal(parts.info.size, 108 + 4 * unit);
            assert_int_equal(parts.abbreviations.offset, 101 + 4 * unit);
            assert_int_equal(parts.string_offsets.size, 110 + 4 * unit);
            assert_int_equal(parts.range_lists.offset, 103 + 4 * unit);
        }
        assert_false(unit_index_find(all_of(&b), 0x900000002, &parts));
    }
}

TEST(test_damaged_index)
{
    struct bytes b = {0};
    struct unit_parts parts;
    write_index(&b, 5);
    for (size_t size = 0; size < b.n; size++)
        assert_false(unit_index_find((struct elf_bytes){b.at, size}, ids[1], &parts));
    for (size_t at = 0; at < 64; at++) {
        b.at[at] ^= 0xff;
        unit_index_find(all_of(&b), ids[1], &parts);
        b.at[at] ^= 0xff;
    }
    assert_true(unit_index_find(all_of(&b), ids[1], &parts));
    b.at[0] = 4; /* version */
    assert_false(unit_index_find(all_of(&b), ids[1], &parts));
}
