/* Commands that write files or copy to the clipboard. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "lib/number.h"
#include "lib/safe-output.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
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

/* ---- the clipboard ---- */

/* Most bytes of a text; some terminals refuse longer ones. */
#define CLIPBOARD_MOST 8192

#define ESCAPE "\033"

static void add_base64(struct text *out, const char *what)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(what);
    for (size_t i = 0; i < length; i += 3) {
        size_t n = length - i < 3 ? length - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? (unsigned char)what[i + k] : 0);
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
                        digits[bits & 63]};
        memset(four + n + 1, '=', 3 - n);
        text_add_bytes(out, four, sizeof four);
    }
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* Adds the bytes that copy `what` to the clipboard of the user's terminal, also over ssh: escape sequence OSC 52. Under
 * tmux and screen, recognized by their environment variables, also the bytes that make them pass the sequence on. */
static void add_clipboard_sequence(const char *what, struct text *out)
{
    autofree struct text sequence = {0};
    text_add(&sequence, ESCAPE "]52;c;");
    add_base64(&sequence, what);
    text_add(&sequence, "\a");
    /* Depending on its settings tmux interprets the sequence or passes it on; both may be sent. To be passed on, every
     * Escape is doubled. */
    text_add(out, text_string(&sequence));
    if (is_set("TMUX"))
        text_printf(out, ESCAPE "Ptmux;" ESCAPE "%s" ESCAPE "\\", text_string(&sequence));
    else if (is_set("STY"))
        text_printf(out, ESCAPE "P%s" ESCAPE "\\", text_string(&sequence));
}

static void add_cost(const struct view *view, uint32_t row, size_t metric, enum cost_part part,
                     struct text *out)
{
    double cost = view_cost(view, row, metric, part);
    struct number_text percent = columns_percent(&view->metrics->at[metric], cost, view_whole(view, metric));
    text_add(out, columns_alone(&view->metrics->at[metric], cost).text);
    if (cost != 0 && *percent.text)
        text_printf(out, " (%s%%)", percent.text);
}

/* Adds "coder_run  /src/coder.c:20  work: 6.500 s (65.0%) inclusive, 5.000 s (50.0%) exclusive". */
static void describe_row(const struct view *view, uint32_t row, bool ascii, struct text *out)
{
    const struct metrics *metrics = view->metrics;
    uint32_t line;
    const char *path = label_path(view, row, &line);
    describe_name(view, row, ascii, out);
    if (path) {
        text_say(out, ascii, "  %s", path);
        if (line)
            text_printf(out, ":%u", line);
    }
    metrics_each (m, metrics, metrics_with_columns) {
        if (!metric_is_measured(&metrics->at[m]))
            continue;
        text_say(out, ascii, "  %s: ", metrics->at[m].name);
        add_cost(view, row, m, INCLUSIVE, out);
        text_add(out, " inclusive, ");
        add_cost(view, row, m, EXCLUSIVE, out);
        text_add(out, " exclusive");
    }
}

/* Copies the row, or with `path` "main thread > main > coder_run", without recursion since paths may be long. */
static void copy(struct tui *tui)
{
    int path = tui->command->argument;
    const struct view *view = tui_pane(tui)->view;
    autofree struct text text = {0}, sequence = {0};
    autofree VEC(uint32_t) rows = {0};
    if (!path)
        describe_row(view, pane_row(tui_pane(tui)), tui->ascii, &text);
    for (uint32_t row = pane_row(tui_pane(tui)); path && row != 0; row = view_row(view, row)->parent)
        vec_push(&rows, row);
    while (rows.n) {
        text_add(&text, text.n ? " > " : "");
        describe_name(view, rows.at[--rows.n], tui->ascii, &text);
    }
    if (text.n > CLIPBOARD_MOST) {
        tui_say(tui, "too long for a clipboard: %zu bytes", text.n);
    } else {
        add_clipboard_sequence(text_string(&text), &sequence);
        screen_send(text_string(&sequence));
        text_printf(&tui->message, "sent to the terminal's clipboard: %s", text_string(&text));
    }
}

const struct family export_family = {
    "Export", COMMANDS({"W", "write the view to a file; its name tells the format", ask_and_write, 0, 0},
                       {"y", "copy name, place and costs of the row to the terminal's clipboard", copy, false, 0},
                       {"Y", "copy the path to the row", copy, true, 0})};
