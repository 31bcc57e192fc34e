/* What the user answered before, to be brought back by Up when the same is asked again. */
#ifndef VIEWER_HISTORY_H
#define VIEWER_HISTORY_H

#include "lib/alloc.h"
#include "viewer-tui/terminal/keys.h"

struct answer {
    enum command command; /* that asked */
    char *text;
};

/* A zeroed one is empty. */
struct history {
    VEC(struct answer) list;
};

void history_free(struct history *history);

/* Remembers an answer, unless it is empty or the last one was the same. */
void history_add(struct history *history, enum command command, const char *text);

/* The next answer to a command from *at on, which is moved there: an older one for step -1, a later
 * one for 1. NULL, and *at stays, where there is none. Begin with *at = history->list.n. */
const char *history_step(const struct history *history, enum command command, size_t *at, int step);

#endif
