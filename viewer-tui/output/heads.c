#include "viewer-tui/output/heads.h"

#include <stdlib.h>

void heads_add(struct heads *heads, const char *title, size_t width)
{
    char *copy = mem_strdup(title);
    vec_push(&heads->list, (struct head){.title = copy, .rest = copy, .width = width});
}

bool heads_take_line(struct heads *heads, bool is_centered, struct text *line)
{
    struct text piece = {0};
    bool has_any = false;
    size_t length_before = line->n;
    for (size_t i = 0; i < heads->list.n; i++) {
        struct head *head = &heads->list.at[i];
        has_any |= text_take_line(&head->rest, head->width - 1, &piece);
        size_t space = head->width - text_columns(text_string(&piece));
        size_t before = is_centered ? space / 2 : space;
        text_pad(line, ' ', before);
        text_add(line, text_string(&piece));
        text_pad(line, ' ', space - before);
    }
    if (!has_any && line->at) {
        line->n = length_before;
        line->at[length_before] = '\0';
    }
    vec_free(&piece);
    return has_any;
}

void heads_free(struct heads *heads)
{
    for (size_t i = 0; i < heads->list.n; i++)
        free(heads->list.at[i].title);
    vec_free(&heads->list);
}
