/* Line tables, written byte by byte as the standard says (DWARF 5, section 6.2). */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/dwarf/line-table.h"

/* ---- writing ---- */

struct bytes {
    uint8_t at[8192];
    size_t n;
};

static void u8(struct bytes *b, unsigned value)
{
    b->at[b->n++] = (uint8_t)value;
}

static void u16(struct bytes *b, unsigned value)
{
    u8(b, value & 255);
    u8(b, value >> 8);
}

static void u32(struct bytes *b, uint32_t value)
{
    u16(b, value & 65535);
    u16(b, value >> 16);
}

static void text(struct bytes *b, const char *value)
{
    memcpy(b->at + b->n, value, strlen(value) + 1);
    b->n += strlen(value) + 1;
}

static void append(struct bytes *b, const struct bytes *other)
{
    memcpy(b->at + b->n, other->at, other->n);
    b->n += other->n;
}

enum { LINE_BASE = -5, LINE_RANGE = 14, OPCODE_BASE = 13 };

/* The start of a header, up to the lengths of the opcodes. */
static void head(struct bytes *b, unsigned version)
{
    static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    u8(b, 1); /* minimum instruction length */
    if (version >= 4)
        u8(b, 1); /* operations per instruction */
    u8(b, 1);     /* default of the statement flag */
    u8(b, (uint8_t)LINE_BASE);
    u8(b, LINE_RANGE);
    u8(b, OPCODE_BASE);
    for (size_t i = 0; i < sizeof lengths; i++)
        u8(b, lengths[i]);
}

/* A table of the rest of the header and the program. */
static void table(struct bytes *b, unsigned version, const struct bytes *rest,
                  const struct bytes *program)
{
    size_t fixed = version >= 5 ? 2 + 2 + 4 : 2 + 4;
    u32(b, (uint32_t)(fixed + rest->n + program->n));
    u16(b, version);
    if (version >= 5) {
        u8(b, 8);
        u8(b, 0);
    }
    u32(b, (uint32_t)rest->n);
    append(b, rest);
    append(b, program);
}

static void set_address(struct bytes *b, uint32_t address)
{
    u8(b, 0);
    u8(b, 9);
    u8(b, 2);
    u32(b, address);
    u32(b, 0);
}

static void special(struct bytes *b, unsigned advance, int line)
{
    u8(b, (unsigned)(line - LINE_BASE) + LINE_RANGE * advance + OPCODE_BASE);
}

static void end_sequence(struct bytes *b, unsigned advance)
{
    u8(b, 2); /* advance_pc */
    u8(b, advance);
    u8(b, 0);
    u8(b, 1);
    u8(b, 1);
}

static void names_of_version_4(struct bytes *b)
{
    head(b, 4);
    text(b, "inc");
    text(b, "/abs");
    u8(b, 0);
    text(b, "a.c"), u8(b, 0), u8(b, 0), u8(b, 0);
    text(b, "b.h"), u8(b, 1), u8(b, 0), u8(b, 0);
    text(b, "c.h"), u8(b, 2), u8(b, 0), u8(b, 0);
    text(b, "/d/../e.h"), u8(b, 1), u8(b, 0), u8(b, 0);
    u8(b, 0);
}

static void names_of_version_5(struct bytes *b)
{
    head(b, 5);
    u8(b, 1), u8(b, 1), u8(b, 0x08); /* path, string */
    u8(b, 2);
    text(b, "/comp");
    text(b, "inc");
    u8(b, 3), u8(b, 1), u8(b, 0x1f), u8(b, 2), u8(b, 0x0b), u8(b, 5), u8(b, 0x1e); /* with MD5 */
    u8(b, 2);
    u32(b, 0), u8(b, 0);
    for (int i = 0; i < 16; i++)
        u8(b, 0xee);
    u32(b, 4), u8(b, 1);
    for (int i = 0; i < 16; i++)
        u8(b, 0xee);
}

/* ---- reading ---- */

struct fixture {
    struct elf_image image; /* has code from 0x1000 to 0x2000 */
    uint8_t code[0x1000];
    struct debug_info info;
    struct file_table files;
    struct line_sections sections;
};

static struct fixture *new_fixture(const struct bytes *lines)
{
    static const char strings[] = "m.c\0n.h";
    struct fixture *f = mem_alloc(sizeof *f);
    const struct elf_code code = {0x1000, 0x2000, f->code};
    vec_push(&f->image.code, code);
    f->sections.lines = (struct elf_bytes){lines->at, lines->n};
    f->sections.line_strings = (struct elf_bytes){(const uint8_t *)strings, sizeof strings};
    return f;
}

static void free_fixture(struct fixture *f)
{
    vec_free(&f->image.code);
    vec_free(&f->files.ids);
    debug_info_free(&f->info);
    free(f);
}

static bool read_one(struct fixture *f, uint64_t offset)
{
    return line_table_read(&f->sections, offset, "/comp", &f->info, &f->image, &f->files);
}

static const char *file(const struct fixture *f, uint32_t id)
{
    return id == DEBUG_NONE ? "?" : strtab_string(&f->info.files, id);
}

static void check_mark(const struct fixture *f, size_t i, uint64_t address, const char *name,
                       uint32_t line)
{
    assert_true(i < f->info.lines.n);
    assert_int_equal(f->info.lines.at[i].address, address);
    assert_string_equal(file(f, f->info.lines.at[i].file), name);
    assert_int_equal(f->info.lines.at[i].line, line);
}

static void simple_program(struct bytes *program)
{
    set_address(program, 0x1100);
    special(program, 0, 2);                                            /* line 3 */
    special(program, 4, 1);                                            /* 0x1104: 4 */
    u8(program, 4), u8(program, 2);                                    /* set_file 2 */
    u8(program, 3), u8(program, 0x90), u8(program, 0x01);              /* advance_line 144 */
    special(program, 16, 0);                                           /* 0x1114: 148 */
    u8(program, 8);                                                    /* const_add_pc: 17 */
    u8(program, 3), u8(program, 0x7f);                                 /* advance_line -1 */
    u8(program, 1);                                                    /* copy: 0x1125: 147 */
    u8(program, 9), u16(program, 0x100);                               /* fixed_advance_pc */
    u8(program, 5), u8(program, 7);                                    /* set_column */
    u8(program, 0), u8(program, 2), u8(program, 0x80), u8(program, 9); /* unknown extension */
    special(program, 0, 3);                                            /* 0x1225: 150 */
    end_sequence(program, 0x20);                                       /* 0x1245 */
}

static void check_simple(struct fixture *f, const char *one, const char *two)
{
    debug_info_finish(&f->info, 1);
    assert_int_equal(f->info.lines.n, 6);
    check_mark(f, 0, 0x1100, one, 3);
    check_mark(f, 1, 0x1104, one, 4);
    check_mark(f, 2, 0x1114, two, 148);
    check_mark(f, 3, 0x1125, two, 147);
    check_mark(f, 4, 0x1225, two, 150);
    check_mark(f, 5, 0x1245, "?", 0);
}

TEST(test_version_4)
{
    struct bytes rest = {0}, program = {0}, lines = {0};
    names_of_version_4(&rest);
    simple_program(&program);
    table(&lines, 4, &rest, &program);
    struct fixture *f = new_fixture(&lines);
    assert_true(read_one(f, 0));
    assert_int_equal(f->files.ids.n, 5);
    assert_string_equal(file(f, f->files.ids.at[0]), "?");
    assert_string_equal(file(f, f->files.ids.at[3]), "/abs/c.h");
    assert_string_equal(file(f, f->files.ids.at[4]), "/e.h");
    check_simple(f, "/comp/a.c", "/comp/inc/b.h");
    free_fixture(f);
}

/* The file register starts at 1 in all versions; in version 5 that is the second file. */
TEST(test_version_5)
{
    struct bytes rest = {0}, program = {0}, lines = {0};
    names_of_version_5(&rest);
    set_address(&program, 0x1000);
    special(&program, 0, 8);
    u8(&program, 4), u8(&program, 0);
    special(&program, 1, 0);
    end_sequence(&program, 1);
    table(&lines, 5, &rest, &program);
    struct fixture *f = new_fixture(&lines);
    assert_true(read_one(f, 0));
    debug_info_finish(&f->info, 1);
    assert_int_equal(f->info.lines.n, 3);
    check_mark(f, 0, 0x1000, "/comp/inc/n.h", 9);
    check_mark(f, 1, 0x1001, "/comp/m.c", 9);
    check_mark(f, 2, 0x1002, "?", 0);
    free_fixture(f);
}

/* The first unit of a table may be a type unit, which names no directory; a file may have no name.
 */
TEST(test_directory_of_version_5)
{
    struct bytes rest = {0}, program = {0}, lines = {0};
    names_of_version_5(&rest);
    set_address(&program, 0x1000);
    special(&program, 0, 8);
    u8(&program, 4), u8(&program, 2); /* no such file */
    special(&program, 1, 1);
    end_sequence(&program, 1);
    table(&lines, 5, &rest, &program);
    struct fixture *f = new_fixture(&lines);
    assert_true(line_table_read(&f->sections, 0, "", &f->info, &f->image, &f->files));
    debug_info_finish(&f->info, 1);
    assert_int_equal(f->info.lines.n, 3);
    check_mark(f, 0, 0x1000, "/comp/inc/n.h", 9);
    check_mark(f, 1, 0x1001, "?", 0);
    free_fixture(f);
}

TEST(test_several_tables)
{
    struct bytes rest = {0}, one = {0}, two = {0}, lines = {0};
    names_of_version_4(&rest);
    simple_program(&one);
    set_address(&two, 0x1400);
    special(&two, 0, 6);
    end_sequence(&two, 16);
    table(&lines, 4, &rest, &one);
    size_t second = lines.n;
    table(&lines, 2, &(struct bytes){0}, &two); /* version 2 without the rest of the header */
    table(&lines, 4, &rest, &two);
    struct fixture *f = new_fixture(&lines);
    assert_false(read_one(f, second));
    assert_false(read_one(f, lines.n));
    assert_false(read_one(f, UINT64_MAX));
    line_tables_read_all(&f->sections, &f->info, &f->image);
    debug_info_finish(&f->info, 1);
    assert_int_equal(f->info.lines.n, 8);
    check_mark(f, 6, 0x1400, "a.c", 7);
    free_fixture(f);
}

/* Rows of removed code (at 0) and of code outside the image are dropped. */
TEST(test_dropped_code)
{
    struct bytes rest = {0}, program = {0}, lines = {0};
    names_of_version_4(&rest);
    for (uint32_t begin = 0; begin <= 0x2000; begin += 0x1000) {
        set_address(&program, begin);
        special(&program, 0, 3);
        end_sequence(&program, 8);
    }
    table(&lines, 4, &rest, &program);
    struct fixture *f = new_fixture(&lines);
    assert_true(read_one(f, 0));
    debug_info_finish(&f->info, 1);
    assert_int_equal(f->info.lines.n, 2);
    check_mark(f, 0, 0x1000, "/comp/a.c", 4);
    free_fixture(f);
}

/* Files in a directory whose path no file can have are unknown: many of them would take memory of the
 * square of the table's size. */
TEST(test_paths_that_are_too_long)
{
    char directory[2050];
    struct bytes rest = {0}, program = {0}, lines = {0};
    memset(directory, 'd', sizeof directory - 1);
    directory[0] = '/';
    directory[sizeof directory - 1] = '\0';
    head(&rest, 4);
    text(&rest, directory);
    u8(&rest, 0);
    text(&rest, "a.c"), u8(&rest, 1), u8(&rest, 0), u8(&rest, 0);
    directory[2048] = '\0'; /* now the name of a file in /ddd... */
    directory[0] = 'd';
    text(&rest, directory), u8(&rest, 1), u8(&rest, 0), u8(&rest, 0);
    u8(&rest, 0);
    simple_program(&program);
    table(&lines, 4, &rest, &program);
    struct fixture *f = new_fixture(&lines);
    assert_true(read_one(f, 0));
    assert_int_equal(f->files.ids.n, 3);
    assert_int_equal(strlen(file(f, f->files.ids.at[1])), 2049 + 4);
    assert_string_equal(file(f, f->files.ids.at[2]), "?");
    free_fixture(f);
}

/* A table that is truncated anywhere, or has any byte changed, gives sorted rows and no crash. */
TEST(test_damage)
{
    for (unsigned version = 4; version <= 5; version++) {
        struct bytes rest = {0}, program = {0}, lines = {0};
        if (version == 4)
            names_of_version_4(&rest);
        else
            names_of_version_5(&rest);
        simple_program(&program);
        table(&lines, version, &rest, &program);
        for (size_t i = 0; i < lines.n; i++) {
            for (unsigned change = 0; change < 256; change++) {
                struct bytes bad = lines;
                if (change == 0)
                    bad.n = i;
                else
                    bad.at[i] = (uint8_t)(bad.at[i] + change);
                struct fixture *f = new_fixture(&bad);
                read_one(f, 0);
                line_tables_read_all(&f->sections, &f->info, &f->image);
                debug_info_finish(&f->info, 1);
                for (size_t k = 1; k < f->info.lines.n; k++)
                    assert_true(f->info.lines.at[k - 1].address < f->info.lines.at[k].address);
                free_fixture(f);
            }
        }
    }
}
