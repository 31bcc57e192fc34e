/* What the selected row costs in each thread of two runs: the threads of either are put in order
 * for themselves, side by side, with bars of one scale. A thread of one run is none of the other:
 * what can be compared is how even they are, the most loaded thread with the most loaded one and so
 * on.
 */
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/output/thread-table.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"

/* Between the two sides. */
#define GAP " | "

/* Most columns of the name in the title. */
#define MOST_NAME_COLUMNS 60

/* Labels take at most 1 / LABEL_PART of a side. */
#define LABEL_PART 3

struct pair_screen {
    struct tui *tui;
    const struct comparison *comparison;
    const uint32_t *rows;
    size_t metric; /* of the comparison: the left side's */
    enum cost_part part;
    struct thread_costs costs[SIDES];
    struct thread_ordering ordering;
    size_t label_width; /* of both sides, so that the bars are equally wide */
    struct text title;
};

static struct thread_table table_of(const struct pair_screen *page, int side)
{
    const struct thread_costs *costs = page->costs;
    double largest = costs[0].distribution.max > costs[1].distribution.max
                         ? costs[0].distribution.max
                         : costs[1].distribution.max;
    struct thread_table table = thread_table_of(&costs[side], largest, page->tui->ascii);
    table.label_width = page->label_width;
    size_t width = (size_t)screen_width(), gap = sizeof GAP - 1;
    table.width = width > gap ? (width - gap) / SIDES : 0;
    if (table.label_width > table.width / LABEL_PART)
        table.label_width = table.width / LABEL_PART;
    return table;
}

/* Adds the text of both sides, the left one padded. */
static void add_sides(const struct pair_screen *page, size_t index,
                      void (*add)(const struct pair_screen *page, int side, size_t index,
                                  struct text *out),
                      struct text *out)
{
    struct text said = {0};
    for (int side = 0; side < SIDES; side++) {
        size_t width = table_of(page, side).width;
        text_clear(&said);
        add(page, side, index, &said);
        text_cut(&said, width);
        text_add(out, text_string(&said));
        if (side == 0) {
            text_pad(out, ' ', width - text_columns(text_string(&said)));
            text_add(out, GAP);
        }
    }
    vec_free(&said);
}

static void add_name(const struct pair_screen *page, int side, size_t index, struct text *out)
{
    (void)index;
    text_add(out, "[");
    text_add_clean(out, page->comparison->options->names[side], page->tui->ascii);
    text_add(out, "] ");
    thread_costs_add_number(&page->costs[side], out);
    if (page->costs[side].distribution.imbalance > 0)
        text_printf(out, ", max/mean %.2f", page->costs[side].distribution.imbalance);
}

static void add_statistics(const struct pair_screen *page, int side, size_t index, struct text *out)
{
    (void)index;
    struct thread_table table = table_of(page, side);
    thread_table_add_statistics(&table, out);
}

static void add_thread(const struct pair_screen *page, int side, size_t index, struct text *out)
{
    struct thread_table table = table_of(page, side);
    if (index < page->costs[side].threads.list.n)
        thread_table_add_line(&table, index, out);
}

static void head(const void *context, size_t index, struct text *out)
{
    const struct pair_screen *page = context;
    struct thread_table table = table_of(page, 0);
    if (index == 0) {
        thread_table_add_title(&table, out);
        text_add(out, ": ");
        thread_ordering_add(page->ordering, out);
    } else {
        add_sides(page, 0, index == 1 ? add_name : add_statistics, out);
    }
}

static void line(const void *context, size_t index, struct text *out)
{
    add_sides(context, index, add_thread, out);
}

static void arrange(struct pair_screen *page)
{
    for (int side = 0; side < SIDES; side++)
        thread_costs_sort(&page->costs[side], page->ordering.by, page->ordering.is_reversed);
}

/* Reads the costs of both sides. */
static enum outcome read_costs(struct pair_screen *page)
{
    for (int side = 0; side < SIDES; side++) {
        struct thread_costs *costs = &page->costs[side];
        costs->metric = page->comparison->from.at[page->metric].sides[side];
        costs->part = page->part;
        if (page->rows[side] == NOTHING)
            costs->why = "this database has no such scope";
        else if (thread_costs_read(costs, costs->metric, page->part) == STOPPED)
            return STOPPED;
    }
    arrange(page);
    return DONE;
}

/* Shows the next column in a direction of which there is a thread's share: one for both sides of
 * what is compared. What it was stays where the user stops it. */
static void show_column(struct pair_screen *page, int step)
{
    const struct metrics *metrics = &page->comparison->merged.metrics;
    struct pair_screen before = *page;
    size_t n = 2 * metrics->n_stored, at = 2 * page->metric + (page->part == EXCLUSIVE);
    for (size_t tried = 0; tried < n; tried++) {
        at = (at + n + (size_t)step) % n;
        const struct metric *metric = &metrics->at[at / 2];
        bool is_left = page->comparison->from.at[at / 2].column == MERGED_LEFT;
        if (is_left && metric->is_in[metrics->set] && metric_is_measured(metric) &&
            !metric->repeats_work)
            break;
    }
    page->metric = at / 2;
    page->part = at % 2 ? EXCLUSIVE : INCLUSIVE;
    if (read_costs(page) == STOPPED) {
        page->metric = before.metric;
        page->part = before.part;
        read_costs(page);
    }
}

/* Carries out a key; false if it closes the screen. */
static bool obey(struct pair_screen *page, int key)
{
    if (thread_ordering_obey(&page->ordering, key))
        arrange(page);
    else if (key == '>' || key == '<')
        show_column(page, key == '>' ? 1 : -1);
    else
        return !tui_closes(page->tui, key, COMMAND_THREADS);
    return true;
}

static void show(struct pair_screen *page)
{
    struct list list = {.title = text_string(&page->title),
                        .help = " <,>:metric  s:order  r:reverse  q:back",
                        .n_heads = 3,
                        .head = head,
                        .line = line,
                        .context = page};
    for (int side = 0; side < SIDES; side++)
        if (page->costs[side].threads.list.n > list.n)
            list.n = page->costs[side].threads.list.n;
    while (obey(page, list_run(&list)))
        ;
}

/* The threads of both sides, and what the view is sorted by: of a metric that is derived, which no
 * thread has, the first one that was measured. */
static void open_page(struct pair_screen *page)
{
    const struct pane *pane = tui_pane(page->tui);
    const struct view *view = pane->view;
    page->rows = merged_rows(view, pane_row(pane));
    size_t metric = view->sorting.metric < view->metrics->n_stored
                        ? view->sorting.metric
                        : metrics_first_measured(view->metrics);
    page->metric = view->metrics->at[metric].compared.sides[0];
    page->part = view->sorting.part;
    for (int side = 0; side < SIDES; side++) {
        uint32_t row = page->rows[side];
        thread_costs_open(&page->costs[side], comparison_side(view, side), row == NOTHING ? 0 : row,
                          page->tui->session->sides[side]->run, NULL, page->tui->ascii);
        size_t width = thread_costs_label_width(&page->costs[side]);
        page->label_width = width > page->label_width ? width : page->label_width;
    }
    text_add(&page->title, "threads: ");
    describe_short_name(pane->view, pane_row(pane), page->tui->ascii, MOST_NAME_COLUMNS,
                        &page->title);
}

void tui_both_threads(struct tui *tui)
{
    struct pair_screen page = {.tui = tui,
                               .comparison = session_comparison(tui->session, tui->projection)};
    open_page(&page);
    if (read_costs(&page) == DONE)
        show(&page);
    else
        text_add(&tui->message, "stopped");
    for (int side = 0; side < SIDES; side++)
        thread_costs_free(&page.costs[side]);
    vec_free(&page.title);
}
