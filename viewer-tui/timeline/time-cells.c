#include "viewer-tui/timeline/time-cells.h"

#include "lib/alloc.h"
#include "viewer-tui/base/scope.h"
#include "viewer-tui/db/time-samples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums by value ---- */

/* Sums of one row by value and column, so that the largest of each cell can be found. Only values that the row has take
 * room. */
struct value_sums {
    unsigned columns;
    uint32_t *slots;      /* by value: its index in `sums` + 1; 0: none yet */
    VEC(uint32_t) values; /* by index */
    double *sums;         /* by index and column */
    size_t room;          /* in values */
};

static double *sums_of(struct value_sums *sums, uint32_t value)
{
    if (!sums->slots[value]) {
        vec_push(&sums->values, value);
        sums->slots[value] = (uint32_t)sums->values.n;
        if (sums->values.n > sums->room) {
            size_t before = sums->room * sums->columns;
            sums->room = sums->room * 2 + 8;
            sums->sums = mem_resize(sums->sums, sums->room * sums->columns, sizeof *sums->sums);
            memset(sums->sums + before, 0, (sums->room * sums->columns - before) * sizeof *sums->sums);
        }
    }
    return sums->sums + (size_t)(sums->slots[value] - 1) * sums->columns;
}

/* Of equal ones the value with the smaller number. */
static void take_largest(const struct value_sums *sums, struct time_cell *cells)
{
    for (size_t i = 0; i < sums->values.n; i++)
        for (unsigned column = 0; column < sums->columns; column++) {
            double amount = sums->sums[i * sums->columns + column];
            struct time_cell *cell = &cells[column];
            bool is_first = cell->value == NOTHING || sums->values.at[i] < cell->value;
            if (amount > cell->of_value || (amount > 0 && amount >= cell->of_value && is_first)) {
                cell->value = sums->values.at[i];
                cell->of_value = amount;
            }
        }
}

/* ---- windows ---- */

uint64_t time_window_at(const struct time_window *window, unsigned column)
{
    double length = (double)(window->end - window->begin);
    return column >= window->n ? window->end : window->begin + (uint64_t)(length * column / window->n);
}

unsigned time_window_column(const struct time_window *window, uint64_t time)
{
    if (time <= window->begin)
        return 0;
    double at = (double)(time - window->begin) / (double)(window->end - window->begin) * window->n;
    unsigned column = at < window->n ? (unsigned)at : window->n - 1;
    while (column + 1 < window->n && time_window_at(window, column + 1) <= time) /* rounding */
        column++;
    while (column > 0 && time_window_at(window, column) > time)
        column--;
    return column;
}

uint64_t *time_window_bounds(const struct time_window *window)
{
    assert(window->n > 0);
    uint64_t *bounds = mem_alloc((window->n + (size_t)1) * sizeof *bounds);
    for (unsigned column = 0; column <= window->n; column++)
        bounds[column] = time_window_at(window, column);
    return bounds;
}

/* ---- cells ---- */

/* A row while samples are added. */
struct row_sums {
    const struct time_query *query;
    const struct time_samples *sample; /* that is being added */
    double unit;      /* of an amount */
    bool has_waits;   /* timeline_has_waits */
    struct time_cell *cells;
    struct value_sums values;
    uint32_t last_place; /* the place of the record before, */
    double *last_sums; /* and the sums of its value; NULL: it has none. Records of one place often follow each other */
};

/* Adds a part of the sample to a cell. `part`: times the unit of an amount. */
static inline void add_sample(void *context, unsigned column, double part)
{
    struct row_sums *row = context;
    const struct time_samples *sample = row->sample;
    const struct time_query *query = row->query;
    struct time_cell *cell = &row->cells[column];
    for (uint64_t i = sample->first; i < sample->next; i++) {
        enum trace_state state = time_sample_state(sample, i);
        double amount = (double)trace_amount(sample->records[i].amount) * part;
        uint32_t place = sample->records[i].place;
        cell->states[state] += amount;
        if (record_ran(row->has_waits, sample->records[i].amount))
            cell->cpu += amount;
        if (place >= query->timeline->header.n_places)
            continue;
        if (query->marks && query->marks[place])
            cell->marked += amount;
        if (query->values && place != row->last_place) {
            row->last_place = place;
            row->last_sums = query->values[place] != NOTHING ? sums_of(&row->values, query->values[place]) : NULL;
        }
        if (row->last_sums)
            row->last_sums[column] += amount;
    }
}

static void add_thread(struct row_sums *row, const struct timeline_thread *thread, const uint64_t *bounds)
{
    const struct time_window *window = &row->query->window;
    struct time_samples samples = time_samples_from(row->query->timeline, thread, window->begin);
    unsigned column = 0;
    row->sample = &samples;
    while (time_samples_next(&samples) && samples.begin < window->end)
        if (samples.end > window->begin || samples.begin >= window->begin)
            time_window_divide(bounds, window->n, &column, samples.begin, samples.end, row->unit, add_sample, row);
}

void time_cells_find(const struct time_query *query, const struct timeline_thread *const *threads, size_t n,
                     struct time_cell *cells)
{
    const struct time_window *window = &query->window;
    autofree uint64_t *bounds = time_window_bounds(window);
    struct row_sums row = {.query = query,
                           .unit = timeline_amount(query->timeline, query->timeline->is_time ? 1e9 : 1),
                           .has_waits = timeline_has_waits(query->timeline),
                           .cells = cells,
                           .values = {.columns = window->n},
                           .last_place = NOTHING};
    if (query->values)
        row.values.slots = mem_alloc((query->n_values + 1) * sizeof *row.values.slots);
    for (unsigned column = 0; column < window->n; column++)
        cells[column] = (struct time_cell){.value = NOTHING};
    for (size_t t = 0; t < n; t++)
        add_thread(&row, threads[t], bounds);
    take_largest(&row.values, cells);
    free(row.values.slots);
    free(row.values.sums);
    vec_free(&row.values.values);
}

double time_cell_sum(const struct time_cell *cell)
{
    double sum = 0;
    for (int state = 0; state < TRACE_STATES; state++)
        sum += cell->states[state];
    return sum;
}
