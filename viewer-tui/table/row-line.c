#include "viewer-tui/table/row-line.h"

#include "viewer-tui/tree/labels.h"

#include <math.h>

static void end_part(struct row_line *line, enum line_part_kind kind, size_t at, double share)
{
    vec_push(&line->parts, (struct line_part){kind, at, line->text.n - at, share});
}

/* A number in the unit of its column, and its percentage or a bar: PART_WIDTH screen columns. */
static void add_cost(struct row_line *line, const struct cell_style *style, const struct view *view, uint32_t row,
                     const struct column *column)
{
    const struct metric *metric = &view->metrics->at[column->metric];
    struct number_scale scale = columns_scale(view, column->metric);
    double value = view_cost(view, row, column->metric, column->part), whole = view_whole(view, column->metric);
    double share = metric_is_measured(metric) && whole != 0 && isfinite(value) ? value / whole : 0;
    size_t at = line->text.n;
    if (style->has_bars) {
        autofree struct text bar = {0};
        text_add_right(&line->text, columns_value(metric, value, &scale).text, VALUE_WIDTH);
        text_add_bar(&bar, share, PERCENT_WIDTH - 1, style->ascii);
        text_printf(&line->text, " %s", text_string(&bar));
        text_pad(&line->text, ' ', PERCENT_WIDTH - 1 - text_columns(text_string(&bar)));
    } else {
        columns_add_cell(metric, value, &scale, whole, VALUE_WIDTH, &line->text);
    }
    end_part(line, LINE_COST, at, share);
}

void row_line_make(struct row_line *line, const struct cell_style *style, const struct view *view, uint32_t row,
                   const struct columns *columns, size_t indent, const struct row_label *label)
{
    struct text *text = &line->text;
    text_clear(text);
    line->parts.n = 0;
    for (size_t i = 0; i < columns->n; i++)
        add_cost(line, style, view, row, &columns->at[i]);
    text_pad(text, ' ', indent);
    size_t at = text->n;
    text_add(text, label->marker);
    if (label->hidden)
        text_add(text, label->hidden);
    else
        describe_call(view, row, style->ascii, text);
    describe_mark(view, row, text);
    line->name_at = text->n;
    size_t used = text_columns(text->at + at);
    describe_bare_name(view, row, style->ascii, label->room > used ? label->room - used : 0, text);
    end_part(line, LINE_NAME, at, 0);
    text_add(text, "  ");
    at = text->n;
    describe_location(view, row, style->ascii, text);
    if (text->n > at)
        end_part(line, LINE_PLACE, at, 0);
    else
        text_truncate(text, at - 2);
}
