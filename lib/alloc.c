#include "lib/alloc.h"

#include "lib/diag.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *block)
{
    if (!block)
        diag_fatal(NULL, "out of memory");
    return block;
}

void *mem_alloc(size_t size)
{
    return or_die(calloc(1, size ? size : 1));
}

void *mem_alloc_table(size_t size)
{
    const size_t smallest_page = 4096;
    volatile char *table = mem_alloc(size);
    for (size_t i = 0; i < size; i += smallest_page)
        table[i] = 0;
    return (void *)table;
}

void *mem_resize(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        or_die(NULL);
    return or_die(realloc(old, bytes ? bytes : 1));
}

char *mem_strdup(const char *text)
{
    return or_die(strdup(text));
}

char *mem_strndup(const char *text, size_t length)
{
    return or_die(strndup(text, length));
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return or_die(length < 0 ? NULL : text);
}

/* ---- pools ---- */

/* malloc takes blocks of this size from memory that was freed before; larger ones it gets from the
 * kernel. */
#define POOL_BLOCK ((size_t)64 << 10)

static void add_block(struct mem_pool *pool, size_t at_least)
{
    size_t size = at_least < POOL_BLOCK ? POOL_BLOCK : at_least;
    void *block = mem_resize(NULL, size, 1);
    vec_push(&pool->blocks, block);
    pool->next = block;
    pool->left = size;
}

void *mem_pool_take(struct mem_pool *pool, size_t size)
{
    const size_t alignment = _Alignof(max_align_t);
    if (size > SIZE_MAX - alignment)
        or_die(NULL);
    size = (size + alignment - 1) / alignment * alignment;
    if (size > pool->left)
        add_block(pool, size);
    void *taken = pool->next;
    pool->next += size;
    pool->left -= size;
    return taken;
}

void mem_pool_free(struct mem_pool *pool)
{
    for (size_t i = 0; i < pool->blocks.n; i++)
        free(pool->blocks.at[i]);
    vec_free(&pool->blocks);
    *pool = (struct mem_pool){0};
}

/* A pointer, or an array, which begins with one. */
void mem_free_in(void *variable)
{
    void *memory;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}
