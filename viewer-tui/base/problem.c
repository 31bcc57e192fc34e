#include "viewer-tui/base/problem.h"

#include "lib/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char *first;

void problem_found(const char *file, const char *format, ...)
{
    if (first)
        return;
    char cause[512];
    va_list args;
    va_start(args, format);
    vsnprintf(cause, sizeof cause, format, args);
    va_end(args);
    first = mem_printf("%s: %s", file, cause);
    for (char *c = first; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

const char *problem_text(void)
{
    return first;
}

void problem_clear(void)
{
    free(first);
    first = NULL;
}
