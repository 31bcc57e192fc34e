#include "viewer-tui/advice/finding.h"

#include <stdlib.h>

struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             const struct text *text)
{
    struct finding new = {.kind = kind,
                          .procedure = NOTHING,
                          .file = NOTHING,
                          .text = mem_strdup(text_string(text))};
    vec_push(&findings->list, new);
    return &findings->list.at[findings->list.n - 1];
}

void finding_take_detail(struct finding *finding, struct text *text)
{
    if (text->n)
        vec_push(&finding->details, mem_strdup(text_string(text)));
    vec_free(text);
}

static int compare(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->order == ORDER_GAIN && a->gain.low != b->gain.low)
        return a->gain.low > b->gain.low ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* What a hurried reader reads. */
#define FIRST_LINES 3

void findings_sort(struct findings *findings)
{
    struct finding *list = findings->list.at;
    size_t n = findings->list.n, hot = 0;
    if (n)
        qsort(list, n, sizeof *list, compare);
    while (hot < n && list[hot].kind != FINDING_HOT_PLACE)
        hot++;
    for (size_t i = hot; i >= FIRST_LINES && i < n; i--) {
        struct finding moved = list[i];
        list[i] = list[i - 1];
        list[i - 1] = moved;
    }
}

void findings_free(struct findings *findings)
{
    for (size_t i = 0; i < findings->list.n; i++) {
        struct finding *finding = &findings->list.at[i];
        for (size_t d = 0; d < finding->details.n; d++)
            free(finding->details.at[d]);
        vec_free(&finding->details);
        free(finding->text);
    }
    vec_free(&findings->list);
}
