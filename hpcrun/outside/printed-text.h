/* Formatted text in a buffer (base/text-buffer.h), for code that no signal handler runs. */
#ifndef HPCRUN_OUTSIDE_PRINTED_TEXT_H
#define HPCRUN_OUTSIDE_PRINTED_TEXT_H

#include "hpcrun/base/text-buffer.h"

#include <stdarg.h>
#include <stdio.h>

static inline void text_print_list(struct text *text, const char *format, va_list values)
{
    size_t left = text->room - text->length;
    int length = vsnprintf(text->at + text->length, left, format, values);
    text->length += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left - 1;
}

__attribute__((format(printf, 2, 3))) static inline void text_print(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    text_print_list(text, format, values);
    va_end(values);
}

/* Adds a part of a line if it is there, and the separator before it unless it is the first one: the text ended at
 * `begin` before that. */
__attribute__((format(printf, 5, 6))) static inline void
text_print_part(struct text *text, size_t begin, const char *separator, bool is_there, const char *format, ...)
{
    va_list values;
    if (!is_there)
        return;
    if (text->length > begin)
        text_add(text, separator);
    va_start(values, format);
    text_print_list(text, format, values);
    va_end(values);
}

#endif
