/* Advice in words. */
#ifndef VIEWER_ADVICE_TEXT_H
#define VIEWER_ADVICE_TEXT_H

#include "viewer-tui/advice/advice.h"

#include <stdio.h>

/* Screen columns of printed advice. */
#define ADVICE_WIDTH 96

/* Advice, line by line with their indentation. The owner frees the text. */
struct advice_lines {
    struct text text;
    size_t width; /* screen columns of a line */
    bool ascii;
};

/* Adds all findings, a paragraph each, then their details; or that there are none. */
void advice_describe(const struct findings *findings, struct advice_lines *lines);

/* Adds a paragraph, indented by `indent`, its lines after the first one by `hanging` more. */
void advice_add_paragraph(struct advice_lines *lines, size_t indent, size_t hanging,
                          const char *text);

/* Adds "By CPUTIME:". */
void advice_add_event(struct advice_lines *lines, const char *suffix);

/* Prints the lines as a section of a summary, with an empty line and a heading before, and frees them. */
void advice_lines_print(struct advice_lines *lines, FILE *out);

#endif
