/* Commands for filters. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/text-pages.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>

/* Most columns of a name in a question, so that the answers fit. */
#define MOST_NAME_COLUMNS 24

static void say_matches(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    const struct filter *only = filters_only(tui->filters);
    if (only && !pane->view->class->shows_callers)
        text_printf(&tui->message, "%lu rows match",
                    (unsigned long)filtered_n_matches(pane->filtered));
}

void tui_apply_filters(struct tui *tui)
{
    struct pane *pane = tui_pane(tui);
    if (filtered_is_prepared(pane->filtered))
        return;
    while (pane_filter(pane) == STOPPED) {
        filters_undo(tui->filters);
        text_clear(&tui->message);
        text_add(&tui->message, "stopped; the last filter was removed");
    }
    if (tui->message.n == 0)
        say_matches(tui);
    if (pane->filtered->was_cut)
        text_printf(&tui->message, "%stoo many rows are filtered; the list is incomplete",
                    tui->message.n ? "; " : "");
}

static void ask_what_matches(struct tui *tui)
{
    const struct filter *before = filters_only(tui->filters);
    const char *answer = tui_ask(tui, "&", before ? before->pattern->text : "", NULL);
    if (!answer)
        return;
    const struct filter *filter = filters_match(tui->filters, answer);
    if (filter && filter->pattern->is_broken)
        text_add(&tui->message, "invalid regular expression; searching for it literally");
}

static void ask_share(struct tui *tui)
{
    const char *answer = tui_ask(tui, "smallest share of a row in percent: ", "", NULL);
    if (!answer)
        return;
    char *end;
    double percent = strtod(answer, &end);
    if (*end || !isfinite(percent) || percent < 0 || percent > 100)
        text_add(&tui->message, "enter a number from 0 to 100; 0 shows all rows");
    else
        filters_set_share(tui->filters, percent);
}

/* Adds `what` and the name of the selected scope; false if it is the whole program. */
static bool selected_scope(struct tui *tui, const char *what, struct text *out)
{
    struct pane *pane = tui_pane(tui);
    if (pane_row(pane) == 0) {
        text_add(&tui->message, "this is the whole program");
        return false;
    }
    text_add(out, what);
    struct text name = {0};
    describe_bare_name(pane->view, pane_row(pane), tui->ascii, MOST_NAME_COLUMNS, &name);
    text_cut(&name, MOST_NAME_COLUMNS);
    text_add(out, text_string(&name));
    vec_free(&name);
    return true;
}

static void add_scope(struct tui *tui, enum filter_kind kind)
{
    struct pane *pane = tui_pane(tui);
    filters_add_scope(tui->filters, kind, pane->view, pane_row(pane));
}

static void hide(struct tui *tui)
{
    struct text prompt = {0};
    if (selected_scope(tui, "hide ", &prompt)) {
        text_add(&prompt, "?  s: itself   a: with all that is below   Esc: no ");
        int key = tui_ask_key(tui, text_string(&prompt));
        if (key == 's' || key == 'x')
            add_scope(tui, FILTER_ELIDE);
        else if (key == 'a')
            add_scope(tui, FILTER_HIDE);
    }
    vec_free(&prompt);
}

static void fold(struct tui *tui)
{
    struct text name = {0};
    if (selected_scope(tui, "", &name))
        add_scope(tui, FILTER_FOLD);
    vec_free(&name);
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
                        .line = describe,
                        .context = tui};
    int key;
    do {
        list.n = filters_n(tui->filters);
        key = list_run(&list);
        enum command command = keys_command(key);
        if (key == 'd' && list.n)
            filters_remove(tui->filters, list.selected);
        else if (key == 'c')
            filters_clear(tui->filters);
        else if (command == COMMAND_UNDO)
            filters_undo(tui->filters);
        else if (command == COMMAND_REDO)
            filters_redo(tui->filters);
    } while (!tui_closes(tui, key, COMMAND_LIST_FILTERS));
}

static void undo(struct tui *tui)
{
    if (!filters_undo(tui->filters))
        text_add(&tui->message, "no change of filters to undo");
}

static void redo(struct tui *tui)
{
    if (!filters_redo(tui->filters))
        text_add(&tui->message, "no change of filters to redo");
}

bool tui_obey_filters(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_ONLY: ask_what_matches(tui); break;
    case COMMAND_HIDE: hide(tui); break;
    case COMMAND_FOLD: fold(tui); break;
    case COMMAND_SHARE: ask_share(tui); break;
    case COMMAND_LIST_FILTERS: list_filters(tui); break;
    case COMMAND_UNDO: undo(tui); break;
    case COMMAND_REDO: redo(tui); break;
    default: return false;
    }
    return true;
}
