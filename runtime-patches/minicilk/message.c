/* Complaints, and the ends of programs that can't go on. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "minicilk-runtime.h"

#ifndef MINICILK_UNTAGGED
#line 10 "hpctoolkit:parallel-overhead:scheduler"
#endif
RUNTIME_CODE void minicilk_complain(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "minicilk: %s\n", text);
}

RUNTIME_CODE void minicilk_too_deep(void)
{
    minicilk_complain("spawns nest deeper than %d", MINICILK_DEPTH);
    abort();
}

RUNTIME_CODE void minicilk_lost(const char *name)
{
    minicilk_complain("%s: a spawn or sync stands inside a switch of the body", name);
    abort();
}
