/* Costs of the selected row in each thread, as bars. A thread of one run is none of another:
 * of two runs that are compared, the page has the threads of one, and a key for the other. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/threads/thread-origin.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/thread-costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most columns of labels, so that bars have room, unless the screen is wide. */
#define MOST_LABEL_WIDTH 40

/* Most columns of the name in the title. */
#define MOST_NAME_COLUMNS 60

#define NO_SIDE (-1)

/* Lines above the threads. */
#define N_HEADS 2

struct thread_screen {
    struct tui *tui;
    int side; /* the run of a comparison; NO_SIDE: one database */
    struct thread_costs costs;
    enum thread_order order;
    bool is_reversed;
    size_t label_width; /* longer labels lose their beginning */
    struct text title;
    struct list list;
    bool is_left; /* for all views about the selected threads, or if the page has a side for the other run */
};

static const struct metric *metric_of(const struct thread_screen *page)
{
    return &page->costs.view->metrics->at[page->costs.metric];
}

/* The scale that suits the largest value. */
static struct number_scale scale_of(const struct thread_screen *page)
{
    return number_scale_for(page->costs.distribution.max, metric_of(page)->unit);
}

/* The mean of counts is often not a whole number; below this, "%.4g" writes no exponents. */
#define MOST_EXACT 1000

/* Adds "min 1.2  mean 3.4 ...", or why there are no values. Lower bounds have no deviation. */
static void add_statistics(const struct thread_screen *page, struct text *out)
{
    const struct distribution *values = &page->costs.distribution;
    const struct metric *metric = metric_of(page);
    struct number_scale scale = scale_of(page);
    bool is_count = scale.decimals == 0 && scale.divisor == 1, is_bound = metric_is_lower_bound(metric);
    const struct {
        const char *name;
        double value;
    } statistics[] = {{"min", values->min},
                      {"mean", values->mean},
                      {"median", values->median},
                      {"max", values->max},
                      {"stddev", is_bound ? NAN : values->stddev}};
    if (page->costs.why) {
        text_say(out, page->tui->ascii, "- %s", page->costs.why);
        return;
    }
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        struct number_text number = number_format(statistics[i].value, &scale);
        if (isnan(statistics[i].value))
            continue;
        if (is_bound)
            number = columns_value(metric, statistics[i].value, &scale);
        else if (is_count && statistics[i].value < MOST_EXACT)
            snprintf(number.text, sizeof number.text, "%.4g", statistics[i].value);
        text_printf(out, "%s %s  ", statistics[i].name, number.text);
    }
    if (!is_bound && values->imbalance > 0)
        text_printf(out, "max/mean %.2f", values->imbalance);
}

/* Adds "TITLE, UNIT, inclusive: 4 threads, by value". */
static void add_head(const struct thread_screen *page, struct text *out)
{
    static const char *const orders[THREAD_ORDERS] = {
        [BY_VALUE] = "by value", [BY_NUMBER] = "in their order", [BY_LABEL] = "by name"};
    size_t n = page->costs.threads.list.n;
    columns_title(metric_of(page), scale_of(page).unit, (struct title_cuts){0}, page->tui->ascii, out);
    text_printf(out, ", %s: %zu thread%s, %s%s", page->costs.part == INCLUSIVE ? "inclusive" : "exclusive", n,
                n == 1 ? "" : "s", orders[page->order], page->is_reversed ? ", reversed" : "");
}

/* Threads of one program differ in the ends of their labels, so a long one loses its beginning. */
static void add_label(const struct thread_screen *page, const char *label, struct text *out)
{
    size_t columns = text_columns(label), width = page->label_width;
    autofree struct text shown = {0};
    if (columns > width && width > 0) {
        text_add(&shown, page->tui->ascii ? "<" : "…");
        label = text_skip(label, columns - width + 1);
    }
    text_add(&shown, label);
    text_cut(&shown, width);
    text_add(out, text_string(&shown));
    text_pad(out, ' ', width - text_columns(text_string(&shown)));
}

/* Adds one of the heads, which are what the page shows and the statistics, or a thread. Its bar ends at the end of the
 * line if it has the largest value. */
static void line(const void *context, size_t index, struct text *out)
{
    const struct thread_screen *page = context;
    const struct thread_costs *costs = &page->costs;
    const struct metric *metric = metric_of(page);
    struct number_scale scale = scale_of(page);
    if (index < N_HEADS) {
        index ? add_statistics(page, out) : add_head(page, out);
        return;
    }
    size_t thread = costs->order[index - N_HEADS], width = (size_t)screen_width();
    double value = costs->why ? NAN : costs->values[thread];
    columns_add_cell(metric, value, &scale, metric->is_ratio ? 0 : costs->distribution.sum, VALUE_WIDTH, out);
    text_add(out, "  ");
    add_label(page, costs->labels[thread], out);
    text_add(out, " ");
    size_t used = text_columns(text_string(out));
    if (value > 0 && used < width)
        text_add_bar(out, value / costs->distribution.max, width - used, page->tui->ascii);
}

static void sort(struct thread_screen *page)
{
    thread_costs_sort(&page->costs, page->order, page->is_reversed);
}

/* Shows the next part of a metric that is shown and was measured, if there is another. */
static void next_column(struct tui *tui)
{
    struct thread_screen *page = tui->thread_page;
    const struct metrics *metrics = page->costs.view->metrics;
    long n = 2 * (long)metrics->n, start = 2 * (long)page->costs.metric + (page->costs.part == EXCLUSIVE), at = start;
    const struct metric *candidate;
    do {
        at = (at + n + tui->command->argument) % n;
        candidate = &metrics->at[at / 2];
    } while (at != start &&
             (!candidate->is_in[metrics->set] || !metric_is_measured(candidate) || candidate->repeats_work));
    thread_costs_read(&page->costs, (size_t)at / 2, at % 2 ? EXCLUSIVE : INCLUSIVE);
    sort(page);
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
    size_t half = (size_t)screen_width() / 2, most = half > MOST_LABEL_WIDTH ? half : MOST_LABEL_WIDTH;
    for (size_t i = 0; i < page->costs.threads.list.n; i++) {
        size_t width = text_columns(page->costs.labels[i]);
        page->label_width = width > page->label_width ? width : page->label_width;
    }
    page->label_width = page->label_width > most ? most : page->label_width;
    describe_short_name(pane->view, pane_row(pane), page->tui->ascii, MOST_NAME_COLUMNS,
                        &page->title);
}

/* ---- keys ---- */

static void next_order(struct tui *tui)
{
    struct thread_screen *page = tui->thread_page;
    page->order = (page->order + 1) % THREAD_ORDERS;
    page->is_reversed = false;
    sort(page);
}

static void reverse(struct tui *tui)
{
    tui->thread_page->is_reversed = !tui->thread_page->is_reversed;
    sort(tui->thread_page);
}

static void show_table(struct tui *tui)
{
    if (tui->thread_page->side == NO_SIDE)
        tui_report(tui, PRINT_THREADS, NULL);
}

static void go_to_time_view(struct tui *tui)
{
    tui->next = command_of_key('t');
}

/* The argument: whether only a page that has a side is left. */
static void leave(struct tui *tui)
{
    bool has_side = tui->thread_page->side != NO_SIDE;
    tui->thread_page->is_left = has_side == tui->command->argument;
}

/* Shows the selected thread's name, start routine and creation context. */
static void show_details(struct tui *tui)
{
    const struct thread_screen *page = tui->thread_page;
    const struct thread_costs *costs = &page->costs;
    size_t selected = page->list.scroller.selected;
    if (selected >= costs->threads.list.n)
        return;
    const struct thread *thread = &costs->threads.list.at[costs->order[selected]];
    const char *start = run_text(thread->described, "start_routine");
    autofree struct text text = {0};
    text_printf(&text, "thread %s\n", costs->labels[costs->order[selected]]);
    if (*start)
        text_say(&text, tui->ascii, "  begins with  %s\n", start);
    if (strcmp(run_text(thread->described, "root"), "thread root") == 0)
        text_add(&text, "  is below     <thread root>, since its creator did not join it\n");
    if (thread->created_at) {
        text_add(&text, "\ncreated at\n");
        thread_origin_add_lines(thread->created_at, tui->ascii, &text);
    }
    tui_show_text(tui, "one thread", text_string(&text), command_of_key('i'));
}

const struct family thread_family = {
    "Threads (key 4)",
    COMMANDS({"Enter", "all views are about these threads alone", leave, false, 0},
             {">", "the next metric, or part of it", next_column, 1, 0},
             {"<", "the one before", next_column, -1, 0},
             {"s", "the next order: by value, in their order, by name", next_order, 0, 0},
             {"r", "reverse the order", reverse, 0, 0},
             {"i", "the selected thread: name, first procedure, where it was created", show_details, 0, 0},
             {"T", "the table of --print threads", show_table, 0, 0},
             {"t", "when it ran: the time line of the row", go_to_time_view, 0, 0},
             {"Tab", "comparing: the threads of the other run", leave, true, 0})};

/* Shows the page of one run until the user leaves it. Returns the threads that the user chose; NULL: none. */
static struct thread_set *show(struct thread_screen *page)
{
    struct tui *tui = page->tui;
    bool has_side = page->side != NO_SIDE;
    sort(page);
    page->list = (struct list){
        .title = text_string(&page->title),
        .help = has_side ? " Tab:other run  ?:help  q:back  <,>:metric  s:order  r:reverse  i:all"
                         : " Enter:only these  ?:help  q:back  <,>:metric  s:order  r:reverse  i:all  T:table  "
                           "t:time",
        .n_heads = N_HEADS,
        .family = &thread_family,
        .line = line,
        .context = page,
        .scroller.n = page->costs.threads.list.n};
    tui->thread_page = page;
    while (list_run(tui, &page->list) != KEY_GONE && !page->is_left && !tui->next)
        ;
    tui->thread_page = NULL;
    bool has_chosen = page->is_left && !has_side && !page->costs.why;
    size_t selected = page->list.scroller.selected;
    if (!has_chosen || selected >= page->costs.threads.list.n)
        return NULL;
    size_t thread = page->costs.order[selected];
    return thread_set_of_one(&page->costs.threads, thread, page->costs.labels[thread]);
}

struct thread_set *tui_threads(struct tui *tui)
{
    const struct sorting *sorting = &tui_pane(tui)->view->sorting;
    struct thread_set *picked = NULL;
    bool is_again = true; /* the other run is wanted */
    for (int side = session_is_comparison(tui->session) ? SIDES - 1 : NO_SIDE; is_again; side = !side) {
        struct thread_screen page = {.tui = tui, .side = side};
        size_t metric = sorting->metric;
        open_page(&page, &metric);
        side = page.side;
        if (thread_costs_read(&page.costs, metric, sorting->part) == DONE)
            picked = show(&page);
        else
            tui_say(tui, "stopped");
        is_again = page.is_left && side != NO_SIDE;
        thread_costs_free(&page.costs);
        vec_free(&page.title);
    }
    return picked;
}
