#include "viewer-tui/output/cell.h"

#include "viewer-tui/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for a column's title and the mark of sorting; also the width of a column of percentages. */
#define LEAST_WIDTH        12
#define PERCENT_ONLY_WIDTH LEAST_WIDTH

/* Of seconds: nothing below a microsecond is measured. */
#define MOST_DECIMALS 6

int cell_width(const struct cell_style *style, const struct column *column)
{
    int width = style->units == UNITS_PERCENT && !style->has_bars ? PERCENT_ONLY_WIDTH : PART_WIDTH;
    width += column->extra;
    return width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

/* The width of the number in a cell. Extra width lengthens the bar; without bars, it makes room for
 * digits if the units have more to show. */
static int number_width(const struct cell_style *style, const struct column *column)
{
    if (style->units == UNITS_PERCENT)
        return style->has_bars ? VALUE_WIDTH : cell_width(style, column);
    bool is_for_digits = style->units != UNITS_THAT_FIT && !style->has_bars;
    int least = cell_width(style, column) - PERCENT_WIDTH;
    return is_for_digits || least < VALUE_WIDTH ? least : VALUE_WIDTH;
}

/* A scale in plain units: as many decimals as leave room for the largest value of the column. */
static struct number_scale plain_scale(const struct view *view, const struct column *column,
                                       int width)
{
    const struct metric *metric = &view->metrics->at[column->metric];
    double largest = fabs(view_magnitude(view, column->metric));
    struct number_scale scale = {.divisor = 1};
    int digits = 1;
    for (double power = 10; isfinite(largest) && power <= largest; power *= 10)
        digits++;
    bool is_integer = strcmp(metric->unit, "count") == 0 || strcmp(metric->unit, "B") == 0;
    int room = width - 1 - (int)text_columns(columns_sign(metric)) - digits - 1;
    if (!is_integer && room > 0)
        scale.decimals = room < MOST_DECIMALS ? room : MOST_DECIMALS;
    if (strcmp(metric->unit, "count") != 0)
        snprintf(scale.unit, sizeof scale.unit, "%s", metric->unit);
    return scale;
}

struct number_scale cell_scale(const struct cell_style *style, const struct view *view,
                               const struct column *column)
{
    if (style->units == UNITS_THAT_FIT)
        return columns_scale(view, column->metric);
    struct number_scale scale = plain_scale(view, column, number_width(style, column));
    if (style->units == UNITS_PERCENT && view->metrics->at[column->metric].is_ratio)
        return columns_scale(view, column->metric);
    if (style->units == UNITS_PERCENT)
        strcpy(scale.unit, "%");
    return scale;
}

/* Formats in scientific notation, after the sign, with as many digits as fit. */
static void format_scientific(const char *sign, double value, int width, char text[NUMBER_SIZE])
{
    int around = value < 0 ? 8 : 7; /* a space, a sign, a digit, a point, "e-04" */
    int decimals = width - (int)text_columns(sign) - around;
    decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
    if (value == 0)
        strcpy(text, "0");
    else
        snprintf(text, NUMBER_SIZE, "%s%.*e", sign, decimals, value);
}

static void format_number(const struct cell_style *style, const struct view *view,
                          const struct column *column, double value, char text[NUMBER_SIZE])
{
    const struct metric *metric = &view->metrics->at[column->metric];
    struct number_scale scale = cell_scale(style, view, column);
    columns_value(metric, value, &scale, text);
    bool is_there = strcmp(text, "-") != 0;
    if (style->units == UNITS_SCIENTIFIC && is_there)
        format_scientific(columns_sign(metric), value, number_width(style, column), text);
}

/* Formats the percentage; the sign of a lower bound is left out if the number beside it has it. */
static void format_percent(const struct view *view, const struct column *column, double value,
                           bool is_alone, char text[NUMBER_SIZE])
{
    const struct metric *metric = &view->metrics->at[column->metric];
    char number[NUMBER_SIZE] = "";
    text[0] = '\0';
    if (!metric_is_measured(metric) || !isfinite(value) || value == 0)
        return;
    if (is_alone)
        columns_percent(metric, value, view_whole(view, column->metric), number);
    else
        number_percent(value, view_whole(view, column->metric), number);
    if (*number)
        snprintf(text, NUMBER_SIZE, "%.30s%%", number);
}

void cell_add(const struct cell_style *style, const struct view *view, uint32_t row,
              const struct column *column, struct text *out)
{
    char number[NUMBER_SIZE], percent[NUMBER_SIZE];
    double value = view_cost(view, row, column->metric, column->part);
    int width = cell_width(style, column), used = number_width(style, column);
    bool is_alone = style->units == UNITS_PERCENT && !view->metrics->at[column->metric].is_ratio;
    format_number(style, view, column, value, number);
    format_percent(view, column, value, is_alone, percent);
    bool is_percent = is_alone && (*percent || value == 0);
    text_add_right(out, is_percent ? percent : number, (size_t)used);
    if (style->has_bars) {
        struct text bar = {0};
        size_t room = width > used + 1 ? (size_t)(width - used - 1) : 0;
        text_add_bar(&bar, cell_share(view, row, column), room, style->ascii);
        text_printf(out, " %s", text_string(&bar));
        text_pad(out, ' ', room - text_columns(text_string(&bar)));
        vec_free(&bar);
    } else if (used < width) {
        text_printf(out, "%*s", width - used, percent);
    }
}

double cell_share(const struct view *view, uint32_t row, const struct column *column)
{
    double value = view_cost(view, row, column->metric, column->part);
    double whole = view_whole(view, column->metric);
    bool has_share = metric_is_measured(&view->metrics->at[column->metric]) && whole != 0;
    return has_share && isfinite(value) ? value / whole : 0;
}

const char *cell_units_name(enum cell_units units)
{
    static const char *const names[CELL_UNITS] = {[UNITS_THAT_FIT] = "four digits, units that fit",
                                                  [UNITS_PLAIN] = "all digits, plain units",
                                                  [UNITS_SCIENTIFIC] = "scientific",
                                                  [UNITS_PERCENT] = "percent"};
    return names[units];
}

static const char *const unit_keys[CELL_UNITS] = {[UNITS_THAT_FIT] = "fit",
                                                  [UNITS_PLAIN] = "plain",
                                                  [UNITS_SCIENTIFIC] = "scientific",
                                                  [UNITS_PERCENT] = "percent"};

const char *cell_units_key(enum cell_units units)
{
    return unit_keys[units];
}

enum cell_units cell_units_of_key(const char *key)
{
    int units = 0;
    while (units < CELL_UNITS && strcmp(unit_keys[units], key) != 0)
        units++;
    return (enum cell_units)units;
}
