/* Commands that write files or copy to the clipboard. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/text-pages.h"

#include "lib/number.h"
#include "lib/safe-output.h"
#include "viewer-tui/terminal/clipboard.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Takes the cause. */
static void say_not_written(struct tui *tui, const char *name, char *cause)
{
    text_add(&tui->message, "cannot write ");
    text_add_clean(&tui->message, name, tui->ascii);
    text_printf(&tui->message, ": %s", cause);
    free(cause);
}

/* Asks before a file is overwritten. */
static bool may_write(struct tui *tui, const char *name)
{
    if (!output_exists(name))
        return true;
    struct text question = {0};
    text_add_clean(&question, name, tui->ascii);
    text_add(&question, " exists: overwrite it (y, n)? ");
    const char *answer = tui_ask(tui, text_string(&question), "", NULL);
    bool may = answer && strcmp(answer, "y") == 0;
    vec_free(&question);
    if (!may)
        text_add(&tui->message, "nothing was written");
    return may;
}

/* Prints the view: as text the open rows and the visible columns; in other formats all rows and the
 * chosen columns. */
static void print_shown(struct tui *tui, enum format format, FILE *out)
{
    struct pane *pane = tui_pane(tui);
    const struct column_choice *choice = &tui->columns[tui->projection];
    bool is_text = format == FORMAT_TEXT;
    struct columns columns = choice->is_made ? column_choice_shown(choice, pane->view->metrics)
                                             : tui_columns(tui, screen_width());
    struct tree tree = {.session = tui->session,
                        .view = pane->view,
                        .projection = tui->projection,
                        .filtered = pane->filtered,
                        .root = pane->root,
                        .limits = print_limits(pane->view, format, -1, 0),
                        .open = is_text ? &pane->is_open : NULL,
                        .columns = is_text || choice->is_made ? &columns : NULL,
                        .cells = tui->cells,
                        .out = out};
    if (is_text) {
        tree.limits.depth = NO_DEPTH_LIMIT;
        tree.limits.share = -INFINITY;
    }
    print_tree(&tree, format);
    free(columns.at);
}

static void say_filters(struct tui *tui)
{
    const char *before = " (as filtered: ";
    for (size_t i = 0; i < filters_n(tui->filters); i++) {
        text_add(&tui->message, before);
        filter_describe(filters_at(tui->filters, i), tui->ascii, &tui->message);
        before = ", ";
    }
    if (filters_n(tui->filters))
        text_add(&tui->message, ")");
}

static void write_view(struct tui *tui, const char *name, enum format format)
{
    struct atomic_file file;
    char *cause;
    if (!may_write(tui, name))
        return;
    if (!atomic_file_begin(&file, name, &cause)) {
        say_not_written(tui, name, cause);
        return;
    }
    tui_announce("writing ...");
    print_shown(tui, format, file.out);
    if (!atomic_file_commit(&file, &cause)) {
        say_not_written(tui, name, cause);
        return;
    }
    text_add(&tui->message, "written: ");
    text_add_clean(&tui->message, name, tui->ascii);
    say_filters(tui);
}

static void ask_and_write(struct tui *tui)
{
    char *name = mem_printf("%s.txt", tui_pane(tui)->view->class->name);
    const char *answer = tui_ask(tui, "write to: ", name, NULL);
    free(name);
    if (!answer || !*answer)
        return;
    name = mem_strdup(answer); /* since the answer is valid until the next question only */
    enum format format = format_of_file(name);
    if (format == FORMATS)
        text_add(&tui->message, "the name must end with .txt .csv .json .html .svg .folded .pb.gz or "
                                ".speedscope.json");
    else if (!print_can(format, tui_pane(tui)->view))
        text_add(&tui->message,
                 "the metric that rows are sorted by has no sums over stacks; sort by "
                 "another metric, or write .txt .csv .json");
    else
        write_view(tui, name, format);
    free(name);
}

static void add_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part,
                     struct text *out)
{
    char value[NUMBER_WITH_UNIT_SIZE], percent[NUMBER_SIZE] = "";
    double cost = view_cost(view, row, metric, part);
    columns_alone(&view->metrics->at[metric], cost, value);
    text_add(out, value);
    if (cost != 0)
        columns_percent(&view->metrics->at[metric], cost, view_whole(view, metric), percent);
    if (*percent)
        text_printf(out, " (%s%%)", percent);
}

/* Adds "coder_run  /src/coder.c:20  work: 6.500 s (65.0%) inclusive, 5.000 s (50.0%) exclusive". */
static void describe_row(const struct view *view, uint32_t row, bool ascii, struct text *out)
{
    const struct metrics *metrics = view->metrics;
    uint32_t file, line, origin_row = row;
    const struct view *origin = view_origin(view, &origin_row);
    describe_name(view, row, ascii, out);
    label_place(origin, origin_row, &file, &line);
    const char *path = database_file_path(origin->db, file);
    if (path) {
        text_add(out, "  ");
        text_add_clean(out, path, ascii);
        if (line)
            text_printf(out, ":%u", line);
    }
    for (size_t m = metrics_with_columns(metrics, 0); m < metrics->n;
         m = metrics_with_columns(metrics, m + 1)) {
        if (!metric_is_measured(&metrics->at[m]))
            continue;
        text_add(out, "  ");
        text_add_clean(out, metrics->at[m].name, ascii);
        text_add(out, ": ");
        add_cost(view, row, m, INCLUSIVE, out);
        text_add(out, " inclusive, ");
        add_cost(view, row, m, EXCLUSIVE, out);
        text_add(out, " exclusive");
    }
}

/* Adds "main thread > main > coder_run", without recursion since paths may be long. */
static void describe_path(const struct view *view, uint32_t row, bool ascii, struct text *out)
{
    VEC(uint32_t) path = {0};
    for (; row != 0; row = view_row(view, row)->parent)
        vec_push(&path, row);
    while (path.n) {
        text_add(out, out->n ? " > " : "");
        describe_name(view, path.at[--path.n], ascii, out);
    }
    vec_free(&path);
}

static void copy(struct tui *tui, void (*describe)(const struct view *view, uint32_t row,
                                                   bool ascii, struct text *out))
{
    const struct pane *pane = tui_pane(tui);
    struct text text = {0}, sequence = {0};
    describe(pane->view, pane_row(pane), tui->ascii, &text);
    if (text.n > CLIPBOARD_MOST) {
        text_printf(&tui->message, "too long for a clipboard: %zu bytes", text.n);
    } else {
        clipboard_sequence(text_string(&text), &sequence);
        screen_send(text_string(&sequence));
        text_printf(&tui->message, "sent to the terminal's clipboard: %s", text_string(&text));
    }
    vec_free(&text);
    vec_free(&sequence);
}

bool tui_obey_output(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_WRITE: ask_and_write(tui); break;
    case COMMAND_COPY_LINE: copy(tui, describe_row); break;
    case COMMAND_COPY_PATH: copy(tui, describe_path); break;
    default: return false;
    }
    return true;
}
