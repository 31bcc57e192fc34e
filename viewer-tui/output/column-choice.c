#include "viewer-tui/output/column-choice.h"

#include <stdlib.h>

void column_choice_free(struct column_choice *choice)
{
    vec_free(&choice->list);
}

void column_choice_follow(struct column_choice *choice, const struct metrics *metrics)
{
    for (size_t m = choice->list.n / 2; m < metrics->n; m++) {
        bool is_hidden = metrics->at[m].is_aside;
        for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
            vec_push(&choice->list, (struct chosen_column){.metric = m,
                                                           .part = (enum cost_part)part,
                                                           .is_hidden = is_hidden});
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
    struct columns columns = {.at = mem_alloc((choice->list.n + 1) * sizeof *columns.at)};
    for (size_t i = 0; i < choice->list.n; i++) {
        const struct chosen_column *column = &choice->list.at[i];
        if (column_choice_shows(column, metrics))
            columns.at[columns.n++] = (struct column){column->metric, column->part, column->extra};
    }
    return columns;
}

size_t column_choice_move(struct column_choice *choice, const struct metrics *metrics, size_t at,
                          int step)
{
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
