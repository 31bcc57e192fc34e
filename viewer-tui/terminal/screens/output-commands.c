/* The command that writes the view to a file. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "lib/safe-output.h"

#include <math.h>
#include <string.h>

/* Prints the view: as text the open rows and the visible columns; in other formats all rows and the
 * chosen columns. */
static void print_shown(struct tui *tui, enum format format, FILE *out)
{
    struct pane *pane = tui_pane(tui);
    const struct column_choice *choice = &tui->columns[tui->projection];
    bool is_text = format == FORMAT_TEXT;
    autofree struct columns columns = choice->is_made ? column_choice_shown(choice, pane->view->metrics)
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
}

/* Writes the view, and asks before a file is overwritten. */
static void write_view(struct tui *tui, const char *name, enum format format)
{
    struct atomic_file file;
    autofree char *cause = NULL;
    if (output_exists(name)) {
        autofree struct text question = {0};
        text_say(&question, tui->ascii, "%s exists: overwrite it (y, n)? ", name);
        const char *answer = tui_ask(tui, text_string(&question), "", NULL);
        if (!answer || strcmp(answer, "y") != 0) {
            tui_say(tui, "nothing was written");
            return;
        }
    }
    bool is_written = atomic_file_begin(&file, name, &cause);
    if (is_written) {
        tui_announce("writing ...");
        print_shown(tui, format, file.out);
        is_written = atomic_file_commit(&file, &cause);
    }
    if (!is_written) {
        tui_say(tui, "cannot write %s: %s", name, cause);
        return;
    }
    tui_say(tui, "written: %s", name);
    for (size_t i = 0; i < filters_n(tui->filters); i++) {
        text_add(&tui->message, i == 0 ? " (as filtered: " : ", ");
        filter_describe(filters_at(tui->filters, i), tui->ascii, &tui->message);
    }
    text_add(&tui->message, filters_n(tui->filters) ? ")" : "");
}

static void ask_and_write(struct tui *tui)
{
    autofree char *usual = mem_printf("%s.txt", tui_pane(tui)->view->class->name);
    const char *answer = tui_ask(tui, "write to: ", usual, NULL);
    if (!answer || !*answer)
        return;
    autofree char *name = mem_strdup(answer); /* since the answer is valid until the next question only */
    enum format format = format_of_file(name);
    if (format == FORMATS)
        tui_say(tui, "the name must end with .txt .csv .json .html .svg .folded .pb.gz or .speedscope.json");
    else if (!print_can(format, tui_pane(tui)->view))
        tui_say(tui, "the metric that rows are sorted by has no sums over stacks; sort by another metric, or write "
                     ".txt .csv .json");
    else
        write_view(tui, name, format);
}

const struct family export_family = {
    "Export", COMMANDS({"W", "write the view to a file; its name tells the format", ask_and_write, 0, 0})};
