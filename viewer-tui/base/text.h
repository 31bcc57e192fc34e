/* Growing text, for lines of output and for the screen. A *column* is that of a terminal: some
 * characters take two, some none. */
#ifndef VIEWER_TEXT_H
#define VIEWER_TEXT_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdio.h>

/* at[0 .. n-1] is the text, at[n] a NUL as soon as something was added. A zeroed one is empty; the
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

/* Shortens the text to its first n bytes. */
void text_truncate(struct text *text, size_t n);

/* Removes the spaces at the end. */
void text_trim(struct text *text);

/* Adds a name of unknown origin in its printable form (lib/printable.h). With `ascii`, characters
 * outside ASCII become '?'. */
void text_add_clean(struct text *text, const char *more, bool ascii);

/* The same for source code, where a backslash stays as it is. */
void text_add_clean_code(struct text *text, const char *more, bool ascii);

/* Formats like text_printf, but texts (%s) are of unknown origin: they are added by text_add_clean. Other conversions:
 * numbers and %c. */
void text_say(struct text *text, bool ascii, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds printable text with the special characters of XML and HTML escaped. */
void text_add_xml(struct text *text, const char *more);

/* The same for the special characters of Markdown. */
void text_add_markdown(struct text *text, const char *more);

/* Adds source code and replaces tabs by spaces up to the next multiple of 8 bytes, counted from the
 * beginning of `text`. */
void text_add_expanded(struct text *text, const char *code);

/* Number of columns of UTF-8 text without control characters. */
size_t text_columns(const char *text);

/* Adds text flush right in `columns` columns; all of it, if it needs more. */
void text_add_right(struct text *text, const char *more, size_t columns);

/* The part of a text behind its first `columns` columns. */
const char *text_skip(const char *text, size_t columns);

/* Cuts the text to at most `columns` columns. */
void text_cut(struct text *text, size_t columns);

/* Breaks text into lines of at most `columns` columns, at spaces, or within words that are longer
 * than a line: replaces `line` by the next line and moves *rest behind it. False at the end. */
bool text_take_line(const char **rest, size_t columns, struct text *line);

/* Adds a line that is broken in the same way if it is longer than `width` columns, at least 1. It goes on where it
 * began, or where the last column of a table begins on the left half of the width. */
void text_add_broken(struct text *text, const char *line, size_t width);

/* A copy of the first `length` bytes of a text without the blanks around them; the caller frees. */
char *text_trimmed(const char *text, size_t length);

static inline const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* The text as a string; "" if nothing was ever added. */
static inline const char *text_string(const struct text *text)
{
    return text->at ? text->at : "";
}

/* Adds a bar of `share` (0..1) times `columns` columns, rounded to an eighth of a column, with
 * `ascii` to a whole one. A share above 0 has a visible bar. Nothing is added behind it. */
void text_add_bar(struct text *text, double share, size_t columns, bool ascii);

/* Writes the text and a newline to `out`, and clears it. */
void text_end_line(struct text *text, FILE *out);

/* The part of a path after its last slash; the path itself if that is empty. */
const char *path_name(const char *path);

#endif
