/* Text that is put together piece by piece, for lines of output and for the screen. */
#ifndef VIEWER_TEXT_H
#define VIEWER_TEXT_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdio.h>

/* at[0 .. n-1] is the text, at[n] a NUL once something was added. A zeroed one is empty; the
 * owner frees it with vec_free. */
struct text {
    char *at;
    size_t n, cap;
};

void text_clear(struct text *text);
void text_add(struct text *text, const char *more);
void text_add_bytes(struct text *text, const char *more, size_t length);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_pad(struct text *text, char with, size_t count);

/* Adds a name of unknown origin in its printable form (lib/printable.h); with `ascii`, other
 * characters that are not ASCII become '?'. */
void text_add_clean(struct text *text, const char *more, bool ascii);

/* The same for lines of source code, in which a backslash is left alone. */
void text_add_clean_code(struct text *text, const char *more, bool ascii);

/* Adds source code with spaces up to the next multiple of 8 columns in place of tabs; counts from
 * the beginning of `text`. */
void text_add_expanded(struct text *text, const char *code);

/* Columns that UTF-8 text without control characters takes on a terminal. */
size_t text_columns(const char *text);

/* Adds a text that takes `columns` columns, with spaces on its left; the whole text if it needs
 * more.
 */
void text_add_right(struct text *text, const char *more, size_t columns);

/* The part of a text behind its first so many columns. */
const char *text_skip(const char *text, size_t columns);

/* Cuts text down to so many columns. */
void text_cut(struct text *text, size_t columns);

/* Breaks text into lines of so many columns, at spaces, or within words that are longer: replaces
 * `line` by the next one and moves *rest behind it. False at the end of the text. */
bool text_take_line(const char **rest, size_t columns, struct text *line);

/* The text as a string; "" when nothing was ever added. */
static inline const char *text_string(const struct text *text)
{
    return text->at ? text->at : "";
}

/* Writes the text and an end of line, and leaves it empty. */
void text_end_line(struct text *text, FILE *out);

/* The part of a path after its last slash; the path itself when that is empty. */
const char *path_name(const char *path);

#endif
