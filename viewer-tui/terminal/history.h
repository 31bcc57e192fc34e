/* Earlier answers to each question; Up brings them back when it is asked again. */
#ifndef VIEWER_HISTORY_H
#define VIEWER_HISTORY_H

#include "lib/alloc.h"
#include "viewer-tui/terminal/keys.h"

struct answer {
    enum command command; /* whose question it answers */
    char *text;
};

/* Empty if zeroed. */
struct history {
    VEC(struct answer) list;
};

void history_free(struct history *history);

/* Adds an answer unless it is empty or equal to the last one. */
void history_add(struct history *history, enum command command, const char *text);

/* The next older (step -1) or newer (1) answer to a command than *at, and moves *at there. NULL if
 * there is none. Begin with *at = history->list.n. */
const char *history_step(const struct history *history, enum command command, size_t *at, int step);

#endif
