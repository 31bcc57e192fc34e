#include "viewer-tui/timeline/time-chart.h"

#include "viewer-tui/db/time-samples.h"

#include <math.h>
#include <stdlib.h>

static void forget_cells(struct time_chart *chart)
{
    for (size_t i = 0; i < chart->cells.n; i++)
        free(chart->cells.at[i]);
    chart->cells.n = 0;
    for (size_t i = 0; i < chart->rows.rows.n; i++)
        vec_push(&chart->cells, NULL);
}

static void forget_all(struct time_chart *chart)
{
    forget_cells(chart);
    free(chart->strip);
    chart->strip = NULL;
}

struct time_window time_chart_whole(const struct time_chart *chart, unsigned columns)
{
    uint64_t end = chart->timeline->end > columns ? chart->timeline->end : columns;
    return (struct time_window){.end = end, .n = columns};
}

struct time_chart time_chart_of(const struct timeline *timeline, const struct place_scopes *scopes,
                                struct threads threads, unsigned columns)
{
    struct time_chart chart = {.timeline = timeline, .scopes = scopes, .rows = thread_rows_of(timeline, threads)};
    chart.window = time_chart_whole(&chart, columns);
    forget_all(&chart);
    return chart;
}

void time_chart_free(struct time_chart *chart)
{
    forget_all(chart);
    thread_rows_free(&chart->rows);
    free(chart->procedures);
    free(chart->marks);
    vec_free(&chart->cells);
}

void time_chart_show(struct time_chart *chart, uint64_t begin, uint64_t end, unsigned columns)
{
    struct time_window whole = time_chart_whole(chart, columns), before = chart->window;
    uint64_t length = end > begin ? end - begin : 0;
    length = length < columns ? columns : length;
    length = length > whole.end ? whole.end : length;
    begin = begin > whole.end - length ? whole.end - length : begin;
    chart->window = (struct time_window){begin, begin + length, columns};
    if (before.begin != begin || before.end != begin + length || before.n != columns)
        forget_all(chart);
}

void time_chart_zoom(struct time_chart *chart, double factor, uint64_t time)
{
    const struct time_window *window = &chart->window;
    double length = (double)(window->end - window->begin) * factor;
    double begin = (double)time - ((double)time - (double)window->begin) * factor;
    begin = fmax(begin, 0);
    time_chart_show(chart, (uint64_t)begin, (uint64_t)(begin + length), window->n);
}

void time_chart_pan(struct time_chart *chart, long columns)
{
    const struct time_window *window = &chart->window;
    double length = (double)(window->end - window->begin);
    double begin = fmax((double)window->begin + length * (double)columns / window->n, 0);
    time_chart_show(chart, (uint64_t)begin, (uint64_t)(begin + length), window->n);
}

void time_chart_set_depth(struct time_chart *chart, uint32_t depth)
{
    free(chart->procedures);
    chart->depth = depth;
    chart->procedures = depth ? place_procedures(chart->scopes, depth) : NULL;
    forget_cells(chart);
}

void time_chart_mark(struct time_chart *chart, bool *marks)
{
    free(chart->marks);
    chart->marks = marks;
    forget_cells(chart);
}

void time_chart_group(struct time_chart *chart, enum thread_grouping grouping)
{
    thread_rows_group(&chart->rows, chart->timeline, grouping);
    forget_cells(chart);
}

void time_chart_toggle(struct time_chart *chart, size_t row)
{
    thread_rows_toggle(&chart->rows, row);
    forget_cells(chart);
}

static struct time_cell *find_cells(const struct time_chart *chart, const struct time_query *query, size_t first,
                                    size_t n)
{
    struct time_cell *cells = mem_alloc(chart->window.n * sizeof *cells);
    time_cells_find(query, chart->rows.records + first, n, cells);
    return cells;
}

const struct time_cell *time_chart_cells(struct time_chart *chart, size_t row)
{
    const struct thread_row *of = &chart->rows.rows.at[row];
    struct time_query query = {.timeline = chart->timeline,
                               .window = chart->window,
                               .values = chart->procedures,
                               .n_values = chart->depth ? database_n_procedures(chart->scopes->db) : 0,
                               .marks = chart->marks};
    if (!chart->cells.at[row])
        chart->cells.at[row] = find_cells(chart, &query, of->first, of->n);
    return chart->cells.at[row];
}

/* The sum over the groups; false if the cells of one were not found yet. */
static bool add_groups(struct time_chart *chart, struct time_cell *strip)
{
    size_t n = 0;
    for (size_t row = 0; row < chart->rows.rows.n; row++) {
        const struct thread_row *of = &chart->rows.rows.at[row];
        bool is_top = of->is_group || chart->rows.grouping == BY_THREAD;
        if (is_top && !chart->cells.at[row])
            return false;
        for (unsigned column = 0; is_top && column < chart->window.n; column++) {
            const struct time_cell *cell = &chart->cells.at[row][column];
            for (int state = 0; state < TRACE_STATES; state++)
                strip[column].states[state] += cell->states[state];
            strip[column].cpu += cell->cpu;
        }
        n += is_top ? of->n : 0;
    }
    return n == chart->rows.n;
}

const struct time_cell *time_chart_strip(struct time_chart *chart)
{
    struct time_query query = {.timeline = chart->timeline, .window = chart->window};
    if (chart->strip)
        return chart->strip;
    chart->strip = mem_alloc(chart->window.n * sizeof *chart->strip);
    if (!add_groups(chart, chart->strip))
        time_cells_find(&query, chart->rows.records, chart->rows.n, chart->strip);
    return chart->strip;
}

/* ---- idle stretches ---- */

/* Whether a stretch is longer than another one; of equal ones the first one counts as longer. */
static bool is_longer(const struct time_stretch *a, const struct time_stretch *than)
{
    uint64_t length = a->end - a->begin, other = than->end - than->begin;
    if (length != other)
        return length > other;
    return a->thread != than->thread ? a->thread < than->thread : a->begin < than->begin;
}

static bool is_idle(enum trace_state state, bool waits)
{
    return waits ? state == TRACE_WAITING : state == TRACE_IDLE || state == TRACE_NOBODY;
}

/* The search for the longest stretch. */
struct idle_search {
    const struct time_chart *chart;
    const struct time_stretch *before;
    bool waits; /* for threads that wait, not for idle ones */
    struct time_stretch longest;
};

static void take(struct idle_search *search, const struct time_stretch *stretch)
{
    bool is_new = !search->before || is_longer(search->before, stretch);
    if (stretch->end > 0 && is_new && is_longer(stretch, &search->longest))
        search->longest = *stretch;
}

/* Whether at least half of a sample is idle. */
static bool sample_is_idle(const struct time_samples *sample, bool waits)
{
    uint64_t idle = 0;
    for (uint64_t i = sample->first; i < sample->next; i++)
        if (is_idle(time_sample_state(sample, i), waits))
            idle += trace_amount(sample->records[i].amount);
    return idle > 0 && 2 * idle >= sample->amount;
}

/* Looks at a thread. A gap that is longer than the sample after it ends a stretch. */
static void look_at(struct idle_search *search, size_t thread)
{
    const struct time_chart *chart = search->chart;
    struct time_samples sample = time_samples_from(chart->timeline, chart->rows.records[thread], 0);
    struct time_stretch stretch = {.thread = thread};
    while (time_samples_next(&sample)) {
        bool idles = sample_is_idle(&sample, search->waits);
        bool continues = stretch.end > 0 && sample.begin - stretch.end <= sample.end - sample.begin;
        if (!idles || !continues) {
            take(search, &stretch);
            stretch.end = 0;
        }
        if (idles && stretch.end == 0)
            stretch.begin = sample.begin;
        if (idles)
            stretch.end = sample.end;
    }
    take(search, &stretch);
}

bool time_chart_longest_idle(const struct time_chart *chart, const struct time_stretch *before,
                             struct time_stretch *longest)
{
    struct idle_search search = {.chart = chart, .before = before};
    for (int waits = 0; waits < 2; waits++) {
        search.waits = waits;
        for (size_t thread = 0; thread < chart->rows.n; thread++)
            look_at(&search, thread);
        if (search.longest.end > 0)
            break;
    }
    *longest = search.longest;
    return longest->end > 0;
}

size_t time_chart_thread(const struct time_chart *chart, uint32_t profile)
{
    const struct thread_rows *rows = &chart->rows;
    size_t i = 0;
    while (i < rows->n && rows->threads.list.at[rows->order[i]].profile != profile)
        i++;
    return i;
}

size_t time_chart_row(const struct time_chart *chart, size_t thread)
{
    size_t row = 0;
    for (size_t i = 0; i < chart->rows.rows.n; i++) {
        const struct thread_row *at = &chart->rows.rows.at[i];
        if (thread >= at->first && thread < at->first + at->n)
            row = i; /* the last one: the thread's own row comes after its group's */
    }
    return row;
}
