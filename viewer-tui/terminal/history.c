#include "viewer-tui/terminal/history.h"

#include <stdlib.h>
#include <string.h>

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->list.n; i++)
        free(history->list.at[i].text);
    vec_free(&history->list);
}

void history_add(struct history *history, enum command command, const char *text)
{
    size_t at = history->list.n;
    const char *last = history_step(history, command, &at, -1);
    if (!*text || (last && strcmp(last, text) == 0))
        return;
    struct answer answer = {command, mem_strdup(text)};
    vec_push(&history->list, answer);
}

const char *history_step(const struct history *history, enum command command, size_t *at, int step)
{
    size_t n = history->list.n;
    for (size_t i = *at + (size_t)step; i < n; i += (size_t)step) {
        if (history->list.at[i].command != command)
            continue;
        *at = i;
        return history->list.at[i].text;
    }
    return NULL;
}
