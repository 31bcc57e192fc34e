#include "viewer-tui/table/column-choice.h"

#include "viewer-tui/db/metric-selection.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void column_choice_free(struct column_choice *choice)
{
    vec_free(&choice->list);
}

void column_choice_follow(struct column_choice *choice, const struct metrics *metrics)
{
    for (size_t m = choice->list.n / 2; m < metrics->n; m++) {
        const struct metric *metric = &metrics->at[m];
        for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
            vec_push(&choice->list,
                     (struct chosen_column){.metric = m,
                                            .part = (enum cost_part)part,
                                            .is_hidden = metric_is_set_aside(metric) || metric->is_part_hidden[part]});
    }
}

bool column_choice_shows(const struct chosen_column *column, const struct metrics *metrics)
{
    const struct metric *metric = &metrics->at[column->metric];
    bool says_something = metric_says_something(metric) || column->is_wanted;
    return !column->is_hidden && says_something && metric->is_in[metrics->set];
}

void column_choice_toggle(struct chosen_column *column, const struct metrics *metrics)
{
    column->is_hidden = column_choice_shows(column, metrics);
    column->is_wanted = !column->is_hidden;
}

struct columns column_choice_shown(const struct column_choice *choice,
                                   const struct metrics *metrics)
{
    struct columns columns = {0};
    for (size_t i = 0; i < choice->list.n; i++) {
        const struct chosen_column *column = &choice->list.at[i];
        if (column_choice_shows(column, metrics))
            vec_push(&columns, (struct column){column->metric, column->part});
    }
    return columns;
}

size_t column_choice_move(struct column_choice *choice, const struct metrics *metrics, size_t at,
                          int step)
{
    assert(at < choice->list.n && (step == 1 || step == -1));
    size_t to = at;
    do {
        if (step < 0 ? to == 0 : to + 1 >= choice->list.n)
            return at;
        to = step < 0 ? to - 1 : to + 1;
    } while (!metrics->at[choice->list.at[to].metric].is_in[metrics->set]);
    struct chosen_column moved = choice->list.at[at];
    for (; at != to; at = step < 0 ? at - 1 : at + 1)
        choice->list.at[at] = choice->list.at[step < 0 ? at - 1 : at + 1];
    choice->list.at[to] = moved;
    return to;
}

/* Parses the first column of the text. Of several names that fit it takes the longest: names can
 * contain commas and colons. False if there is none. */
static bool first_column(const struct metrics *metrics, const char *text, struct chosen_column *column)
{
    size_t longest = 0;
    for (size_t m = 0; m < metrics->n; m++)
        for (int part = INCLUSIVE; part <= EXCLUSIVE; part++) {
            size_t length = strlen(metrics->at[m].name), ending = strlen(choose_part_endings[part]);
            bool fits = strncmp(text, metrics->at[m].name, length) == 0 &&
                        strncmp(text + length, choose_part_endings[part], ending) == 0;
            char *end = (char *)text + (fits ? length + ending : 0);
            if (fits && (*end == '+' || *end == '-')) /* a width, of an earlier version */
                strtol(end, &end, 10);
            if (fits && length > longest && (*end == ',' || *end == '\0')) {
                *column = (struct chosen_column){.metric = m, .part = (enum cost_part)part};
                longest = length;
            }
        }
    return longest > 0;
}

/* The index in the choice's list; list.n if it is not there. */
static size_t find(const struct column_choice *choice, size_t metric, enum cost_part part)
{
    size_t i = 0;
    while (i < choice->list.n &&
           (choice->list.at[i].metric != metric || choice->list.at[i].part != part))
        i++;
    return i;
}

/* Appends the columns that the text does not name. */
static void add_others(struct column_choice *choice, const struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n; m++) {
        const struct metric *metric = &metrics->at[m];
        size_t n = choice->list.n;
        bool is_named[] = {find(choice, m, INCLUSIVE) < n, find(choice, m, EXCLUSIVE) < n};
        bool is_usual = metric->is_in[SET_CHOSEN] && !metric_derivation(metric);
        bool is_hidden = is_usual || is_named[0] || is_named[1] || metric_is_set_aside(metric);
        for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
            if (!is_named[part])
                vec_push(&choice->list,
                         (struct chosen_column){.metric = m, .part = (enum cost_part)part, .is_hidden = is_hidden});
    }
}

void column_text_take(struct column_choice *choice, const struct metrics *metrics, const char *text)
{
    struct chosen_column column;
    while (*text) {
        bool is_there = first_column(metrics, text, &column);
        if (is_there && find(choice, column.metric, column.part) == choice->list.n)
            vec_push(&choice->list, column);
        text += is_there ? strlen(metrics->at[column.metric].name) : 0;
        text += strcspn(text, ",");
        text += *text == ',';
    }
    choice->is_made = choice->list.n > 0;
    if (choice->is_made)
        add_others(choice, metrics);
}

void column_text_add(const struct column_choice *choice, const struct metrics *metrics,
                     struct text *out)
{
    const char *comma = "";
    for (size_t i = 0; i < choice->list.n; i++) {
        const struct chosen_column *column = &choice->list.at[i];
        const struct metric *metric = &metrics->at[column->metric];
        bool is_line = !strpbrk(metric->name, "\r\n");
        if (column->is_hidden || !metric->is_in[SET_CHOSEN] || !is_line)
            continue;
        text_printf(out, "%s%s%s", comma, metric->name, choose_part_endings[column->part]);
        comma = ",";
    }
}
