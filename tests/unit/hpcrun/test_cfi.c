/* Unwind tables made by hand: every call frame instruction, every encoding of a code address, every
 * form of a CIE. Bytes and meanings after the DWARF 5 standard, section 6.4 and figure 40, and the
 * Linux Standard Base's chapter on .eh_frame. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/unwind/cfi.h"

/* A section under construction. Functions are behind its end, at addresses that nothing reads. */
struct section {
    uint8_t bytes[4096];
    size_t size;
};

#define HEADER 1024 /* room for the search table at the front */
#define PCREL4 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4, what compilers write */

/* Offset of the first function from the section's start. */
static int64_t code = 8192;

static struct section section;
static struct cfi_scratch scratch;
static struct cfi_index table_index;

static uint64_t address(int64_t offset)
{
    return (uint64_t)(uintptr_t)section.bytes + (uint64_t)offset;
}

static void put(uint64_t value, unsigned size)
{
    assert_true(section.size + size <= sizeof section.bytes);
    memcpy(section.bytes + section.size, &value, size);
    section.size += size;
}

static void put_bytes(const void *bytes, size_t size)
{
    assert_true(section.size + size <= sizeof section.bytes);
    memcpy(section.bytes + section.size, bytes, size);
    section.size += size;
}

/* How a CIE differs from what gcc writes. */
struct form {
    uint8_t version;          /* 0: 1 */
    const char *augmentation; /* NULL: "zR" */
    uint8_t data[16]; /* of the augmentation, with its size; all 0: one byte, the encoding */
    size_t data_size;
    uint8_t encoding; /* of code addresses; 0 where `augmentation` is given; else PCREL4 */
    uint8_t code_align;
    bool long_length; /* the 64-bit form of a length */
};

static size_t begin_entry(const struct form *form)
{
    if (form->long_length)
        put(0xffffffff, 4);
    put(0, form->long_length ? 8 : 4);
    return section.size;
}

static void end_entry(const struct form *form, size_t begin)
{
    uint64_t length = section.size - begin;
    unsigned size = form->long_length ? 8 : 4;
    memcpy(section.bytes + begin - size, &length, size);
}

/* Returns the CIE's offset. Its instructions: CFA = rsp + 8, return address at CFA - 8. */
static size_t put_cie(const struct form *form)
{
    static const uint8_t instructions[] = {0x0c, 7, 8, 0x80 | 16, 1};
    uint8_t version = form->version ? form->version : 1;
    const char *augmentation = form->augmentation ? form->augmentation : "zR";
    size_t start = section.size, begin = begin_entry(form);
    put(0, 4);
    put(version, 1);
    put_bytes(augmentation, strlen(augmentation) + 1);
    if (version == 4)
        put(0x0008, 2); /* size of an address, of a segment selector */
    put(form->code_align ? form->code_align : 1, 1);
    put(0x78, 1); /* data alignment -8, SLEB128 */
    put(16, 1);   /* the return address's column; one byte also as ULEB128 */
    if (form->augmentation) {
        put_bytes(form->data, form->data_size);
    } else {
        put(1, 1);
        put(form->encoding ? form->encoding : PCREL4, 1);
    }
    put_bytes(instructions, sizeof instructions);
    end_entry(form, begin);
    return start;
}

static void put_address(uint8_t encoding, uint64_t value)
{
    static const unsigned sizes[] = {8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8};
    if ((encoding & 0x70) == 0x10)
        value -= address((int64_t)section.size);
    put(value, sizes[encoding & 0x0f]);
}

/* Returns the FDE's offset. */
static size_t put_fde(const struct form *form, uint8_t encoding, size_t cie, uint64_t function,
                      uint64_t range, const uint8_t *instructions, size_t size)
{
    size_t start = section.size, begin = begin_entry(form);
    put(section.size - cie, 4);
    put_address(encoding, function);
    put_address(encoding & 0x0f, range);
    if (!form->augmentation || form->augmentation[0] == 'z')
        put(0, 1);
    put_bytes(instructions, size);
    end_entry(form, begin);
    return start;
}

/* The search table at the front of the section: keys and FDEs relative to it. */
static void put_table(const uint64_t *functions, const size_t *fdes, uint32_t count)
{
    uint8_t *at = section.bytes;
    static const uint8_t head[] = {1, PCREL4, 0x03, 0x3b};
    memcpy(at, head, 4);
    memset(at + 4, 0, 4);
    memcpy(at + 8, &count, 4);
    for (uint32_t i = 0; i < count; i++) {
        int32_t key = (int32_t)(functions[i] - address(0)), fde = (int32_t)fdes[i];
        memcpy(at + 12 + 8 * i, &key, 4);
        memcpy(at + 16 + 8 * i, &fde, 4);
    }
    memset(&scratch, 0, sizeof scratch);
    assert_true(cfi_open(&table_index, section.bytes));
}

/* A section with one function of 0x1000 bytes. */
static void make(const struct form *form, uint8_t encoding, const uint8_t *instructions,
                 size_t size)
{
    uint64_t function = address(code);
    memset(&section, 0, sizeof section);
    section.size = HEADER;
    size_t cie = put_cie(form);
    size_t fde = put_fde(form, encoding, cie, function, 0x1000, instructions, size);
    put_table(&function, &fde, 1);
}

static const struct cfi_row *row_at(int64_t offset)
{
    return cfi_row_at(address(code + offset), &table_index, &scratch);
}

static void assert_rule(const struct cfi_row *row, unsigned reg, enum reg_rule_kind kind,
                        int64_t offset)
{
    assert_non_null(row);
    assert_int_equal(row->reg[reg].kind, kind);
    assert_int_equal(row->reg[reg].offset, offset);
}

static void assert_cfa(const struct cfi_row *row, unsigned reg, int64_t offset)
{
    assert_non_null(row);
    assert_null(row->cfa_expr);
    assert_int_equal(row->cfa_reg, reg);
    assert_int_equal(row->cfa_offset, offset);
}

static void assert_range(const struct cfi_row *row, uint64_t start, uint64_t end)
{
    assert_non_null(row);
    assert_int_equal(row->start - address(code), start);
    assert_int_equal(row->end - address(code), end);
    assert_int_equal(row->function, address(code));
}

#define MAKE(...)                                                                                  \
    do {                                                                                           \
        static const uint8_t program[] = {__VA_ARGS__};                                            \
        make(&(struct form){0}, PCREL4, program, sizeof program);                                  \
    } while (0)

/* ---- instructions ---- */

TEST(the_cie_gives_the_first_row)
{
    MAKE(0x00); /* DW_CFA_nop */
    assert_cfa(row_at(0), DWARF_RSP, 8);
    assert_rule(row_at(0), DWARF_RIP, REG_AT_CFA, -8);
    assert_rule(row_at(0), DWARF_RBP, REG_SAME, 0);
    assert_range(row_at(0xfff), 0, 0x1000);
    assert_null(row_at(0x1000));
    assert_null(row_at(-1));
    assert_false(row_at(0)->signal_frame);
}

/* Distances are multiples of the CIE's code alignment, each scaled once. */
TEST(locations_advance)
{
    static const uint8_t program[] = {
        0x40 | 3, 0x0e, 16,                      /* advance_loc 3; def_cfa_offset 16 */
        0x02,     100,  0x0e, 24,                /* advance_loc1 100 */
        0x03,     0x2c, 0x01, 0x0e, 32,          /* advance_loc2 300 */
        0x04,     0xf4, 0x01, 0,    0,  0x0e, 40 /* advance_loc4 500 */
    };
    for (unsigned align = 1; align <= 4; align += 3) {
        make(&(struct form){.code_align = (uint8_t)align}, PCREL4, program, sizeof program);
        const int64_t at[] = {0, 3 * align, 103 * align, 403 * align, 903 * align, 0x1000};
        for (unsigned i = 0; i < 5; i++) {
            assert_cfa(row_at(at[i]), DWARF_RSP, 8 + 8 * i);
            assert_cfa(row_at(at[i + 1] - 1), DWARF_RSP, 8 + 8 * i);
            assert_range(row_at(at[i]), at[i], at[i + 1]);
        }
    }
}

TEST(set_loc_takes_an_address)
{
    uint8_t program[11] = {0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0x0e, 48};
    const struct form form = {.encoding = 0x04 /* udata8 */};
    uint64_t location = address(code) + 0x123;
    memcpy(program + 1, &location, 8);
    make(&form, 0x04, program, sizeof program);
    assert_cfa(row_at(0x122), DWARF_RSP, 8);
    assert_cfa(row_at(0x123), DWARF_RSP, 48);
}

TEST(the_cfa_is_defined)
{
    MAKE(0x0c, 6, 0x90, 0x01); /* def_cfa rbp, 144 */
    assert_cfa(row_at(0), DWARF_RBP, 144);
    MAKE(0x12, 6, 0x7e); /* def_cfa_sf rbp, -2 * -8 */
    assert_cfa(row_at(0), DWARF_RBP, 16);
    MAKE(0x0d, 10); /* def_cfa_register r10: the offset stays */
    assert_cfa(row_at(0), 10, 8);
    MAKE(0x0e, 0x80, 0x02); /* def_cfa_offset 256 */
    assert_cfa(row_at(0), DWARF_RSP, 256);
    MAKE(0x13, 0x7b); /* def_cfa_offset_sf -5 * -8 */
    assert_cfa(row_at(0), DWARF_RSP, 40);
    MAKE(0x0f, 2, 0x77, 8); /* def_cfa_expression, 2 bytes: breg7 8 */
    assert_non_null(row_at(0));
    assert_memory_equal(row_at(0)->cfa_expr, "\x02\x77\x08", 3);
    MAKE(0x0f, 2, 0x77, 8, 0x0c, 7, 16); /* ends with a plain one again */
    assert_cfa(row_at(0), DWARF_RSP, 16);
    MAKE(0x0c, 17, 8); /* a register that can't define a CFA */
    assert_null(row_at(0));
}

TEST(registers_have_rules)
{
    MAKE(0x80 | 3, 2); /* offset rbx, 2 * -8 */
    assert_rule(row_at(0), DWARF_RBX, REG_AT_CFA, -16);
    MAKE(0x05, 12, 0x81, 0x01); /* offset_extended r12, 129 * -8 */
    assert_rule(row_at(0), 12, REG_AT_CFA, -1032);
    MAKE(0x11, 12, 0x7d); /* offset_extended_sf r12, -3 * -8 */
    assert_rule(row_at(0), 12, REG_AT_CFA, 24);
    MAKE(0x2f, 12, 3); /* GNU_negative_offset_extended r12, -3 * -8 */
    assert_rule(row_at(0), 12, REG_AT_CFA, 24);
    MAKE(0x14, 13, 4); /* val_offset r13, 4 * -8 */
    assert_rule(row_at(0), 13, REG_CFA_PLUS, -32);
    MAKE(0x15, 13, 0x7c); /* val_offset_sf r13, -4 * -8 */
    assert_rule(row_at(0), 13, REG_CFA_PLUS, 32);
    MAKE(0x09, 6, 14); /* register rbp is in r14 */
    assert_rule(row_at(0), DWARF_RBP, REG_IN_REG, 14);
    MAKE(0x07, 16); /* undefined: the outermost frame */
    assert_int_equal(row_at(0)->reg[DWARF_RIP].kind, REG_UNDEFINED);
    MAKE(0x80 | 6, 2, 0x08, 6); /* same_value rbp */
    assert_rule(row_at(0), DWARF_RBP, REG_SAME, 0);
    MAKE(0x10, 3, 2, 0x77, 8); /* expression rbx: at breg7 8 */
    assert_int_equal(row_at(0)->reg[DWARF_RBX].kind, REG_AT_EXPR);
    assert_memory_equal(row_at(0)->reg[DWARF_RBX].expr, "\x02\x77\x08", 3);
    MAKE(0x16, 3, 2, 0x77, 8); /* val_expression rbx: is breg7 8 */
    assert_int_equal(row_at(0)->reg[DWARF_RBX].kind, REG_IS_EXPR);
    assert_memory_equal(row_at(0)->reg[DWARF_RBX].expr, "\x02\x77\x08", 3);
    MAKE(0x05, 40, 1, 0x80 | 3, 2); /* vector registers are ignored, what follows is not */
    assert_rule(row_at(0), DWARF_RBX, REG_AT_CFA, -16);
    MAKE(0x2e, 0x80, 0x01, 0x80 | 3, 2); /* GNU_args_size 128 */
    assert_rule(row_at(0), DWARF_RBX, REG_AT_CFA, -16);
    assert_cfa(row_at(0), DWARF_RSP, 8);
}

/* Restores to the CIE's rule, not to "same". */
TEST(registers_are_restored)
{
    MAKE(0x80 | 16, 5, 0xc0 | 16); /* offset; restore */
    assert_rule(row_at(0), DWARF_RIP, REG_AT_CFA, -8);
    MAKE(0x80 | 3, 5, 0x06, 3); /* offset; restore_extended */
    assert_rule(row_at(0), DWARF_RBX, REG_SAME, 0);
}

TEST(states_are_remembered)
{
    MAKE(0x0e, 16, 0x80 | 6, 2,      /* push rbp */
         0x0a,                       /* remember_state */
         0x41, 0x0c, 7, 8, 0xc0 | 6, /* an epilogue in the middle */
         0x41, 0x0b);                /* restore_state */
    assert_cfa(row_at(0), DWARF_RSP, 16);
    assert_cfa(row_at(1), DWARF_RSP, 8);
    assert_rule(row_at(1), DWARF_RBP, REG_SAME, 0);
    assert_cfa(row_at(2), DWARF_RSP, 16);
    assert_rule(row_at(2), DWARF_RBP, REG_AT_CFA, -16);
    MAKE(0x0a, 0x0e, 16, 0x0a, 0x0e, 24, 0x0b, 0x0b);
    assert_cfa(row_at(0), DWARF_RSP, 8);
    MAKE(0x0a, 0x0a, 0x0a, 0x0a, 0x0b, 0x0b, 0x0b, 0x0b);
    assert_non_null(row_at(0));
    MAKE(0x0a, 0x0a, 0x0a, 0x0a, 0x0a); /* deeper than there is room for */
    assert_null(row_at(0));
    MAKE(0x0b); /* nothing was remembered */
    assert_null(row_at(0));
}

/* Instructions after the requested row are not run. */
TEST(nonsense_behind_a_row_does_not_matter)
{
    MAKE(0x44, 0x0e, 16, 0x44, 0x3f /* no such instruction */);
    assert_cfa(row_at(3), DWARF_RSP, 8);
    assert_cfa(row_at(7), DWARF_RSP, 16);
    assert_null(row_at(8));
}

TEST(instructions_do_not_run_past_their_end)
{
    MAKE(0x0e); /* without its operand */
    assert_null(row_at(0));
    MAKE(0x0e, 0x80); /* with half of it */
    assert_null(row_at(0));
    MAKE(0x04, 1, 0); /* advance_loc4 with two bytes */
    assert_null(row_at(0));
    MAKE(0x0f, 100, 0x77); /* an expression longer than the FDE */
    assert_null(row_at(0));
}

/* ---- CIEs and FDEs ---- */

TEST(code_addresses_have_encodings)
{
    static const uint8_t encodings[] = {0x04, 0x0c, 0x1b, 0x13, 0x14, 0x1c};
    static const uint8_t program[] = {0x44, 0x0e, 16};
    for (size_t i = 0; i < sizeof encodings; i++) {
        const struct form form = {.encoding = encodings[i]};
        make(&form, encodings[i], program, sizeof program);
        assert_cfa(row_at(4), DWARF_RSP, 16);
        assert_range(row_at(4), 4, 0x1000);
    }
    code = -8192; /* before the section: relative addresses are negative */
    make(&(struct form){0}, PCREL4, program, sizeof program);
    assert_cfa(row_at(4), DWARF_RSP, 16);
    code = 8192;
    make(&(struct form){.encoding = 0x09 /* sleb128: no code address */}, PCREL4, program,
         sizeof program);
    assert_null(row_at(4));
}

/* 16 bits reach 32 KiB from the FDE; signed ones also backwards. */
TEST(short_code_addresses)
{
    static const uint8_t program[] = {0x44, 0x0e, 16};
    make(&(struct form){.encoding = 0x1a /* pcrel | sdata2 */}, 0x1a, program, sizeof program);
    assert_cfa(row_at(4), DWARF_RSP, 16);
    code = -8192;
    make(&(struct form){.encoding = 0x1a}, 0x1a, program, sizeof program);
    assert_cfa(row_at(4), DWARF_RSP, 16);
    code = 8192;
    make(&(struct form){.encoding = 0x12 /* pcrel | udata2 */}, 0x12, program, sizeof program);
    assert_cfa(row_at(4), DWARF_RSP, 16);
}

TEST(cies_have_forms)
{
    static const uint8_t program[] = {0x44, 0x0e, 16};
    static const struct form forms[] = {
        {.version = 3},
        {.version = 4},
        {.long_length = true},
        /* A personality routine by pcrel | sdata4 | indirect, a language's data by pcrel | sdata4.
         */
        {.augmentation = "zPLR", .data = {7, 0x9b, 1, 2, 3, 4, 0x00, 0x1b}, .data_size = 8},
        {.augmentation = "zRP", .data = {10, 0x1b, 0x00, 1, 2, 3, 4, 5, 6, 7, 8}, .data_size = 11},
        {.augmentation = "zPR", .data = {2, 0xff, 0x1b}, .data_size = 3}, /* PE_omit: no routine */
        {.augmentation = "zRB",
         .data = {1, 0x1b},
         .data_size = 2}, /* a letter of another machine */
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        make(&forms[i], PCREL4, program, sizeof program);
        assert_cfa(row_at(4), DWARF_RSP, 16);
        assert_false(row_at(4)->signal_frame);
    }
}

TEST(without_augmentation_addresses_are_absolute)
{
    static const uint8_t program[] = {0x44, 0x0e, 16};
    make(&(struct form){.augmentation = ""}, 0x00, program, sizeof program);
    assert_cfa(row_at(4), DWARF_RSP, 16);
}

TEST(signal_frames_are_marked)
{
    static const uint8_t program[] = {0x00};
    make(&(struct form){.augmentation = "zRS", .data = {1, 0x1b}, .data_size = 2}, PCREL4, program,
         sizeof program);
    assert_non_null(row_at(0));
    assert_true(row_at(0)->signal_frame);
}

TEST(what_is_not_known_gives_no_row)
{
    static const uint8_t program[] = {0x00};
    make(&(struct form){.version = 2}, PCREL4, program, sizeof program);
    assert_null(row_at(0));
    make(&(struct form){.augmentation = "eh", .data = {0}, .data_size = 8}, PCREL4, program,
         sizeof program);
    assert_null(row_at(0));
}

/* ---- the search table ---- */

#define FUNCTIONS 60

/* Functions of many sizes, with gaps between some: the FDE found is the last that begins at or
 * before the address, and says whether it ends before it. Each is looked for twice, in both
 * directions: what a search learned must not lead the next one astray. */
TEST(every_function_is_found)
{
    uint64_t functions[FUNCTIONS], ranges[FUNCTIONS];
    size_t fdes[FUNCTIONS];
    memset(&section, 0, sizeof section);
    section.size = HEADER;
    const struct form form = {0};
    size_t cie = put_cie(&form);
    uint64_t at = address(code);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        uint8_t program[] = {0x0e, (uint8_t)(i + 1)};
        functions[i] = at;
        ranges[i] = 1 + i * i * (i % 5);
        fdes[i] = put_fde(&form, PCREL4, cie, at, ranges[i], program, sizeof program);
        at += ranges[i] + (i % 3 == 0 ? 16 : 0);
    }
    put_table(functions, fdes, FUNCTIONS);
    for (unsigned n = 0; n < 2 * FUNCTIONS; n++) {
        unsigned i = n < FUNCTIONS ? n : 2 * FUNCTIONS - 1 - n;
        const struct cfi_row *row =
            cfi_row_at(functions[i] + ranges[i] - 1, &table_index, &scratch);
        assert_non_null(row);
        assert_int_equal(row->cfa_offset, i + 1);
        row = cfi_row_at(functions[i], &table_index, &scratch);
        assert_non_null(row);
        assert_int_equal(row->cfa_offset, i + 1);
        if (i % 3 == 0)
            assert_null(cfi_row_at(functions[i] + ranges[i], &table_index, &scratch));
    }
    assert_null(cfi_row_at(functions[0] - 1, &table_index, &scratch));
    assert_null(cfi_row_at(at + 100, &table_index, &scratch));
}

/* The second of three keys is below the first. The search still ends at an entry, and what it learns
 * from a key outside of the table's range is not kept. */
TEST(an_unsorted_table_does_no_harm)
{
    static const uint8_t program[] = {0x0e, 64};
    const struct form form = {0};
    memset(&section, 0, sizeof section);
    section.size = HEADER;
    size_t cie = put_cie(&form);
    uint64_t low = address(code), high = low + 8192;
    size_t fde = put_fde(&form, PCREL4, cie, low, 16384, program, sizeof program);
    put_table((const uint64_t[]){low + 4096, low, high}, (const size_t[]){fde, fde, fde}, 3);
    for (unsigned n = 0; n < 2; n++) {
        const struct cfi_row *row = cfi_row_at(low + 5000, &table_index, &scratch);
        assert_non_null(row);
        assert_int_equal(row->cfa_offset, 64);
    }
}

TEST(tables_of_other_formats_are_not_read)
{
    MAKE(0x00);
    section.bytes[0] = 2; /* version */
    assert_false(cfi_open(&table_index, section.bytes));
    section.bytes[0] = 1;
    section.bytes[3] = 0x1b; /* keys relative to their place */
    assert_false(cfi_open(&table_index, section.bytes));
    section.bytes[3] = 0x3b;
    memset(section.bytes + 8, 0, 4); /* no entries */
    assert_false(cfi_open(&table_index, section.bytes));
}
