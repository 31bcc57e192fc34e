#include "lib/measurement-builder.h"

#include <stdlib.h>
#include <string.h>

/* ---- the addresses to name ---- */

static void add_address(struct builder *b, uint32_t space, uint64_t address)
{
    if (space == MEASUREMENT_NO_MODULE)
        vec_push(&b->m->code_names, (struct measurement_code_name){.address = address});
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct measurement_code_name *)a)->address;
    uint64_t y = ((const struct measurement_code_name *)b)->address;
    return (x > y) - (x < y);
}

/* Lists the addresses of nodes that lie in no module, sorted, without repetition. */
static void list_addresses(struct builder *b)
{
    struct measurement *m = b->m;
    for (size_t i = 0; i < m->threads.n; i++)
        for (size_t k = 0; k < m->threads.at[i].nodes.n; k++) {
            const struct measurement_node *node = &m->threads.at[i].nodes.at[k];
            add_address(b, node->ip_space, node->ip_offset);
            add_address(b, node->lip_space, node->lip_value);
        }
    size_t distinct = 0;
    vec_sort(&m->code_names, by_address);
    for (size_t i = 0; i < m->code_names.n; i++)
        if (i == 0 || m->code_names.at[i].address != m->code_names.at[distinct - 1].address)
            m->code_names.at[distinct++] = m->code_names.at[i];
    m->code_names.n = distinct;
}

/* ---- lines of a perf map: "START SIZE NAME", hexadecimal ---- */

struct line {
    uint64_t start, size;
    const char *name;
    size_t length;
};

/* Parses a hexadecimal number of at most 64 bits and the blanks behind it. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
    if (end - *at > 2 && memcmp(*at, "0x", 2) == 0)
        *at += 2;
    const char *first = *at;
    for (*number = 0; *at < end; ++*at) {
        char c = **at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            break;
        *number = *number << 4 | digit;
    }
    size_t digits = (size_t)(*at - first);
    bool blank = *at < end && **at == ' ';
    while (*at < end && **at == ' ')
        ++*at;
    return digits > 0 && digits <= 16 && blank;
}

static bool parse_line(const char *at, const char *end, struct line *line)
{
    if (!take_number(&at, end, &line->start) || !take_number(&at, end, &line->size))
        return false;
    line->name = at;
    line->length = strnlen(at, (size_t)(end - at));
    return line->length > 0 && line->size > 0 && line->start + line->size > line->start;
}

/* ---- naming ---- */

/* The first address at or after i without a name. next[i] == i: it has none; else next[i] leads
 * there (a union-find forest with path halving). */
static uint32_t unnamed_from(uint32_t *next, uint32_t i)
{
    while (next[i] != i) {
        next[i] = next[next[i]];
        i = next[i];
    }
    return i;
}

static void name_addresses(struct measurement *m, uint32_t *next, const struct line *line)
{
    uint32_t i = unnamed_from(next, (uint32_t)measurement_first_code_name(m, line->start));
    while (i < m->code_names.n && m->code_names.at[i].address - line->start < line->size) {
        m->code_names.at[i].name = mem_strndup(line->name, line->length);
        next[i] = i + 1;
        i = unnamed_from(next, i);
    }
}

/* Goes from the last line to the first and never replaces a name: where code was overwritten, the
 * later line is right. */
static void name_from_lines(struct builder *b, uint32_t *next)
{
    const char *text = b->code_map.at, *end = text + b->code_map.n;
    size_t lines = 0, good = 0;
    while (end > text) {
        const char *newline = memrchr(text, '\n', (size_t)(end - text));
        const char *start = newline ? newline + 1 : text;
        struct line line;
        lines += end > start;
        if (parse_line(start, end, &line)) {
            good++;
            name_addresses(b->m, next, &line);
        }
        end = newline ? newline : text;
    }
    if (lines && !good)
        builder_problem(b, "the program's perf map has no line that names code");
}

static void forget_unnamed(struct measurement *m)
{
    size_t named = 0;
    for (size_t i = 0; i < m->code_names.n; i++)
        if (m->code_names.at[i].name)
            m->code_names.at[named++] = m->code_names.at[i];
    m->code_names.n = named;
}

void resolve_code_names(struct builder *b)
{
    if (b->code_map.n == 0)
        return;
    list_addresses(b);
    autofree uint32_t *next = mem_alloc((b->m->code_names.n + 1) * sizeof *next);
    for (uint32_t i = 0; i <= b->m->code_names.n; i++)
        next[i] = i;
    name_from_lines(b, next);
    forget_unnamed(b->m);
}
