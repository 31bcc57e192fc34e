/* Costs of the selected row in each thread, as bars or as a histogram. A thread of one run is none of another:
 * of two runs that are compared, the page has the threads of one, and a key for the other. */
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/output/thread-table.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/threads/thread-origin.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most columns of labels, so that bars have room, unless the screen is wide. */
#define MOST_LABEL_WIDTH 40

/* Most columns of the name in the title. */
#define MOST_NAME_COLUMNS 60

#define NO_SIDE (-1)

/* Columns of the number of threads in a bin. */
#define COUNT_WIDTH 7

struct thread_screen {
    struct tui *tui;
    int side; /* the run of a comparison; NO_SIDE: one database */
    struct thread_costs costs;
    struct thread_ordering ordering;
    bool shows_bins;
    size_t *bins, n_bins;
    size_t label_width;
    struct text title;
};

/* The table for the width of the screen. */
static struct thread_table table_of(const struct thread_screen *page)
{
    struct thread_table table =
        thread_table_of(&page->costs, page->costs.distribution.max, page->tui->ascii);
    table.label_width = page->label_width;
    table.width = (size_t)screen_width();
    return table;
}

static void add_what(const struct thread_screen *page, struct text *out)
{
    struct thread_table table = table_of(page);
    thread_table_add_title(&table, out);
    text_add(out, ": ");
    thread_costs_add_number(&page->costs, out);
    text_add(out, ", ");
    if (page->shows_bins)
        text_add(out, "number of threads by cost");
    else
        thread_ordering_add(page->ordering, out);
}

static void head(const void *context, size_t index, struct text *out)
{
    const struct thread_screen *page = context;
    struct thread_table table = table_of(page);
    if (index == 0)
        add_what(page, out);
    else
        thread_table_add_statistics(&table, out);
}

static void thread_line(const void *context, size_t index, struct text *out)
{
    const struct thread_screen *page = context;
    struct thread_table table = table_of(page);
    thread_table_add_line(&table, index, out);
}

static void add_bin(const struct thread_screen *page, size_t bin, struct text *out)
{
    const struct distribution *distribution = &page->costs.distribution;
    struct number_scale scale = table_of(page).scale;
    char from[NUMBER_SIZE], to[NUMBER_SIZE];
    number_format(distribution_bin_start(distribution, bin, page->n_bins), &scale, from);
    number_format(distribution_bin_start(distribution, bin + 1, page->n_bins), &scale, to);
    text_printf(out, "%*s -%*s", VALUE_WIDTH, from, VALUE_WIDTH, to);
}

static void bin_line(const void *context, size_t index, struct text *out)
{
    const struct thread_screen *page = context;
    struct thread_table table = table_of(page);
    add_bin(page, index, out);
    text_printf(out, "%*zu  ", COUNT_WIDTH, page->bins[index]);
    size_t most = 0;
    for (size_t bin = 0; bin < page->n_bins; bin++)
        most = page->bins[bin] > most ? page->bins[bin] : most;
    thread_table_add_bar(&table, (double)page->bins[index], (double)most, out);
}

/* Counts the threads in each bin; there is one bin if all threads have the same cost. */
static void count_bins(struct thread_screen *page)
{
    const struct thread_costs *costs = &page->costs;
    bool differ = costs->distribution.max > costs->distribution.min;
    size_t n = costs->threads.list.n;
    free(page->bins);
    page->n_bins = differ ? distribution_bins(n, n) : 1;
    page->bins = mem_alloc(page->n_bins * sizeof *page->bins);
    for (size_t i = 0; i < n; i++)
        if (!isnan(costs->values[i]))
            page->bins[distribution_bin(&costs->distribution, costs->values[i], page->n_bins)]++;
}

static void arrange(struct thread_screen *page)
{
    thread_costs_sort(&page->costs, page->ordering.by, page->ordering.is_reversed);
    count_bins(page);
}

/* Steps to the next part of a metric that is shown and was measured. `metric` and `part` stay if there is
 * no other. */
static void step_column(const struct view *view, long step, size_t *metric, enum cost_part *part)
{
    const struct metrics *metrics = view->metrics;
    long n = 2 * (long)metrics->n, start = 2 * (long)*metric + (*part == EXCLUSIVE);
    for (long at = (start + n + step) % n; at != start; at = (at + n + step) % n) {
        const struct metric *candidate = &metrics->at[at / 2];
        if (!candidate->is_in[metrics->set] || !metric_is_measured(candidate) ||
            candidate->repeats_work)
            continue;
        *metric = (size_t)at / 2;
        *part = at % 2 ? EXCLUSIVE : INCLUSIVE;
        return;
    }
}

static void show_column(struct thread_screen *page, long step)
{
    size_t metric = page->costs.metric;
    enum cost_part part = page->costs.part;
    step_column(page->costs.view, step, &metric, &part);
    thread_costs_read(&page->costs, metric, part);
    arrange(page);
}

/* Adds the name of a bin: "0.5 s to 0.75 s of work". */
static void add_name_of_bin(const struct thread_screen *page, size_t bin, struct text *out)
{
    const struct distribution *distribution = &page->costs.distribution;
    const struct metric *metric = &page->costs.view->metrics->at[page->costs.metric];
    char from[NUMBER_WITH_UNIT_SIZE], to[NUMBER_WITH_UNIT_SIZE];
    number_with_unit(distribution_bin_start(distribution, bin, page->n_bins), metric->unit, from);
    number_with_unit(distribution_bin_start(distribution, bin + 1, page->n_bins), metric->unit, to);
    text_printf(out, "%s to %s of %s", from, to, metric->name);
}

/* The threads of the selected line; NULL: none. */
static struct thread_set *selected_threads(const struct thread_screen *page, size_t selected)
{
    const struct thread_costs *costs = &page->costs;
    size_t n = costs->threads.list.n, n_picked = 0;
    size_t *picked = mem_alloc((n + 1) * sizeof *picked);
    struct text what = {0};
    if (page->shows_bins) {
        add_name_of_bin(page, selected, &what);
        for (size_t i = 0; i < n; i++)
            if (!isnan(costs->values[i]) &&
                distribution_bin(&costs->distribution, costs->values[i], page->n_bins) == selected)
                picked[n_picked++] = i;
    } else if (selected < n) {
        picked[n_picked++] = costs->order[selected];
        text_add(&what, costs->labels[picked[0]]);
    }
    struct thread_set *set = NULL;
    if (n_picked)
        set = thread_set_picked(&costs->threads, picked, n_picked, text_string(&what));
    free(picked);
    vec_free(&what);
    return set;
}

/* Opens the costs of the first run of a comparison that has the row, of the side that page->side says if possible. Of a
 * metric that no thread has, since it is derived, the first measured one stands for it. */
static void open_side(struct thread_screen *page, size_t *metric)
{
    const struct pane *pane = tui_pane(page->tui);
    const struct comparison *comparison = session_comparison(page->tui->session, page->tui->projection);
    const struct merged_runs *merged = &comparison->merged;
    const uint32_t *rows = merged_rows(pane->view, pane_row(pane));
    size_t run = merged_group_first(merged, (size_t)page->side);
    while (rows[run] == NOTHING)
        run = (run + 1) % merged->runs.n;
    page->side = (int)merged->runs.at[run].group;
    size_t compared = *metric < pane->view->metrics->n_stored ? *metric : metrics_first_measured(pane->view->metrics);
    size_t quantity = pane->view->metrics->at[compared].compared.sides[0] / MERGED_COLUMNS;
    size_t source = merged->sources.at[quantity * merged->runs.n + run];
    struct view *view = merged_view_of(pane->view, run);
    *metric = source == SIZE_MAX ? metrics_first_measured(view->metrics) : source;
    thread_costs_open(&page->costs, view, rows[run], page->tui->session->runs[run]->run, NULL, page->tui->ascii);
    text_add(&page->title, "[");
    text_add_clean(&page->title, comparison->options->names[page->side], page->tui->ascii);
    text_add(&page->title, "] ");
}

/* *metric becomes its index among the metrics of the costs. */
static void open_page(struct thread_screen *page, size_t *metric)
{
    const struct pane *pane = tui_pane(page->tui);
    const struct session *session = page->tui->session;
    text_add(&page->title, "threads: ");
    if (page->side != NO_SIDE)
        open_side(page, metric);
    else
        thread_costs_open(&page->costs, pane->view, pane_row(pane), session->run, session->threads,
                          page->tui->ascii);
    page->label_width = thread_costs_label_width(&page->costs);
    size_t half = (size_t)screen_width() / 2;
    size_t most = half > MOST_LABEL_WIDTH ? half : MOST_LABEL_WIDTH;
    if (page->label_width > most)
        page->label_width = most;
    describe_short_name(pane->view, pane_row(pane), page->tui->ascii, MOST_NAME_COLUMNS,
                        &page->title);
}

/* Shows the selected thread's name, start routine and creation context. */
static void show_details(const struct thread_screen *page, size_t selected)
{
    const struct thread_costs *costs = &page->costs;
    if (page->shows_bins || selected >= costs->threads.list.n)
        return;
    const struct thread *thread = &costs->threads.list.at[costs->order[selected]];
    const char *start = run_text(thread->described, "start_routine");
    struct text text = {0};
    text_printf(&text, "thread %s\n", costs->labels[costs->order[selected]]);
    if (*start) {
        text_add(&text, "  begins with  ");
        text_add_clean(&text, start, page->tui->ascii);
        text_add(&text, "\n");
    }
    if (strcmp(run_text(thread->described, "root"), "thread root") == 0)
        text_add(&text, "  is below     <thread root>, since its creator did not join it\n");
    if (thread->created_at) {
        text_add(&text, "\ncreated at\n");
        thread_origin_add_lines(thread->created_at, page->tui->ascii, &text);
    }
    tui_show_text(page->tui, "one thread", text_string(&text), COMMAND_INSPECT);
    vec_free(&text);
}

/* Carries out a key other than a move; false if it closes the screen. */
static bool obey(struct thread_screen *page, struct list *list, int key)
{
    if (thread_ordering_obey(&page->ordering, key)) {
        thread_costs_sort(&page->costs, page->ordering.by, page->ordering.is_reversed);
        return true;
    }
    switch (key) {
    case 'h':
        page->shows_bins = !page->shows_bins;
        list->selected = list->top = 0;
        break;
    case '>': show_column(page, 1); break;
    case '<': show_column(page, -1); break;
    case 't':
        if (page->side == NO_SIDE)
            tui_report(page->tui, "threads", COMMAND_NONE, print_threads);
        break;
    case 'i': show_details(page, list->selected); break;
    default: return !tui_closes(page->tui, key, COMMAND_THREADS);
    }
    return page->tui->next == COMMAND_NONE;
}

static bool is_choice(int key)
{
    return key != ' ' && keys_command(key) == COMMAND_TOGGLE;
}

/* Shows the screen until the user closes it, or wants the other run of a comparison. The threads that the user
 * chose; NULL: none. */
static struct thread_set *show(struct thread_screen *page, bool *other_run)
{
    bool is_compared = page->side != NO_SIDE;
    struct list list = {.title = text_string(&page->title),
                        .help = is_compared ? " Tab:other run  <,>:metric  s:order  r:reverse  h:bins  i:all  q:back"
                                            : " Enter:only these  <,>:metric  s:order  r:reverse  h:bins  i:all  "
                                              "t:table  q:back",
                        .n_heads = 2,
                        .head = head,
                        .context = page};
    int key;
    do {
        list.n = page->shows_bins ? page->n_bins : page->costs.threads.list.n;
        list.line = page->shows_bins ? bin_line : thread_line;
        key = list_run(&list);
        *other_run = is_compared && key == '\t';
    } while (!*other_run && (is_compared || !is_choice(key)) && (is_choice(key) || obey(page, &list, key)));
    return !is_compared && is_choice(key) && !page->costs.why ? selected_threads(page, list.selected) : NULL;
}

struct thread_set *tui_threads(struct tui *tui)
{
    const struct sorting *sorting = &tui_pane(tui)->view->sorting;
    struct thread_set *picked = NULL;
    bool is_again = true; /* the other run is wanted */
    for (int side = session_is_comparison(tui->session) ? SIDES - 1 : NO_SIDE; is_again; side = !side) {
        struct thread_screen page = {.tui = tui, .side = side};
        size_t metric = sorting->metric;
        is_again = false;
        open_page(&page, &metric);
        side = page.side;
        if (thread_costs_read(&page.costs, metric, sorting->part) == DONE) {
            arrange(&page);
            picked = show(&page, &is_again);
        } else {
            text_add(&tui->message, "stopped");
        }
        thread_costs_free(&page.costs);
        free(page.bins);
        vec_free(&page.title);
    }
    return picked;
}
