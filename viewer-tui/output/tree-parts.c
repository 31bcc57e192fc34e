#include "viewer-tui/output/print.h"

void tree_add_filters(const struct tree *tree, bool ascii, struct text *out)
{
    const struct filters *filters = tree->filtered->filters;
    for (size_t i = 0; i < filters_n(filters); i++) {
        text_add(out, i ? " [" : "[");
        filter_describe(filters_at(filters, i), ascii, out);
        text_add(out, "]");
    }
}

bool tree_shows_metric(const struct tree *tree, size_t metric)
{
    bool is_shown = !tree->columns;
    for (size_t i = 0; !is_shown && i < tree->columns->n; i++)
        is_shown = tree->columns->at[i].metric == metric;
    return is_shown;
}
