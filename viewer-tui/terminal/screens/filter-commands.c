/* Commands for filters. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "viewer-tui/tree/labels.h"

#include <math.h>

#define CONTROL_R "\022"

/* Most columns of a name in a question, so that the answers fit. */
#define MOST_NAME_COLUMNS 24

void tui_apply_filters(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    if (filtered_is_prepared(pane->filtered))
        return;
    while (pane_filter(pane) == STOPPED) {
        filters_undo(tui->filters);
        text_clear(&tui->message);
        tui_say(tui, "stopped; the last filter was removed");
    }
    if (tui->message.n == 0 && filters_only(tui->filters) && !pane->view->class->shows_callers)
        tui_say(tui, "%lu rows match", (unsigned long)filtered_n_matches(pane->filtered));
    if (pane->filtered->was_cut)
        tui_say(tui, "%stoo many rows are filtered; the list is incomplete", tui->message.n ? "; " : "");
}

static void ask_what_matches(struct tui *tui)
{
    const struct filter *before = filters_only(tui->filters);
    const char *answer = tui_ask(tui, "&", before ? before->pattern->text : "", NULL);
    const struct filter *filter = answer ? filters_match(tui->filters, answer) : NULL;
    if (filter && filter->pattern->is_broken)
        tui_say(tui, "invalid regular expression; searching for it literally");
}

static void ask_share(struct tui *tui)
{
    double percent = tui_ask_percent(tui, "smallest share of a row in percent: ", -1, "; 0 shows all rows");
    if (!isnan(percent))
        filters_set_share(tui->filters, percent);
}

/* Asks how to hide the selected scope, or with `folds` hides only what is below. */
static void hide(struct tui *tui)
{
    bool folds = tui->command->argument;
    struct pane *pane = tui_pane(tui);
    uint32_t row = pane_row(pane);
    autofree struct text name = {0}, question = {0};
    if (row == 0) {
        tui_say(tui, "this is the whole program");
        return;
    }
    describe_bare_name(pane->view, row, tui->ascii, MOST_NAME_COLUMNS, &name);
    text_cut(&name, MOST_NAME_COLUMNS);
    text_printf(&question, "hide %s?  s: itself   a: with all that is below   Esc: no ", text_string(&name));
    tui->prompt.question = text_string(&question);
    int key = folds ? 0 : prompt_key(&tui->prompt);
    if (folds || key == 's' || key == 'x' || key == 'a')
        filters_add_scope(tui->filters, folds ? FILTER_FOLD : key == 'a' ? FILTER_HIDE : FILTER_ELIDE, pane->view, row);
}

/* Undoes the last change (argument -1), or redoes one. */
static void step_filters(struct tui *tui)
{
    bool undoes = tui->command->argument < 0;
    if (!(undoes ? filters_undo(tui->filters) : filters_redo(tui->filters)))
        tui_say(tui, "no change of filters to %s", undoes ? "undo" : "redo");
}

static void describe(const void *context, size_t index, struct text *out)
{
    const struct tui *tui = context;
    text_add(out, "  ");
    filter_describe_short(filters_at(tui->filters, index), tui->ascii, (size_t)screen_width(), out);
}

static void list_filters(struct tui *tui)
{
    struct list list = {.title = "filters",
                        .help = " d: delete   c: delete all   U: undo   ^R: redo   q: back",
                        .empty = "  No filters: &, x, X and % add them.",
                        .own_keys = "dcU" CONTROL_R,
                        .line = describe,
                        .context = tui};
    for (int key = KEY_NOTHING; key != KEY_GONE;) {
        list.scroller.n = filters_n(tui->filters);
        key = list_run(tui, &list);
        if (key == 'd' && list.scroller.n)
            filters_remove(tui->filters, list.scroller.selected);
        else if (key == 'c')
            filters_clear(tui->filters);
        else if (key == 'U')
            filters_undo(tui->filters);
        else if (key == *CONTROL_R)
            filters_redo(tui->filters);
    }
}

const struct family filter_family = {
    "Filters",
    COMMANDS({"&, F4", "show only rows that match, and those above them; &!: hide them", ask_what_matches, 0, 0},
             {"x", "hide the scope wherever it occurs", hide, false, 0},
             {"X", "hide the rows below the scope, wherever it occurs", hide, true, 0},
             {"%", "show only rows with at least a given percentage", ask_share, 0, 0},
             {"\\", "list the filters, to delete them", list_filters, 0, 0},
             {"U", "undo the last change of filters", step_filters, -1, 0},
             {"^R", "redo the change", step_filters, 1, 0})};
