/* Advice in words. */
#ifndef VIEWER_ADVICE_TEXT_H
#define VIEWER_ADVICE_TEXT_H

#include "viewer-tui/advice/advice.h"

#include <stdio.h>

/* The name of an event, "CPUTIME" of " (CPUTIME)"; "" of "". */
void advice_event(const char *suffix, struct text *event);

/* Of advice in print, in columns. */
#define ADVICE_WIDTH 96

/* Lines of text, each with its indentation. */
struct advice_lines {
    VEC(char *) list;
    size_t width; /* of each line, in columns */
    bool ascii;
};

/* Adds all findings with their details, or that there are none. */
void advice_describe(const struct advice *advice, struct advice_lines *lines);

/* The same in few lines: the findings with the largest gains, and of the first as many details as
 * there is room for. */
void advice_describe_shortly(const struct advice *advice, struct advice_lines *lines);

/* Adds a paragraph: its first line behind so many spaces, the others behind `hanging` more. */
void advice_add_paragraph(struct advice_lines *lines, size_t indent, size_t hanging,
                          const char *text);

/* Adds "By CPUTIME:". */
void advice_add_event(struct advice_lines *lines, const char *suffix);

/* Appends "block, cholesky.c:63, called from multiply". */
void advice_describe_hotspot(const struct database *db, const struct hotspot *hotspot, bool ascii,
                             struct text *text);

/* Prints them as a part of a summary: behind an empty line and a head. */
void advice_lines_print(const struct advice_lines *lines, FILE *out);

void advice_lines_free(struct advice_lines *lines);

#endif
