/* The list in which the user hides, moves and deletes columns. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/base/viewer-config.h"
#include "viewer-tui/table/column-choice.h"
#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>

struct column_list {
    struct tui *tui;
    struct column_choice *choice;
    VEC(size_t) at; /* index in the choice of each line of the list */
};

static struct pane *pane_of(const struct column_list *page)
{
    return tui_pane(page->tui);
}

static const struct metrics *metrics_of(const struct column_list *page)
{
    return pane_of(page)->view->metrics;
}

/* Lists the columns that can be shown now. */
static void list_columns(struct column_list *page)
{
    const struct metrics *metrics = metrics_of(page);
    page->at.n = 0;
    for (size_t i = 0; i < page->choice->list.n; i++)
        if (metrics->at[page->choice->list.at[i].metric].is_in[metrics->set])
            vec_push(&page->at, i);
}

static void add_line(const void *context, size_t index, struct text *out)
{
    const struct column_list *page = context;
    const struct sorting *sorting = &pane_of(page)->view->sorting;
    const struct chosen_column *column = &page->choice->list.at[page->at.at[index]];
    const struct metric *metric = &metrics_of(page)->at[column->metric];
    bool is_sorted =
        !sorting->by_name && sorting->metric == column->metric && sorting->part == column->part;
    text_printf(out, " %s %s  %s  ", column_choice_shows(column, metrics_of(page)) ? "[x]" : "[ ]",
                column->part == INCLUSIVE ? "inclusive" : "exclusive", is_sorted ? "*" : " ");
    text_add_clean(out, metric->name, page->tui->ascii);
    if (metric->state != METRIC_MEASURED) {
        text_printf(out, "  %s: ", columns_state_words(metric));
        text_add_clean(out, metric->why, page->tui->ascii);
    } else if (metric->repeats_work) {
        text_add(out, "  the same as work");
    } else if (metric->is_zero) {
        text_add(out, "  0");
    }
    if (metric_derivation(metric)) {
        text_add(out, "  = ");
        text_add_clean(out, metric->derived->text + metric->derived->formula_at, page->tui->ascii);
    }
}

static void sort_by(struct column_list *page, const struct chosen_column *column)
{
    pane_sort(pane_of(page), (struct sorting){.metric = column->metric, .part = column->part});
}

/* Deletes the column's metric if it is derived. */
static void delete_metric(struct column_list *page, const struct chosen_column *column)
{
    const struct metric *metric = &metrics_of(page)->at[column->metric];
    if (!metric_derivation(metric))
        return;
    session_undefine(page->tui->session, metric->name);
    pane_sort_by_shown(pane_of(page));
}

/* What a key does to the selected column; false for keys that leave the list. */
static bool obey(struct column_list *page, struct list *list, int key)
{
    size_t at = page->at.at[list->selected];
    struct chosen_column *column = &page->choice->list.at[at];
    size_t to = at;
    switch (key) {
    case ' ': column_choice_toggle(column, metrics_of(page)); break;
    case 'K':
    case '<': to = column_choice_move(page->choice, metrics_of(page), at, -1); break;
    case 'J':
    case '>': to = column_choice_move(page->choice, metrics_of(page), at, 1); break;
    case 's': sort_by(page, column); return true;
    case 'd': delete_metric(page, column); return true;
    default: return false;
    }
    page->choice->is_made = true;
    if (to != at)
        list->selected += to > at ? 1 : (size_t)-1;
    return true;
}

void tui_take_kept_columns(struct tui *tui, enum projection projection)
{
    struct column_choice *choice = &tui->columns[projection];
    bool is_for_it = tui->kept_columns && !session_is_merged(tui->session);
    for (int v = 0; v < VIEWS && is_for_it && !tui->took_columns[projection]; v++) {
        const struct view *view = tui->panes[projection][v].view;
        if (!view)
            continue;
        column_text_take(choice, view->metrics, tui->kept_columns);
        tui->took_columns[projection] = true;
    }
}

static void keep_columns(struct tui *tui)
{
    const struct column_choice *choice = &tui->columns[tui->projection];
    struct text columns = {0};
    char *path, *cause;
    column_text_add(choice, tui_pane(tui)->view->metrics, &columns);
    if (choice->is_made && columns.n == 0) {
        text_add(&tui->message, "not saved: no column is shown");
        return;
    }
    struct config_change changes[] = {
        {"numbers", NULL, false}, /* of an earlier version */
        {"bars", NULL, tui->cells.has_bars},
        {"fold-inlined", NULL, tui->session->folds.inlined},
        {"collapse-recursion", NULL, tui->session->folds.recursion},
        {"columns", text_string(&columns), choice->is_made}};
    size_t n = sizeof changes / sizeof *changes;
    bool is_merged = session_is_merged(tui->session); /* its columns are not saved */
    if (config_save(changes, is_merged ? n - 1 : n, &path, &cause)) {
        text_add(&tui->message, is_merged ? "bars saved for the next time: "
                                          : "columns and bars saved for the next time: ");
        text_add_clean(&tui->message, path, tui->ascii);
    } else {
        text_add(&tui->message, "not saved: ");
        text_add_clean(&tui->message, path ? path : "", tui->ascii);
        text_printf(&tui->message, "%s%s", path ? ": " : "", cause);
        free(cause);
    }
    free(path);
    vec_free(&columns);
}

void tui_choose_columns(struct tui *tui)
{
    struct column_list page = {.tui = tui, .choice = &tui->columns[tui->projection]};
    struct list list = {
        .title = "columns",
        .help = " Space:show K J:move s:sort d:delete a:automatic S:save q:back",
        .line = add_line,
        .context = &page};
    int key = KEY_NOTHING;
    do {
        column_choice_follow(page.choice, metrics_of(&page));
        list_columns(&page);
        list.n = page.at.n;
        key = list_run(&list);
        if (key == 'a') {
            column_choice_free(page.choice);
            *page.choice = (struct column_choice){0};
            key = KEY_NOTHING; /* not the key for advice */
        } else if (list.n) {
            obey(&page, &list, key);
        }
    } while (key != 'S' && key != '\r' && key != '\n' && !tui_closes(tui, key, COMMAND_COLUMNS));
    if (key == 'S')
        keep_columns(tui);
    page.choice->first = 0;
    vec_free(&page.at);
    tui_scroll_to_sorted(tui);
}

/* Index of the shown column that rows are sorted by; columns->n: none. */
static size_t find_sorted(const struct columns *columns, const struct sorting *sorting)
{
    size_t at = 0;
    while (at < columns->n &&
           (columns->at[at].metric != sorting->metric || columns->at[at].part != sorting->part))
        at++;
    return sorting->by_name ? columns->n : at;
}

void tui_scroll_to_sorted(struct tui *tui)
{
    struct column_choice *choice = &tui->columns[tui->projection];
    const struct view *view = tui_pane(tui)->view;
    if (!choice->is_made)
        return;
    column_choice_follow(choice, view->metrics);
    struct columns all = column_choice_shown(choice, view->metrics);
    size_t sorted = find_sorted(&all, &view->sorting);
    if (sorted < all.n && sorted < choice->first)
        choice->first = sorted;
    while (sorted < all.n && choice->first < sorted) {
        struct columns seen = tui_columns(tui, screen_width());
        size_t n = seen.n;
        free(seen.at);
        if (n == 0 || sorted < choice->first + n)
            break;
        choice->first++;
    }
    free(all.at);
}
