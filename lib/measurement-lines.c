#include "lib/binary-search.h"
#include "lib/measurement-builder.h"

#include <stdlib.h>
#include <string.h>

/* ---- chunks ---- */

static struct line_table *table_of(struct builder *b, uint64_t table, uint64_t value)
{
    uint32_t known = idmap_get(&b->line_positions, value, (uint32_t)table);
    if (known != IDMAP_NONE)
        return &b->lines.at[known];
    idmap_put(&b->line_positions, value, (uint32_t)table, (uint32_t)b->lines.n);
    vec_push(&b->lines, (struct line_table){.encoding = LINES_NONE});
    return &b->lines.at[b->lines.n - 1];
}

/* A part that is there already was written again after a failure. */
void decode_lines(struct builder *b, struct cursor *c)
{
    uint64_t table = read_v(c), value = read_v(c), encoding = read_v(c), at = read_v(c);
    size_t size = read_count(c, 1);
    if (table >= MAX_NAME_TABLES || encoding > LINES_PYTHON)
        c->bad = true;
    if (c->bad)
        return;
    struct line_table *lines = table_of(b, table, value);
    lines->encoding = (enum line_encoding)encoding;
    if (size && at == lines->bytes.n) {
        vec_reserve(&lines->bytes, size);
        memcpy(lines->bytes.at + lines->bytes.n, c->at, size);
        lines->bytes.n += size;
    }
    c->at += size;
}

/* ---- CPython's location table, PEP 626 and 657 ----
 *
 * An entry begins with a byte 1CCCCLLL: code C, and L + 1 code units. Then, by the code:
 *
 *     0-9    short form: 1 byte of columns; the line is that of the last entry
 *     10-12  1 + 1 bytes of columns; the line is C - 10 more
 *     13     the difference of lines (signed)
 *     14     the same, then three numbers
 *     15     no line
 *
 * Numbers have 6 bits in a byte, the lowest ones first; bit 6: more follow. Signed: the lowest bit is
 * the sign. */

enum { CODE_ONE_LINE = 10, CODE_NO_COLUMNS = 13, CODE_LONG = 14, CODE_NONE = 15 };

static uint64_t take_number(struct cursor *c)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 60; shift += 6) {
        uint8_t byte = read_u8(c);
        number |= (uint64_t)(byte & 63) << shift;
        if (!(byte & 64))
            return number;
    }
    c->bad = true;
    return 0;
}

static int64_t take_signed(struct cursor *c)
{
    uint64_t number = take_number(c);
    return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* Reads what follows the first byte of an entry. Returns the difference of lines. */
static int64_t take_location(struct cursor *c, unsigned code)
{
    int64_t more = 0;
    if (code == CODE_NONE)
        return 0;
    if (code == CODE_NO_COLUMNS || code == CODE_LONG)
        more = take_signed(c);
    else if (code >= CODE_ONE_LINE)
        more = (int64_t)code - CODE_ONE_LINE;
    for (int i = 0; i < (code == CODE_LONG ? 3 : 0); i++)
        take_number(c);
    for (int i = 0; i < (code >= CODE_ONE_LINE ? 2 : 1) && code < CODE_NO_COLUMNS; i++)
        read_u8(c);
    return more;
}

/* Code without a line counts to the line before it. */
static void decode_python(struct line_table *lines, uint64_t first_line)
{
    struct cursor c = {.at = lines->bytes.at, .end = lines->bytes.at + lines->bytes.n};
    int64_t line = (int64_t)first_line;
    uint64_t end = 0;
    if (first_line > UINT32_MAX) /* of a damaged file: sums with differences could overflow */
        return;
    while (c.at < c.end && !c.bad) {
        uint8_t byte = read_u8(&c);
        end += (byte & 7) + 1u;
        line += take_location(&c, byte >> 3 & 15);
        if (c.bad || !(byte & 128) || line < 0 || line > UINT32_MAX)
            return;
        vec_push(&lines->ranges, (struct line_range){.end = end, .line = (uint32_t)line});
    }
}

/* ---- nodes ---- */

/* The line of a node's position; its name's line if the table does not have it. */
static uint64_t line_of(struct line_table *lines, const struct measurement_name *name,
                        uint64_t position)
{
    uint64_t first = name ? name->line : 0;
    if (lines->ranges.n == 0 && lines->bytes.n && lines->encoding == LINES_PYTHON)
        decode_python(lines, first);
    size_t at = partition_point(i, lines->ranges.n, lines->ranges.at[i].end <= position);
    return at < lines->ranges.n ? lines->ranges.at[at].line : first;
}

/* Replaces the positions of a thread's l-notes by lines. */
static void resolve_thread(struct builder *b, struct measurement_thread *thread)
{
    const struct measurement *m = b->m;
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < thread->nodes.n; i++) {
        struct measurement_node *node = &thread->nodes.at[i];
        uint32_t table = node->lip_space - MEASUREMENT_NAMES;
        if (!node->has_site || node->lip_space < MEASUREMENT_NAMES || table >= m->name_tables.n)
            continue;
        uint32_t lines = idmap_get(&b->line_positions, node->lip_value,
                                   (uint32_t)m->name_tables.at[table].number);
        if (lines != IDMAP_NONE)
            node->site =
                line_of(&b->lines.at[lines],
                        measurement_name(m, node->lip_space, node->lip_value), node->site);
    }
}

void resolve_lines(struct builder *b)
{
    for (size_t i = 0; b->lines.n && i < b->m->threads.n; i++)
        resolve_thread(b, &b->m->threads.at[i]);
}

void free_lines(struct builder *b)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        vec_free(&b->lines.at[i].bytes);
        vec_free(&b->lines.at[i].ranges);
    }
    vec_free(&b->lines);
    idmap_free(&b->line_positions);
}
