#include "lib/alloc.h"

#include "lib/diag.h"

#include <stdarg.h>
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
