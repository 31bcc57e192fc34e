#include "lib/measurement-builder.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- cursor ---- */

uint64_t read_v(struct cursor *c)
{
    uint64_t value = 0;
    if (c->bad || !get_varint(&c->at, c->end, &value))
        c->bad = true;
    return value;
}

static const uint8_t *take(struct cursor *c, size_t size)
{
    if (c->bad || (size_t)(c->end - c->at) < size) {
        c->bad = true;
        return NULL;
    }
    c->at += size;
    return c->at - size;
}

uint8_t read_u8(struct cursor *c)
{
    const uint8_t *at = take(c, 1);
    return at ? *at : 0;
}

uint64_t read_u64(struct cursor *c)
{
    const uint8_t *at = take(c, 8);
    return at ? get_u64(at) : 0;
}

uint64_t read_count(struct cursor *c, size_t least)
{
    uint64_t count = read_v(c);
    if (count > (size_t)(c->end - c->at) / least) {
        c->bad = true;
        return 0;
    }
    return count;
}

char *read_string(struct cursor *c)
{
    size_t length = read_count(c, 1);
    const uint8_t *at = take(c, length);
    return at ? mem_strndup((const char *)at, length) : mem_strdup("");
}

/* ---- problems ---- */

void builder_problem(struct builder *b, const char *format, ...)
{
    if (b->problem_count++ >= MAX_PROBLEMS)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *p = text; *p; p++) /* names in damaged files may hold anything */
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    vec_push(&b->m->problems, mem_strdup(text));
}
