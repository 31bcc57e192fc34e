/* lib/measurement-lines.c: positions in procedures that have names of their own become lines. The tables
 * are written by hand, after PEP 626 and Objects/locations.md of CPython. */
#include "tests/unit/lib/measurement_encoder.h"

enum { NAMES_TABLE = 3, NAME = 7, FIRST_LINE = 40 };

static void put_name(uint64_t value, const char *procedure)
{
    ENCODE(NAMES_TABLE, 1, value);
    encode_string(&payload, procedure);
    encode_string(&payload, "m.py");
    ENCODE(FIRST_LINE);
    end_chunk(CHUNK_NAMES, PROCESS);
}

static void put_lines(uint64_t value, uint64_t at, const uint8_t *table, size_t size)
{
    ENCODE(NAMES_TABLE, value, LINES_PYTHON, at, size);
    for (size_t i = 0; i < size; i++)
        encode_u8(&payload, table[i]);
    end_chunk(CHUNK_LINES, PROCESS);
}

/* A note in a name table, below the root, with a value of work. */
static void put_note(uint64_t id, uint64_t value, uint64_t position)
{
    ENCODE(id, 1, id);
    encode_u8(&payload, NODE_HAS_LIP | NODE_FIRST_OF_BICHORD);
    ENCODE(2 * NAMES_TABLE + 1, value, position + 1);
    end_chunk(CHUNK_NODES, 0);
    put_value(0, id, 0, 1);
}

static void begin_measurement(void)
{
    start_process_file();
    put_thread(0);
    put_name(NAME, "outer");
}

static uint64_t line_of(const struct measurement *m, uint32_t id)
{
    const struct measurement_node *node = &m->threads.at[0].nodes.at[MEASUREMENT_LOST_NODE + id];
    assert_true(node->has_site);
    return node->site;
}

/* Codes: first byte 1CCCCLLL. */
#define ENTRY(code, units) (0x80 | (code) << 3 | ((units)-1))

static const uint8_t table[] = {
    ENTRY(13, 1), 0x00,                         /* 0: no columns, line + 0: 40 */
    ENTRY(11, 2), 4,    9,                      /* 1-2: line + 1: 41 */
    ENTRY(0, 3),  0x25,                         /* 3-5: short form: 41 */
    ENTRY(14, 1), 0x41, 0x02, 0x05, 0x06, 0x07, /* 6: long form */
    ENTRY(13, 1), 0x4a, 0x02,                   /* 7: line + 69: 46 */
    ENTRY(15, 8),                               /* 8-15: no line */
    ENTRY(12, 1), 1,    1,                      /* 16: line + 2: 48 */
};

static void check_lines(const uint64_t *lines, uint32_t count)
{
    struct measurement *m = read_file();
    assert_true(m->complete);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(line_of(m, i + 1), lines[i]);
        assert_string_equal(measurement_name(m, MEASUREMENT_NAMES, NAME)->procedure, "outer");
    }
}

static const uint64_t positions[] = {0, 1, 2, 3, 5, 6, 7, 8, 15, 16, 17};
enum { COUNT = sizeof positions / sizeof *positions };

TEST(each_form_of_an_entry)
{
    uint8_t good[sizeof table];
    memcpy(good, table, sizeof table);
    good[8] = 0x47; /* the long form's difference, 7 | 0 << 6: 3 lines back */
    good[9] = 0x00;
    begin_measurement();
    put_lines(NAME, 0, good, sizeof good);
    for (uint32_t i = 0; i < COUNT; i++)
        put_note(i + 1, NAME, positions[i]);
    check_lines((const uint64_t[]){40, 41, 41, 41, 41, 38, 107, 107, 107, 109, FIRST_LINE}, COUNT);
}

TEST(an_empty_table_has_the_first_line_only)
{
    begin_measurement();
    put_lines(NAME, 0, NULL, 0);
    put_note(1, NAME, 0);
    put_note(2, NAME, 37);
    check_lines((const uint64_t[]){FIRST_LINE, FIRST_LINE}, 2);
}

/* The long form's difference is 1 | 2 << 6 = 129: 64 lines back, before line 0. */
TEST(a_damaged_table_has_the_lines_before_the_damage)
{
    begin_measurement();
    put_lines(NAME, 0, table, sizeof table);
    for (uint32_t i = 0; i < COUNT; i++)
        put_note(i + 1, NAME, positions[i]);
    check_lines((const uint64_t[]){40, 41, 41, 41, 41, FIRST_LINE, FIRST_LINE, FIRST_LINE,
                                   FIRST_LINE, FIRST_LINE, FIRST_LINE},
                COUNT);
}

TEST(a_table_may_come_in_pieces_and_twice)
{
    begin_measurement();
    put_note(1, NAME, 1);
    put_lines(NAME, 0, table, 2);
    put_lines(NAME, 0, table, 2);
    put_lines(NAME, 2, table + 2, 3);
    check_lines((const uint64_t[]){41}, 1);
}

/* Of an agent whose positions are lines. */
TEST(a_name_without_a_table_has_lines)
{
    begin_measurement();
    put_name(NAME + 1, "other");
    put_lines(NAME + 1, 0, table, sizeof table);
    put_note(1, NAME, 123);
    check_lines((const uint64_t[]){123}, 1);
}

EACH_TEST(make_directory, remove_directory);
