#include "lib/diag.h"

#include "lib/printable.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const char *tool_name = "hpctoolkit";
static atomic_uint errors;
static void (*before_message)(void);

void diag_init(const char *tool)
{
    tool_name = tool;
}

void diag_before_message(void (*function)(void))
{
    before_message = function;
}

/* In buffers: memory may have run out, and that is a message, too. */
static void print_line(const char *file, const char *format, va_list args)
{
    char text[4096], line[sizeof text + 4096], printable[2 * sizeof line];
    vsnprintf(text, sizeof text, format, args);
    snprintf(line, sizeof line, "%s: %s%s%s", tool_name, file ? file : "", file ? ": " : "", text);
    printable_copy(printable, sizeof printable, line);
    if (before_message)
        before_message();
    fprintf(stderr, "%s\n", printable);
}

void diag_error(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(file, format, args);
    va_end(args);
    atomic_fetch_add(&errors, 1);
}

void diag_note(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(file, format, args);
    va_end(args);
}

void diag_fatal(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(file, format, args);
    va_end(args);
    exit(1);
}

void diag_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(NULL, format, args);
    va_end(args);
    fprintf(stderr, "Try '%s --help'.\n", tool_name);
    exit(2);
}

unsigned diag_error_count(void)
{
    return atomic_load(&errors);
}

int diag_exit_status(void)
{
    unsigned count = diag_error_count();
    if (count == 0)
        return 0;
    if (count > 1)
        fprintf(stderr, "%s: %u problems, see above\n", tool_name, count);
    return 1;
}
