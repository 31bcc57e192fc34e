/* A list that covers the screen, with one line selected. */
#ifndef VIEWER_LIST_H
#define VIEWER_LIST_H

#include "viewer-tui/base/text.h"

struct list {
    const char *title;
    const char *help;  /* keys, for the last line of the screen */
    const char *empty; /* shown if the list is empty; NULL */
    size_t n_heads;    /* lines above the list that do not scroll */
    void (*head)(const void *context, size_t index, struct text *out); /* adds the text of a head */
    size_t n;
    void (*line)(const void *context, size_t index, struct text *out); /* adds the text of a line */
    const void *context;
    size_t selected, top; /* initially 0; kept from call to call */
};

/* Lets the user move in the list; returns the first key that is no move. */
int list_run(struct list *list);

#endif
