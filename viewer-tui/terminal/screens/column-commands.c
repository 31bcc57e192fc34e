/* Commands for metrics, columns and sorting. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/base/viewer-config.h"

#include <stdlib.h>

static const struct metrics *metrics_of(struct tui *tui)
{
    return tui_pane(tui)->view->metrics;
}

/* The columns of the current projection, with those of new metrics. */
static struct column_choice *choice_of(struct tui *tui)
{
    struct column_choice *choice = &tui->columns[tui->projection];
    column_choice_follow(choice, metrics_of(tui));
    return choice;
}

static bool is_sorted_by(const struct sorting *sorting, size_t metric, enum cost_part part)
{
    return !sorting->by_name && sorting->metric == metric && sorting->part == part;
}

/* Index of the column that rows are sorted by; columns->n: none. */
static size_t find_sorted(const struct columns *columns, const struct sorting *sorting)
{
    size_t at = 0;
    while (at < columns->n && !is_sorted_by(sorting, columns->at[at].metric, columns->at[at].part))
        at++;
    return at;
}

/* Number of columns that the screen shows. */
static size_t count_seen(struct tui *tui)
{
    autofree struct columns seen = tui_columns(tui, screen_width());
    return seen.n;
}

/* Scrolls the chosen columns to the one that rows are sorted by. */
static void scroll_to_sorted(struct tui *tui)
{
    struct column_choice *choice = choice_of(tui);
    if (!choice->is_made)
        return;
    autofree struct columns all = column_choice_shown(choice, metrics_of(tui));
    size_t sorted = find_sorted(&all, &tui_pane(tui)->view->sorting), n;
    if (sorted == all.n)
        return;
    if (sorted < choice->first)
        choice->first = sorted;
    while (choice->first < sorted && (n = count_seen(tui)) && sorted >= choice->first + n)
        choice->first++;
}

void tui_take_kept_columns(struct tui *tui, enum projection projection, const struct view *view)
{
    if (tui->kept_columns && !session_is_merged(tui->session) && !tui->took_columns[projection]) {
        column_text_take(&tui->columns[projection], view->metrics, tui->kept_columns);
        tui->took_columns[projection] = true;
    }
}

/* ---- sorting ---- */

static void say_why_not_measured(struct tui *tui, const struct metric *metric)
{
    if (!metric_is_measured(metric))
        tui_say(tui, "%s was not measured: %s", metric->name, metric->why);
}

/* Sorts by the next column that is not hidden, even if it does not fit; by name after the last one. */
static void sort_by_neighbor(struct tui *tui)
{
    int step = tui->command->argument;
    struct sorting sorting = tui_pane(tui)->view->sorting;
    autofree struct columns columns = column_choice_shown(choice_of(tui), metrics_of(tui));
    long n = (long)columns.n, at = ((long)find_sorted(&columns, &sorting) + n + 1 + step) % (n + 1);
    sorting.by_name = at == n;
    sorting.is_reversed = false;
    if (!sorting.by_name) {
        sorting.metric = columns.at[at].metric;
        sorting.part = columns.at[at].part;
        say_why_not_measured(tui, &metrics_of(tui)->at[sorting.metric]);
    }
    pane_sort(tui_pane(tui), sorting);
    scroll_to_sorted(tui);
}

void tui_sort_by_column(struct tui *tui, struct sorting sorting)
{
    struct pane *pane = tui_pane(tui);
    const struct sorting *now = &pane->view->sorting;
    bool is_same = sorting.by_name ? now->by_name : is_sorted_by(now, sorting.metric, sorting.part);
    if (!sorting.by_name)
        say_why_not_measured(tui, &metrics_of(tui)->at[sorting.metric]);
    sorting.is_reversed = is_same && !now->is_reversed;
    pane_sort(pane, sorting);
}

static void reverse_sorting(struct tui *tui)
{
    struct sorting sorting = tui_pane(tui)->view->sorting;
    sorting.is_reversed = !sorting.is_reversed;
    pane_sort(tui_pane(tui), sorting);
}

const struct family sorting_family = {
    "Sorting", COMMANDS({"s, >", "sort by the next column; the last one is the name", sort_by_neighbor, 1, 0},
                        {"S, <", "sort by the previous column", sort_by_neighbor, -1, 0},
                        {"r", "reverse the order", reverse_sorting, 0, 0})};

/* ---- the list of columns ---- */

struct column_list {
    struct tui *tui;
    VEC(size_t) at; /* index in the choice of each line of the list */
};

static void add_line(const void *context, size_t index, struct text *out)
{
    const struct column_list *list = context;
    struct tui *tui = list->tui;
    const struct chosen_column *column = &tui->columns[tui->projection].list.at[list->at.at[index]];
    const struct metric *metric = &metrics_of(tui)->at[column->metric];
    text_printf(out, " %s %s  %s  ", column_choice_shows(column, metrics_of(tui)) ? "[x]" : "[ ]",
                column->part == INCLUSIVE ? "inclusive" : "exclusive",
                is_sorted_by(&tui_pane(tui)->view->sorting, column->metric, column->part) ? "*" : " ");
    text_add_clean(out, metric->name, tui->ascii);
    if (metric->state != METRIC_MEASURED)
        text_say(out, tui->ascii, "  %s: %s", columns_state_words(metric), metric->why);
    else if (metric->repeats_work)
        text_add(out, "  the same as work");
    else if (metric->is_zero)
        text_add(out, "  0");
    if (metric_derivation(metric))
        text_say(out, tui->ascii, "  = %s", metric->derived->text + metric->derived->formula_at);
}

/* What a key does to the column of a line; returns the number of lines by which it moves. */
static int obey(struct column_list *list, size_t line, int key)
{
    struct tui *tui = list->tui;
    struct column_choice *choice = &tui->columns[tui->projection];
    size_t at = list->at.at[line], to = at;
    struct chosen_column *column = &choice->list.at[at];
    const struct metric *metric = &metrics_of(tui)->at[column->metric];
    switch (key) {
    case ' ': column_choice_toggle(column, metrics_of(tui)); break;
    case 'K':
    case '<': to = column_choice_move(choice, metrics_of(tui), at, -1); break;
    case 'J':
    case '>': to = column_choice_move(choice, metrics_of(tui), at, 1); break;
    case 's': pane_sort(tui_pane(tui), (struct sorting){.metric = column->metric, .part = column->part}); return 0;
    case 'd':
        if (metric_derivation(metric)) {
            session_undefine(tui->session, metric->name);
            pane_sort_by_shown(tui_pane(tui));
        }
        return 0;
    default: return 0;
    }
    choice->is_made = true;
    return to > at ? 1 : to < at ? -1 : 0;
}

static void keep_columns(struct tui *tui)
{
    const struct column_choice *choice = &tui->columns[tui->projection];
    autofree struct text columns = {0};
    autofree char *path = NULL, *cause = NULL;
    column_text_add(choice, metrics_of(tui), &columns);
    if (choice->is_made && columns.n == 0) {
        tui_say(tui, "not saved: no column is shown");
        return;
    }
    struct config_change changes[] = {
        {"numbers", NULL, false}, /* of an earlier version */
        {"bars", NULL, tui->cells.has_bars},
        {"fold-inlined", NULL, tui->session->folds.inlined},
        {"collapse-recursion", NULL, tui->session->folds.recursion},
        {"kernel", NULL, !tui->session->folds.kernel},
        {"columns", text_string(&columns), choice->is_made}};
    size_t n = sizeof changes / sizeof *changes;
    bool is_merged = session_is_merged(tui->session); /* its columns are not saved */
    if (config_save(changes, is_merged ? n - 1 : n, &path, &cause))
        tui_say(tui, "%s saved for the next time: %s", is_merged ? "bars" : "columns and bars", path);
    else
        tui_say(tui, "not saved: %s%s%s", text_or_empty(path), path ? ": " : "", cause);
}

static void choose_columns(struct tui *tui)
{
    struct column_list page = {.tui = tui};
    struct list list = {.title = "columns",
                        .help = " Space:show K J:move s:sort d:delete a:automatic S:save q:back",
                        .own_keys = " K<J>sdaS",
                        .line = add_line,
                        .context = &page};
    int key = KEY_NOTHING;
    do {
        const struct metrics *metrics = metrics_of(tui);
        struct column_choice *choice = choice_of(tui);
        page.at.n = 0;
        for (size_t i = 0; i < choice->list.n; i++) /* the columns that can be shown now */
            if (metrics->at[choice->list.at[i].metric].is_in[metrics->set])
                vec_push(&page.at, i);
        list.scroller.n = page.at.n;
        key = list_run(tui, &list);
        if (key == 'a') {
            column_choice_free(choice);
            *choice = (struct column_choice){0};
        } else if (page.at.n) {
            list.scroller.selected += (size_t)obey(&page, list.scroller.selected, key);
        }
    } while (key != 'S' && key != '\r' && key != KEY_GONE);
    if (key == 'S')
        keep_columns(tui);
    tui->columns[tui->projection].first = 0;
    vec_free(&page.at);
    scroll_to_sorted(tui);
}

/* ---- metrics ---- */

static void show_kinds_or_not(struct tui *tui)
{
    const struct metrics *metrics = metrics_of(tui);
    size_t m = 0;
    while (m < metrics->n && !metrics->at[m].kind.name)
        m++;
    if (m == metrics->n) {
        tui_say(tui, "this database has no kinds of overhead");
        return;
    }
    session_show(tui->session, tui->session->set == SET_KINDS ? SET_CHOSEN : SET_KINDS);
    pane_sort_by_shown(tui_pane(tui));
}

/* Asks for a definition until it is valid; then sorts by that metric, and shows its value for the whole program. */
static void define_metric(struct tui *tui)
{
    autofree struct text question = {0}, definition = {0};
    struct formula_error error;
    struct pane *pane = tui_pane(tui);
    text_add(&question, "NAME = FORMULA of $METRIC: ");
    for (;;) {
        const char *answer = tui_ask(tui, text_string(&question), text_string(&definition), NULL);
        if (!answer || !*answer)
            return;
        text_clear(&definition);
        text_add(&definition, answer);
        if (session_define_now(tui->session, tui->projection, text_string(&definition), &error))
            break;
        text_clear(&question);
        text_say(&question, tui->ascii, "%s (character %zu): ", error.what, error.at + 1);
    }
    size_t last = metrics_of(tui)->n - 1;
    const struct metric *metric = &metrics_of(tui)->at[last];
    tui_say(tui, "%s: %s%s", metric->name, columns_alone(metric, view_total(pane->view, last)).text,
            metric_is_measured(metric) ? " in the whole program" : "");
    say_why_not_measured(tui, metric);
    pane_sort(pane, (struct sorting){.metric = last, .part = pane->view->sorting.part});
    scroll_to_sorted(tui);
}

/* Scrolls by one column, as far as there are columns beyond the screen. */
static void scroll_columns(struct tui *tui)
{
    int step = tui->command->argument;
    struct column_choice *choice = choice_of(tui);
    autofree struct columns all = column_choice_shown(choice, metrics_of(tui));
    choice->is_made = true;
    if (step > 0 && choice->first + count_seen(tui) < all.n)
        choice->first++;
    if (step < 0 && choice->first > 0)
        choice->first--;
    size_t seen = count_seen(tui);
    if (seen)
        tui_say(tui, "columns %zu to %zu of %zu", choice->first + 1, choice->first + seen, all.n);
}

const struct family metric_family = {
    "Metrics",
    COMMANDS({"o", "show overhead by kind (spawn, sync, ...), or the usual metrics", show_kinds_or_not, 0, 0},
             {"d", "define a metric by a formula: waste = $idleness + $overhead", define_metric, 0, 0},
             {"i", "inspect the row: all values with all digits, file, line, module", tui_inspect, 0, PAGE},
             {"C, F6", "choose columns: hide, move, sort by, delete, save (S)", choose_columns, 0, 0},
             {"}", "scroll the columns to the right", scroll_columns, 1, 0},
             {"{", "scroll the columns to the left", scroll_columns, -1, 0},
             {"b", "show bars in place of percentages, or percentages", tui_switch,
              offsetof(struct tui, cells.has_bars), 0})};
