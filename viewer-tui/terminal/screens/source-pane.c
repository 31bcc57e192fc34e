/* The source pane, and the commands for it. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "lib/source-names.h"
#include "viewer-tui/advice/parallelization.h"
#include "viewer-tui/base/shorten.h"
#include "viewer-tui/terminal/editor.h"
#include "viewer-tui/tree/code-owner.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

/* Columns left of the code: cost of the line in percent, and signs. */
#define PERCENT_COLUMNS 7
#define MARGIN_COLUMNS  (PERCENT_COLUMNS + 4)

/* Columns of the line number and the mark of the row's line. */
#define NUMBER_COLUMNS 9

/* Columns that the code and its line numbers keep before there is a margin with costs. */
#define LEAST_CODE_COLUMNS 40

/* Signs of lines that begin a loop, of lines with calls, and of lines that continue beyond the edge of the screen. */
#define SIGN_LOOP(ascii) ((ascii) ? "@" : "↻")
#define SIGN_CALL(ascii) ((ascii) ? "*" : "»")
#define SIGN_MORE(ascii) ((ascii) ? ">" : "…")

/* ---- rows without source ----
 *
 * An explanation stands in its place, and the nearest line of the user's own code (code-owner.h) that leads there. Code
 * of a runtime that is tagged as overhead has the tag in place of its file name (lib/source-names.h). */

/* Adds what the title of the pane says of a path that is an overhead tag; false if it is none. */
static bool add_tag(const struct tui *tui, const char *path, struct text *out)
{
    const char *kind = overhead_kind(path);
    if (!kind)
        return false;
    bool is_named = strcmp(kind, "overhead") != 0;
    text_say(out, tui->ascii, " overhead of the runtime%s%s ", is_named ? ": " : "", is_named ? kind : "");
    return true;
}

/* Whether the innermost procedure around a row, or the row itself, is the user's own. */
static bool is_in_own_code(const struct view *view, uint32_t row)
{
    view = view_origin(view, &row);
    while (row != 0 && !row_is_procedure(view_row(view, row)))
        row = view_row(view, row)->parent;
    return code_owner(view, row) == CODE_OWN;
}

/* The row that tui_go_to_own_call selects; NOTHING: none. */
static uint32_t nearest_own_call(struct tui *tui)
{
    const struct view *view = tui_pane(tui)->view;
    uint32_t row = pane_row(tui_pane(tui)), origin_row = row;
    if (view_origin(view, &origin_row)->class != &topdown_class || is_in_own_code(view, row))
        return NOTHING;
    for (; row != 0; row = view_row(view, row)->parent) {
        origin_row = row;
        const struct view *origin = view_origin(view, &origin_row);
        if (view_row(origin, origin_row)->call_line && is_in_own_code(view, view_row(view, row)->parent))
            return row;
    }
    return NOTHING;
}

bool tui_go_to_own_call(struct tui *tui)
{
    uint32_t row = nearest_own_call(tui);
    if (row == NOTHING)
        return false;
    pane_select(tui_pane(tui), row);
    tui->source_scroll = (struct source_scroll){.at_call = true};
    return true;
}

/* Adds why a row has no source, and what to do about it. */
static void explain_missing(struct tui *tui, const struct shown_source *shown, struct text *out)
{
    const char *path = database_file_path(shown->view->db, shown->file), *kind = path ? overhead_kind(path) : NULL;
    uint32_t row = pane_row(tui_pane(tui)), own = nearest_own_call(tui);
    const struct view *view = tui_pane(tui)->view, *origin = view_origin(view, &row);
    if (kind) {
        const char *meaning = overhead_kind_meaning(kind);
        bool is_named = strcmp(kind, "overhead") != 0;
        text_say(out, tui->ascii,
                 "Code of the parallel runtime, tagged as overhead%s%s%s%s. The tag stands in place of the name of the "
                 "runtime's file, so there is no source to show. What is spent here counts as overhead, not as work: a "
                 "coarser grain reduces it. The rows above show which parallel code causes it.",
                 is_named ? " of the kind " : "", is_named ? kind : "", meaning ? ": " : "", text_or_empty(meaning));
        return;
    }
    if (own != NOTHING) {
        const struct view *of_call = view_origin(view, &own);
        autofree struct text line = {0};
        label_file_line(of_call->db, view_row(of_call, own)->call_file, view_row(of_call, own)->call_line, &line);
        text_say(out, tui->ascii, "No source here; nearest line of yours: %s (press w). ", text_string(&line));
    }
    if (view_row(origin, row)->kind <= KIND_MODULE) /* has no code */
        return;
    if (shown->file == NOTHING || database_file_point(shown->view->db, shown->file))
        text_add(out, "The source lines of this code are unknown: its binary was built without -g, or its debugging "
                      "information is not installed.");
    else
        text_add(out, "The database has no copy of this file, and there is no file at its path. Start with -I DIR to "
                      "search it below a directory, or with -R OLD=NEW where paths that begin with OLD begin with NEW "
                      "now.");
}

/* ---- what is shown ---- */

/* The pane shows where the row is declared, or where it is called. Callers in the bottom-up view are shown at their
 * calls, unless the user switched to the other place. */
void tui_prepare_source(struct tui *tui)
{
    struct shown_source *shown = &tui->source;
    struct pane *pane = tui_pane(tui);
    uint32_t row = pane_row(pane), number = row;
    bool is_procedure = row_is_procedure(view_row(pane->view, row));
    double most = 0;
    shown->view = view_origin(pane->view, &number);
    const struct row *origin = view_row(shown->view, number);
    bool is_caller = shown->view->class->shows_callers && origin->depth > 1;
    shown->is_call = (tui->shows_call_site != is_caller || tui->source_scroll.at_call) && origin->call_line;
    shown->file = origin->call_file;
    shown->line = origin->call_line;
    if (!shown->is_call)
        label_place(shown->view, number, &shown->file, &shown->line);
    shown->source = sources_get(&tui->sources, shown->view->db, shown->file);
    /* The lines around a call belong to the caller, the row above. */
    if (shown->is_call && !pane->view->class->shows_callers)
        row = view_row(pane->view, row)->parent;
    shown->costs.n = 0;
    if (shown->source->lines.n)
        line_costs_find(&shown->costs, pane->view, row, shown->file);
    for (size_t i = 0; tui->source_scroll.at_hottest && !shown->is_call && is_procedure && i < shown->costs.n; i++)
        if (shown->costs.at[i].cost > most) { /* in place of the line that declares the procedure */
            most = shown->costs.at[i].cost;
            shown->line = shown->costs.at[i].line;
        }
    text_clear(&shown->missing);
    if (shown->source->lines.n == 0)
        explain_missing(tui, shown, &shown->missing);
}

size_t tui_source_lines(const struct tui *tui)
{
    size_t width = screen_width() > 8 ? (size_t)screen_width() - 8 : 1, n = tui->source.source->lines.n;
    return n ? n : text_columns(text_string(&tui->source.missing)) / width + 2;
}

/* Draws the metric of the margin on the right of the title; returns the columns used. */
static int draw_metric(const struct tui *tui, struct area area)
{
    const struct view *view = tui_pane(tui)->view;
    autofree struct text text = {0};
    size_t metric = view->sorting.metric, whole = metrics_whole(view->metrics, metric);
    text_say(&text, tui->ascii, " %s, %s, %% of %s ", view->metrics->at[metric].name,
             view->sorting.part == INCLUSIVE ? "inclusive" : "exclusive", view->metrics->at[whole].name);
    int columns = (int)text_columns(text_string(&text));
    bool fits = columns + 2 < area.width / 2;
    if (fits)
        screen_put(area.line, area.column + area.width - columns - 2, columns, STYLE_PLAIN,
                   text_string(&text));
    return fits ? columns + 2 : 0;
}

/* Draws "FILE:LINE", shortened if possible, or what stands in its place. */
static void draw_title(const struct tui *tui, struct area area, const struct shown_source *shown)
{
    autofree struct text title = {0}, clean = {0}, after = {0};
    const char *path = database_file_path(shown->view->db, shown->file);
    bool has_source = shown->source->lines.n != 0;
    screen_rule(area.line, area.column, area.width);
    int room = area.width - 4 - (shown->costs.n ? draw_metric(tui, area) : 0);
    if (!path)
        text_add(&title, " no source file is known ");
    else if (has_source || !add_tag(tui, path, &title)) {
        text_add(&title, has_source ? " " : " no source: ");
        text_add_clean(&clean, path, tui->ascii);
        if (shown->line)
            text_printf(&after, ":%u", shown->line);
        if (tui->source_scroll.columns)
            text_printf(&after, ", from column %ld", tui->source_scroll.columns + 1);
        text_add(&after, " ");
        int left = room - (int)(title.n + after.n);
        shorten_path(text_string(&clean), left > 0 ? (size_t)left : 0, tui->ascii, &title);
        text_add(&title, text_string(&after));
    }
    screen_put(area.line, area.column + 2, room, STYLE_PLAIN, text_string(&title));
}

/* Draws the percentage and the signs for loops and calls. */
static void draw_margin(const struct tui *tui, const struct shown_source *shown, uint32_t line, struct area area)
{
    const struct view *view = tui_pane(tui)->view;
    const struct metric *metric = &view->metrics->at[view->sorting.metric];
    const struct line_cost *cost = line_costs_of(&shown->costs, line);
    double whole = view_whole(view, view->sorting.metric);
    bool is_marked = line == shown->line;
    enum style style = is_marked ? STYLE_SELECTED : STYLE_PLAIN;
    int at = area.column + PERCENT_COLUMNS + 1;
    if (cost && cost->cost != 0 && whole != 0 && !metric->is_ratio) {
        autofree struct text text = {0};
        text_add_right(&text, columns_percent(metric, cost->cost, whole).text, PERCENT_COLUMNS - 1);
        text_add(&text, "%");
        screen_put(area.line, area.column, PERCENT_COLUMNS, is_marked ? style : screen_heat(cost->cost / whole),
                   text_string(&text));
    }
    if (cost && cost->begins_loop)
        screen_put(area.line, at, 1, style, SIGN_LOOP(tui->ascii));
    if (cost && cost->calls)
        screen_put(area.line, at + 1, 1, style, SIGN_CALL(tui->ascii));
}

static bool has_margin(int width)
{
    return width >= MARGIN_COLUMNS + LEAST_CODE_COLUMNS;
}

/* Number of columns for the code. */
static long code_room(int width)
{
    long room = width - NUMBER_COLUMNS - (has_margin(width) ? MARGIN_COLUMNS : 0);
    return room > 0 ? room : 0;
}

/* Number of columns of a line of code. */
static long columns_of(const struct tui *tui, const struct source *source, uint32_t line)
{
    autofree struct text code = {0}, clean = {0};
    text_add_expanded(&code, source_line(source, line));
    text_add_clean_code(&clean, text_string(&code), tui->ascii);
    return (long)text_columns(text_string(&clean));
}

/* Draws a line of code, piece by piece of one kind, without the columns to the left of the pane. */
static void draw_code(const struct tui *tui, const struct source *source, uint32_t line,
                      struct area area, bool is_marked)
{
    static const enum style styles[] = {
        [SYNTAX_CODE] = STYLE_PLAIN,      [SYNTAX_COMMENT] = STYLE_COMMENT,
        [SYNTAX_STRING] = STYLE_STRING,   [SYNTAX_NUMBER] = STYLE_NUMBER,
        [SYNTAX_KEYWORD] = STYLE_KEYWORD, [SYNTAX_DIRECTIVE] = STYLE_DIRECTIVE};
    autofree struct text code = {0};
    size_t hidden = (size_t)tui->source_scroll.columns;
    int edge = area.column + area.width;
    long room = area.width;
    text_add_expanded(&code, source_line(source, line));
    autofree uint8_t *kinds = mem_alloc(code.n + 1); /* SYNTAX_CODE */
    if (source->syntax)
        syntax_line(source->syntax, source->states[line - 1], text_string(&code), kinds);
    for (size_t from = 0, to; from < code.n && area.width > 0; from = to) {
        for (to = from + 1; to < code.n && kinds[to] == kinds[from];)
            to++;
        autofree struct text piece = {0}, clean = {0};
        text_add_bytes(&piece, code.at + from, to - from);
        text_add_clean_code(&clean, text_string(&piece), tui->ascii);
        size_t columns = text_columns(text_string(&clean));
        int used = screen_put(area.line, area.column, area.width, is_marked ? STYLE_SELECTED : styles[kinds[from]],
                              text_skip(text_string(&clean), hidden));
        hidden -= hidden < columns ? hidden : columns;
        area.column += used;
        area.width -= used;
    }
    if (columns_of(tui, source, line) > tui->source_scroll.columns + room)
        screen_put(area.line, edge - 1, 1, is_marked ? STYLE_SELECTED : STYLE_DIM, SIGN_MORE(tui->ascii));
}

static void draw_line(const struct tui *tui, const struct shown_source *shown, uint32_t line,
                      struct area area)
{
    bool is_marked = line == shown->line;
    enum style style = is_marked ? STYLE_SELECTED : STYLE_PLAIN;
    if (is_marked)
        screen_fill(area.line, area.column, area.width, style);
    if (has_margin(area.width)) {
        draw_margin(tui, shown, line, area);
        area.column += MARGIN_COLUMNS;
        area.width -= MARGIN_COLUMNS;
    }
    autofree char *number = mem_printf("%6u %s ", line, is_marked ? ">" : " ");
    int used = screen_put(area.line, area.column, area.width, style, number);
    area.column += used;
    area.width -= used;
    draw_code(tui, shown->source, line, area, is_marked);
}

/* The marked line is in the middle, scrolled as far as there are lines; to the right as far as the longest line on the
 * screen goes. */
void tui_place_source(struct tui *tui, struct area area)
{
    const struct source *source = tui->source.source;
    struct source_scroll *scroll = &tui->source_scroll;
    long height = area.height - 1, n = (long)source->lines.n, last = n - height + 1, longest = 0;
    long centered = (long)tui->source.line - height / 2, first = centered + scroll->lines;
    first = first > last ? last : first;
    first = first < 1 ? 1 : first;
    if (centered >= 1 && centered <= last)
        scroll->lines = first - centered;
    tui->source.first = (uint32_t)first;
    for (long line = first; line < first + height && line <= n; line++) {
        long columns = columns_of(tui, source, (uint32_t)line);
        longest = columns > longest ? columns : longest;
    }
    if (scroll->columns > longest - code_room(area.width))
        scroll->columns = longest - code_room(area.width);
    if (scroll->columns < 0)
        scroll->columns = 0;
}

void tui_draw_source(const struct tui *tui, struct area area)
{
    const struct shown_source *shown = &tui->source;
    size_t n_lines = shown->source->lines.n;
    struct area line = {area.line + 1, area.column, 1, area.width};
    int end = area.line + area.height, margin = area.width > 4 ? 2 : 0;
    draw_title(tui, area, shown);
    for (uint32_t i = shown->first; line.line < end && i <= n_lines; i++, line.line++)
        draw_line(tui, shown, i, line);
    const char *rest = text_string(&shown->missing);
    size_t width = area.width > 2 * margin ? (size_t)(area.width - 2 * margin) : 1;
    autofree struct text piece = {0};
    for (; line.line < end && text_take_line(&rest, width, &piece); line.line++)
        screen_put(line.line, area.column + margin, (int)width, STYLE_PLAIN, text_string(&piece));
}

/* ---- commands ---- */

/* Opens the original file if it exists: changes in the database's copy would be lost. */
static void edit(struct tui *tui)
{
    autofree struct text problem = {0};
    const struct shown_source *shown = &tui->source;
    tui_prepare_source(tui);
    autofree char *original = source_original(tui->session->rules, shown->view->db, shown->file);
    const char *path = original ? original : shown->source->path;
    if (path) {
        screen_suspend();
        editor_run(path, shown->line, &problem);
        screen_resume();
        tui_say(tui, "%s", text_string(&problem));
    } else {
        tui_say(tui, "no source file to edit");
    }
}

static void switch_place(struct tui *tui)
{
    tui->shows_call_site = !tui->shows_call_site && !tui->source_scroll.at_call;
    tui->source_scroll = (struct source_scroll){0};
}

static void go_to_own_call(struct tui *tui)
{
    uint32_t row = pane_row(tui_pane(tui));
    const struct view *origin = view_origin(tui_pane(tui)->view, &row);
    tui->shows_source = true;
    if (!tui_go_to_own_call(tui))
        tui_say(tui, origin->class == &topdown_class ? "no line of yours leads to this row, or it has one itself"
                                                     : "only in the top-down view, which has callers above");
}

static void scroll_lines(struct tui *tui)
{
    int lines = tui->command->argument;
    tui->source_scroll.lines += lines;
}

/* Scrolls by half the width of the code. */
static void scroll_sideways(struct tui *tui)
{
    int direction = tui->command->argument;
    long step = code_room(tui->areas[PART_SOURCE].width) / 2;
    tui->source_scroll.columns += direction * (step > 0 ? step : 1);
}

const struct family source_family = {
    "Source",
    COMMANDS({"v", "show or hide the source of the row", tui_switch, offsetof(struct tui, shows_source), 0},
             {"c", "switch between the call of the row and its declaration", switch_place, 0, 0},
             {"w", "code without source: go to the nearest line of yours that leads to it", go_to_own_call, 0, JUMP},
             {"K", "scroll the source up", scroll_lines, -1, 0},
             {"J", "scroll the source down", scroll_lines, 1, 0},
             {"), Shift-Right", "scroll long source lines to the right", scroll_sideways, 1, 0},
             {"(, Shift-Left", "scroll the source to the left", scroll_sideways, -1, 0},
             {"D", "disassemble: the procedure's instructions, with their costs", tui_disassemble, 0, PAGE},
             {"e", "open the source in $VISUAL, $EDITOR or vi, at the line", edit, 0, 0})};
