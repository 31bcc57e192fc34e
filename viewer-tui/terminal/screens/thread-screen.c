/* Costs of the selected row in each thread, as bars or as a histogram. A thread of one run is none of another:
 * of two runs that are compared, the page has the threads of one, and a key for the other. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/output/thread-table.h"
#include "viewer-tui/table/columns.h"
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

/* Adds what the page shows, or the statistics. */
static void head(const void *context, size_t index, struct text *out)
{
    const struct thread_screen *page = context;
    struct thread_table table = table_of(page);
    if (index > 0) {
        thread_table_add_statistics(&table, out);
        return;
    }
    thread_table_add_title(&table, out);
    text_add(out, ": ");
    thread_costs_add_number(&page->costs, out);
    text_add(out, ", ");
    if (page->shows_bins)
        text_add(out, "number of threads by cost");
    else
        thread_ordering_add(page->ordering, out);
}

/* Adds a thread or a bin. */
static void line(const void *context, size_t index, struct text *out)
{
    const struct thread_screen *page = context;
    struct thread_table table = table_of(page);
    size_t most = 0;
    if (!page->shows_bins) {
        thread_table_add_line(&table, index, out);
        return;
    }
    for (size_t bin = 0; bin < page->n_bins; bin++)
        most = page->bins[bin] > most ? page->bins[bin] : most;
    double from = distribution_bin_start(&page->costs.distribution, index, page->n_bins);
    double to = distribution_bin_start(&page->costs.distribution, index + 1, page->n_bins);
    text_printf(out, "%*s -%*s%*zu  ", VALUE_WIDTH, number_format(from, &table.scale).text, VALUE_WIDTH,
                number_format(to, &table.scale).text, COUNT_WIDTH, page->bins[index]);
    thread_table_add_bar(&table, (double)page->bins[index], (double)most, out);
}

/* The bin of a thread; page->n_bins: it has no cost. */
static size_t bin_of(const struct thread_screen *page, size_t thread)
{
    double value = page->costs.values[thread];
    return isnan(value) ? page->n_bins : distribution_bin(&page->costs.distribution, value, page->n_bins);
}

/* Sorts the threads, and counts those in each bin; there is one bin if all threads have the same cost. */
static void arrange(struct thread_screen *page)
{
    const struct thread_costs *costs = &page->costs;
    bool differ = costs->distribution.max > costs->distribution.min;
    size_t n = costs->threads.list.n;
    thread_costs_sort(&page->costs, page->ordering.by, page->ordering.is_reversed);
    free(page->bins);
    page->n_bins = differ ? distribution_bins(n, n) : 1;
    page->bins = mem_alloc((page->n_bins + 1) * sizeof *page->bins); /* the last one: threads without cost */
    for (size_t i = 0; i < n; i++)
        page->bins[bin_of(page, i)]++;
}

/* Shows the next part of a metric that is shown and was measured, if there is another. */
static void show_column(struct thread_screen *page, long step)
{
    const struct metrics *metrics = page->costs.view->metrics;
    long n = 2 * (long)metrics->n, start = 2 * (long)page->costs.metric + (page->costs.part == EXCLUSIVE), at = start;
    const struct metric *candidate;
    do {
        at = (at + n + step) % n;
        candidate = &metrics->at[at / 2];
    } while (at != start &&
             (!candidate->is_in[metrics->set] || !metric_is_measured(candidate) || candidate->repeats_work));
    thread_costs_read(&page->costs, (size_t)at / 2, at % 2 ? EXCLUSIVE : INCLUSIVE);
    arrange(page);
}

/* The threads of the selected line; NULL: none. */
static struct thread_set *selected_threads(const struct thread_screen *page, size_t selected)
{
    const struct thread_costs *costs = &page->costs;
    size_t n = costs->threads.list.n, n_picked = 0;
    autofree size_t *picked = mem_alloc((n + 1) * sizeof *picked);
    autofree struct text what = {0};
    struct thread_set *set = NULL;
    if (page->shows_bins) { /* "0.5 s to 0.75 s of work" */
        const struct metric *metric = &costs->view->metrics->at[costs->metric];
        double from = distribution_bin_start(&costs->distribution, selected, page->n_bins);
        double to = distribution_bin_start(&costs->distribution, selected + 1, page->n_bins);
        text_printf(&what, "%s to %s of %s", number_with_unit(from, metric->unit).text,
                    number_with_unit(to, metric->unit).text, metric->name);
        for (size_t i = 0; i < n; i++)
            if (bin_of(page, i) == selected)
                picked[n_picked++] = i;
    } else if (selected < n) {
        picked[n_picked++] = costs->order[selected];
        text_add(&what, costs->labels[picked[0]]);
    }
    if (n_picked)
        set = thread_set_picked(&costs->threads, picked, n_picked, text_string(&what));
    return set;
}

/* Opens the costs of the first run of a comparison that has the row, of the side that page->side says if possible. Of a
 * metric that no thread has, since it is derived, the first measured one stands for it. */
static void open_side(struct thread_screen *page, size_t *metric)
{
    const struct pane *pane = tui_pane(page->tui);
    const struct merged_runs *merged = merged_runs_of(pane->view);
    const uint32_t *rows = merged_rows(pane->view, pane_row(pane));
    size_t run = merged_group_first(merged, (size_t)page->side);
    while (rows[run] == NOTHING)
        run = (run + 1) % merged->runs.n;
    page->side = (int)merged->runs.at[run].group;
    size_t compared = *metric < pane->view->metrics->n_stored ? *metric : metrics_first_measured(pane->view->metrics);
    size_t source = merged_source(merged, pane->view->metrics->at[compared].compared.quantity, run);
    struct view *view = merged_view_of(pane->view, run);
    *metric = source == SIZE_MAX ? metrics_first_measured(view->metrics) : source;
    thread_costs_open(&page->costs, view, rows[run], merged->runs.at[run].run, NULL, page->tui->ascii);
    text_say(&page->title, page->tui->ascii, "[%s] ", comparison_name(merged, page->side));
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
    autofree struct text text = {0};
    text_printf(&text, "thread %s\n", costs->labels[costs->order[selected]]);
    if (*start)
        text_say(&text, page->tui->ascii, "  begins with  %s\n", start);
    if (strcmp(run_text(thread->described, "root"), "thread root") == 0)
        text_add(&text, "  is below     <thread root>, since its creator did not join it\n");
    if (thread->created_at) {
        text_add(&text, "\ncreated at\n");
        thread_origin_add_lines(thread->created_at, page->tui->ascii, &text);
    }
    tui_show_text(page->tui, "one thread", text_string(&text), command_of_key('i'));
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
        list->scroller.selected = list->scroller.top = 0;
        break;
    case '>': show_column(page, 1); break;
    case '<': show_column(page, -1); break;
    case 'T':
        if (page->side == NO_SIDE)
            tui_report(page->tui, PRINT_THREADS, NULL);
        break;
    case 't': page->tui->next = command_of_key(key); break;
    case 'i': show_details(page, list->scroller.selected); break;
    default: return !tui_closes(page->tui, key);
    }
    return !page->tui->next;
}

/* Shows the screen until the user closes it, or wants the other run of a comparison. The threads that the user
 * chose; NULL: none. */
static struct thread_set *show(struct thread_screen *page, bool *other_run)
{
    bool is_compared = page->side != NO_SIDE, chooses;
    struct list list = {.title = text_string(&page->title),
                        .help = is_compared ? " Tab:other run  <,>:metric  s:order  r:reverse  h:bins  i:all  q:back"
                                            : " Enter:only these  <,>:metric  s:order  r:reverse  h:bins  i:all  "
                                              "T:table  t:time  q:back",
                        .n_heads = 2,
                        .head = head,
                        .line = line,
                        .context = page};
    int key;
    do {
        list.scroller.n = page->shows_bins ? page->n_bins : page->costs.threads.list.n;
        key = list_run(&list);
        chooses = key != ' ' && key_is_of(key, tui_toggle);
        *other_run = is_compared && key == '\t';
    } while (!*other_run && (chooses ? is_compared : obey(page, &list, key)));
    return chooses && !page->costs.why ? selected_threads(page, list.scroller.selected) : NULL;
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
            tui_say(tui, "stopped");
        }
        thread_costs_free(&page.costs);
        free(page.bins);
        vec_free(&page.title);
    }
    return picked;
}
