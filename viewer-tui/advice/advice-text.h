/* Advice in words. */
#ifndef VIEWER_ADVICE_TEXT_H
#define VIEWER_ADVICE_TEXT_H

#include "viewer-tui/advice/advice.h"

/* A verdict in a few words, "too little parallelism"; and what it means and what to do. */
const char *verdict_name(enum verdict verdict);
const char *verdict_meaning(enum verdict verdict);

/* The name of the advice's event, "CPUTIME"; "" where there is a single one. */
void advice_event(const struct advice *advice, struct text *event);

/* Lines of text, each with its indentation. */
struct advice_lines {
    VEC(char *) list;
    size_t width; /* of each line, in columns */
    bool ascii;
};

/* Adds the advice on a row, or why there is none. */
void advice_describe(const struct advices *advices, const struct view *view, uint32_t row,
                     struct advice_lines *lines);

void advice_lines_free(struct advice_lines *lines);

#endif
