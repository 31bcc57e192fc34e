/* Frame description entries and call-site tables of exceptions, written by hand; damaged ones. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/elf/eh-frame.h"

#include <elf.h>

enum { CODE_AT = 0x1000, CODE_SIZE = 0x1000, FRAMES_AT = 0x3000, TABLE_AT = 0x4000 };

struct fixture {
    struct elf_image image;
    uint8_t code[CODE_SIZE], frames[256], table[64];
    size_t frames_size, table_size;
};

static void add_section(struct fixture *f, const char *name, uint64_t address, const uint8_t *at,
                        size_t size)
{
    const struct elf_section section = {.name = name,
                                        .type = SHT_PROGBITS,
                                        .flags = SHF_ALLOC,
                                        .address = address,
                                        .size = size,
                                        .stored = {at, size}};
    vec_push(&f->image.sections, section);
}

static struct fixture *new_fixture(void)
{
    struct fixture *f = mem_alloc(sizeof *f);
    const struct elf_code code = {CODE_AT, CODE_AT + CODE_SIZE, f->code};
    vec_push(&f->image.code, code);
    return f;
}

static void free_fixture(struct fixture *f)
{
    vec_free(&f->image.code);
    vec_free(&f->image.sections);
    free(f);
}

#define put(f, ...)                                                                                \
    put_bytes(f, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_bytes(struct fixture *f, const uint8_t *bytes, size_t size)
{
    memcpy(f->frames + f->frames_size, bytes, size);
    f->frames_size += size;
}

static void put_u32(struct fixture *f, uint32_t value)
{
    put_bytes(f, (const uint8_t *)&value, sizeof value);
}

/* ---- entries ---- */

/* A CIE as gcc writes it for C++: pointers and data are 32 bits, relative to their own address. */
static void put_cie(struct fixture *f)
{
    put_u32(f, 24); /* length */
    put_u32(f, 0);
    put(f, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7); /* lengths: 7 bytes of augmentation */
    put(f, 0x03, 0, 0, 0, 0);                         /* personality: udata4 */
    put(f, 0x1b, 0x1b);                               /* data, pointers: pcrel | sdata4 */
    put(f, 0x0c, 7, 8);                               /* def_cfa */
}

/* Its FDE for `size` bytes at `begin`; the first instruction is `opcode`. */
static void put_fde(struct fixture *f, uint64_t begin, uint32_t size, uint32_t data, uint8_t opcode)
{
    put_u32(f, 20); /* length */
    put_u32(f, (uint32_t)f->frames_size);
    put_u32(f, (uint32_t)(begin - (FRAMES_AT + f->frames_size)));
    put_u32(f, size);
    put(f, 4); /* bytes of augmentation */
    put_u32(f, data ? data - (uint32_t)(FRAMES_AT + f->frames_size) : 0);
    put(f, opcode, 16, 0);
}

static const uint8_t advance_loc = 0x41, def_cfa_offset = 0x0e, remember_state = 0x0a;

static void put_entries(struct fixture *f)
{
    put_cie(f);
    put_fde(f, 0x1400, 0x20, 0, def_cfa_offset);
    put_fde(f, 0x1100, 0x40, TABLE_AT, advance_loc);
    put_fde(f, 0x1ff0, 0x40, 0, remember_state); /* beyond the end of the code */
    put_fde(f, 0x5000, 0x40, 0, advance_loc);    /* outside the code */
    put_fde(f, 0x1800, 0, 0, advance_loc);       /* empty */
    put_u32(f, 0);
    put_fde(f, 0x1900, 0x10, 0, advance_loc); /* after the terminator */
    add_section(f, ".eh_frame", FRAMES_AT, f->frames, f->frames_size);
}

TEST(test_entries)
{
    struct fixture *f = new_fixture();
    struct frame_entries found = {0};
    put_entries(f);
    frame_entries_read(&found, &f->image);
    static const struct frame_entry expected[] = {
        {0x1100, 0x1140, TABLE_AT, false},
        {0x1400, 0x1420, 0, true},
        {0x1ff0, 0x2000, 0, true},
    };
    assert_int_equal(found.entries.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(found.entries.at[i].begin, expected[i].begin);
        assert_int_equal(found.entries.at[i].end, expected[i].end);
        assert_int_equal(found.entries.at[i].exceptions, expected[i].exceptions);
        assert_int_equal(found.entries.at[i].begins_mid_function, expected[i].begins_mid_function);
    }
    frame_entries_free(&found);
    free_fixture(f);
}

/* ---- landing pads ---- */

TEST(test_landing_pads)
{
    static const uint8_t table[] = {
        0xff, 0x9b, 20,      /* pads are relative to the function; type table after 20 bytes */
        0x01, 17,            /* uleb128; 17 bytes of call sites */
        0x00, 0x08, 0x00, 0, /* no landing pad */
        0x08, 0x04, 0x20, 1, /* 0x1108 to 0x110c: 0x1120 */
        0x0c, 0x04, 0x80, 0x5e, 0, /* 0x1100 + 0x2f00: outside the code */
        0x10, 0x10, 0x28, 3,       /* 0x1110 to 0x1120: 0x1128 */
        0x20, 0x04, 0x30, 0,       /* after the end of the table */
    };
    struct fixture *f = new_fixture();
    struct landing_pads found = {0};
    add_section(f, ".gcc_except_table", TABLE_AT, table, sizeof table);
    landing_pads_read(&found, &f->image, &(struct frame_entry){0x1100, 0x1140, TABLE_AT, false});
    assert_int_equal(found.all.n, 2);
    assert_int_equal(found.all.at[0].begin, 0x1108);
    assert_int_equal(found.all.at[0].end, 0x110c);
    assert_int_equal(found.all.at[0].address, 0x1120);
    assert_int_equal(found.all.at[1].end, 0x1120);
    assert_int_equal(found.all.at[1].address, 0x1128);
    landing_pads_read(&found, &f->image, &(struct frame_entry){0x1100, 0x1140, 0, false});
    landing_pads_read(&found, &f->image, &(struct frame_entry){0x1100, 0x1140, 0x6000, false});
    assert_int_equal(found.all.n, 2);
    vec_free(&found.all);
    free_fixture(f);
}

/* ---- damage ---- */

/* Whichever byte is changed, the reader ends and all entries lie in the code. */
TEST(test_damage)
{
    struct fixture *f = new_fixture();
    put_entries(f);
    add_section(f, ".gcc_except_table", TABLE_AT, f->table, sizeof f->table);
    for (size_t i = 0; i < f->frames_size; i++) {
        uint8_t good = f->frames[i];
        for (unsigned change = 1; change < 256; change++) {
            f->frames[i] = (uint8_t)(good + change);
            f->table[i % sizeof f->table] = (uint8_t)change;
            struct frame_entries found = {0};
            struct landing_pads pads = {0};
            frame_entries_read(&found, &f->image);
            for (size_t k = 0; k < found.entries.n; k++) {
                const struct frame_entry *entry = &found.entries.at[k];
                assert_true(entry->begin >= CODE_AT && entry->begin < entry->end &&
                            entry->end <= CODE_AT + CODE_SIZE);
                assert_true(k == 0 || entry[-1].begin <= entry->begin);
                landing_pads_read(&pads, &f->image, entry);
            }
            for (size_t k = 0; k < pads.all.n; k++)
                assert_non_null(elf_code_at(&f->image, pads.all.at[k].address));
            vec_free(&pads.all);
            frame_entries_free(&found);
        }
        f->frames[i] = good;
    }
    free_fixture(f);
}
