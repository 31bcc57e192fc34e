#include "viewer-tui/table/cell.h"

#include <math.h>

void cell_add(const struct cell_style *style, const struct view *view, uint32_t row,
              const struct column *column, struct text *out)
{
    const struct metric *metric = &view->metrics->at[column->metric];
    struct number_scale scale = columns_scale(view, column->metric);
    double value = view_cost(view, row, column->metric, column->part);
    if (!style->has_bars) {
        columns_add_cell(metric, value, &scale, view_whole(view, column->metric), VALUE_WIDTH, out);
        return;
    }
    autofree struct text bar = {0};
    text_add_right(out, columns_value(metric, value, &scale).text, VALUE_WIDTH);
    text_add_bar(&bar, cell_share(view, row, column), PERCENT_WIDTH - 1, style->ascii);
    text_printf(out, " %s", text_string(&bar));
    text_pad(out, ' ', PERCENT_WIDTH - 1 - text_columns(text_string(&bar)));
}

double cell_share(const struct view *view, uint32_t row, const struct column *column)
{
    double value = view_cost(view, row, column->metric, column->part);
    double whole = view_whole(view, column->metric);
    bool has_share = metric_is_measured(&view->metrics->at[column->metric]) && whole != 0;
    return has_share && isfinite(value) ? value / whole : 0;
}
