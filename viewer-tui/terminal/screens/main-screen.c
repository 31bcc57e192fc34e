/* The main screen: its layout, and the lines around the tree and the source. */
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/source-pane.h"

#include "viewer-tui/compare/run-line.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

static const struct {
    enum command command;
    const char *name;
} view_names[] = {[TOP_DOWN] = {COMMAND_TOP_DOWN, "1 top-down"},
                  [BOTTOM_UP] = {COMMAND_BOTTOM_UP, "2 bottom-up"},
                  [FLAT] = {COMMAND_FLAT, "3 flat"},
                  {COMMAND_THREADS, "4 threads"},
                  {COMMAND_SUMMARY, "5 summary"}};

#define N_VIEW_NAMES (sizeof view_names / sizeof *view_names)

/* The column at which the space before the i-th name is. */
static int view_name_column(size_t i)
{
    int at = 0;
    while (i > 0)
        at += (int)strlen(view_names[--i].name) + 2;
    return at;
}

enum command tui_command_at(int column)
{
    for (size_t i = 0; i < N_VIEW_NAMES; i++)
        if (column < view_name_column(i + 1))
            return view_names[i].command;
    return COMMAND_NONE;
}

static void draw_run(const struct tui *tui, int line)
{
    struct text run = {0};
    int width = screen_width();
    run_line_add(tui->session, tui_drawn_pane(tui)->view->db, width > 2 ? (size_t)width - 2 : 1,
                 tui->ascii, &run);
    screen_put(line, 1, width - 1, STYLE_PLAIN, text_string(&run));
    vec_free(&run);
}

/* Draws the names of the views and pages; on the right, what the numbers are. */
static void draw_title(const struct tui *tui, int line)
{
    const struct view *view = tui_drawn_pane(tui)->view;
    struct text right = {0};
    int width = screen_width(), end = view_name_column(N_VIEW_NAMES);
    screen_fill(line, 0, width, STYLE_BAR);
    for (size_t i = 0; i < N_VIEW_NAMES && view_name_column(i) < width; i++) {
        int at = view_name_column(i), length = (int)strlen(view_names[i].name);
        enum style style = i == (size_t)tui->id ? STYLE_PLAIN : STYLE_BAR;
        screen_fill(line, at, at + length + 2 > width ? width - at : length + 2, style);
        screen_put(line, at + 1, width - at - 1, style, view_names[i].name);
    }
    text_printf(&right, "[%s%s]", projection_name(tui->projection),
                session_folding_words(tui->session));
    size_t sorted = view->sorting.metric;
    if (metrics_whole(view->metrics, sorted) != sorted ||
        metric_is_of_effort(&view->metrics->at[sorted])) {
        text_add(&right, "  % of ");
        text_add_clean(&right, view->metrics->at[metrics_whole(view->metrics, sorted)].name,
                       tui->ascii);
    }
    int length = (int)text_columns(text_string(&right)), at = width - length - 1;
    screen_put(line, at > end + 1 ? at : end + 1, width - end - 1, STYLE_BAR, text_string(&right));
    vec_free(&right);
}

static void draw_headline(const struct tui *tui, int line)
{
    const char *text = text_string(&tui->headline), *more = " ... (a)";
    int room = screen_width() - 2, length = (int)strlen(more);
    bool fits = (int)text_columns(text) <= room;
    int used = screen_put(line, 1, fits ? room : room - length, STYLE_WARNING, text);
    if (!fits)
        screen_put(line, 1 + used, length, STYLE_DIM, more);
}

#define PATH_CUT "... > "

/* Most columns of a name in a path. */
#define MOST_NAME_COLUMNS 40

/* Adds the name of a row, after "... > " if a folded chain of start code hides rows above it. Returns the
 * next row of the path. */
static uint32_t add_step(const struct tui *tui, uint32_t row, struct text *out)
{
    const struct pane *pane = tui_drawn_pane(tui);
    const struct start_chain *chain = pane_folded_chain(pane, row);
    if (chain)
        text_add(out, PATH_CUT);
    describe_short_name(pane->view, row, tui->ascii, MOST_NAME_COLUMNS, out);
    return chain ? chain->first : view_row(pane->view, row)->parent;
}

void tui_add_path(const struct tui *tui, uint32_t row, struct text *out, size_t width)
{
    struct text path = {0}, longer = {0};
    while (row != 0) {
        text_clear(&longer);
        uint32_t above = add_step(tui, row, &longer);
        if (path.n)
            text_printf(&longer, " > %s", text_string(&path));
        if (path.n && text_columns(text_string(&longer)) + strlen(PATH_CUT) > width) {
            text_add(out, PATH_CUT);
            break;
        }
        text_clear(&path);
        text_add(&path, text_string(&longer));
        row = above;
    }
    text_add(out, text_string(&path));
    vec_free(&path);
    vec_free(&longer);
}

/* Draws the question and the text being typed. */
static void draw_question(const struct tui *tui, int line)
{
    int width = screen_width();
    int at = screen_put(line, 0, width, STYLE_PLAIN, tui->prompt);
    at += line_edit_draw(&tui->asked, (struct area){line, at, 1, width - at});
    screen_put(line, at + 2, width - at - 2, STYLE_WARNING, text_string(&tui->message));
}

static void draw_position(const struct tui *tui, int line)
{
    const struct pane *pane = tui_drawn_pane(tui);
    int width = screen_width();
    struct text position = {0};
    text_printf(&position, "%zu/%zu%s", pane->selected + 1, pane->shown.n,
                pane->root ? " zoomed" : "");
    if (pane->flattened)
        text_printf(&position, " flattened %u", pane->flattened);
    text_add(&position, "  ");
    if ((size_t)width > position.n)
        tui_add_path(tui, pane_row(pane), &position, (size_t)width - position.n);
    screen_put(line, 0, width, STYLE_PLAIN, text_string(&position));
    vec_free(&position);
}

/* Draws the path to the row that is zoomed into. */
static void draw_zoom(const struct tui *tui, int line)
{
    static const char way_out[] = "  Z: out";
    const struct pane *pane = tui_drawn_pane(tui);
    int width = screen_width();
    struct text zoom = {0};
    text_printf(&zoom, "zoomed %u deep: ", view_row(pane->view, pane->root)->depth);
    size_t used = zoom.n + sizeof way_out;
    if ((size_t)width > used)
        tui_add_path(tui, pane->root, &zoom, (size_t)width - used);
    text_add(&zoom, way_out);
    screen_put(line, 0, width, STYLE_DIM, text_string(&zoom));
    vec_free(&zoom);
}

/* Draws as many filters as fit. */
static void draw_filters(const struct tui *tui, int line)
{
    static const char help[] = "  \\: list  U: undo";
    const struct filters *filters = tui->filters;
    int width = screen_width(), room = width - (int)sizeof help;
    struct text chip = {0};
    int at = screen_put(line, 0, room, STYLE_PLAIN, "filters: ");
    for (size_t i = 0; i < filters_n(filters); i++) {
        text_clear(&chip);
        text_add(&chip, "[");
        filter_describe_short(filters_at(filters, i), tui->ascii, MOST_NAME_COLUMNS, &chip);
        text_add(&chip, "]");
        if (at + (int)text_columns(text_string(&chip)) + 4 > room && i > 0) {
            at += screen_put(line, at, room - at, STYLE_PLAIN, "...");
            break;
        }
        at += screen_put(line, at, room - at, STYLE_WARNING, text_string(&chip)) + 1;
    }
    screen_put(line, at, width - at, STYLE_DIM, help);
    vec_free(&chip);
}

/* Draws the whole message: if it is long, over the lines above the status line, too. */
static void draw_message(const struct tui *tui, int line)
{
    size_t width = (size_t)screen_width();
    const char *rest = text_string(&tui->message);
    struct text piece = {0};
    int n = 0;
    while (text_take_line(&rest, width, &piece))
        n++;
    rest = text_string(&tui->message);
    for (int at = n > line ? 0 : line - n + 1; text_take_line(&rest, width, &piece); at++) {
        screen_fill(at, 0, (int)width, STYLE_PLAIN);
        screen_put(at, 0, (int)width, STYLE_WARNING, text_string(&piece));
    }
    vec_free(&piece);
}

static void draw_status(const struct tui *tui, int line)
{
    screen_fill(line, 0, screen_width(), STYLE_PLAIN);
    if (tui->prompt)
        draw_question(tui, line);
    else if (tui->message.n)
        draw_message(tui, line);
    else
        draw_position(tui, line);
}

/* Draws as many keys as fit, the most important ones first. */
static void draw_help_line(int line)
{
    static const char *const keys[] = {
        "?:help",    "q:quit",   "Enter:open",           "H:hot path", "s:sort", "a:advice",
        "/:find",    "v:source", "p:physical",           "&:filter",   "z:zoom", "i:inspect",
        "C:columns", "d:define", ".:other views",        "W:write",    "y:copy", "e:edit",
        "[:back",    "J,K,(,):scroll source"};
    int width = screen_width(), at = 1;
    screen_fill(line, 0, width, STYLE_BAR);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (at + (int)strlen(keys[i]) > width)
            break;
        at += screen_put(line, at, width - at, STYLE_BAR, keys[i]) + 1;
    }
}

static void prepare_layout(struct tui *tui)
{
    const struct pane *pane = tui_pane(tui);
    struct layout_content content = {.n_rows = pane->shown.n,
                                     .n_source_lines = tui_source_lines(tui),
                                     .has_advice = tui->has_headline,
                                     .has_zoom = pane->root != 0,
                                     .has_filters = filters_n(tui->filters) > 0,
                                     .has_source = tui->shows_source,
                                     .is_source = tui->source && tui->source->source->n_lines,
                                     .asks = tui->prompt != NULL};
    tui->layout = layout_make(screen_width(), screen_height(), &content);
}

static void prepare(struct tui *tui)
{
    if (tui->shows_source)
        tui_prepare_source(tui);
    prepare_layout(tui);
    free(tui->shown_columns.at);
    tui->shown_columns = tui_columns(tui, tui->layout.tree.width);
    tui_prepare_tree(tui, tui->layout.tree);
    if (tui->layout.source.height)
        tui_place_source(tui, tui->layout.source);
}

static void draw(const struct tui *tui)
{
    const struct layout *layout = &tui->layout;
    screen_begin();
    if (layout->run != NO_LINE)
        draw_run(tui, layout->run);
    if (layout->title != NO_LINE)
        draw_title(tui, layout->title);
    if (layout->advice != NO_LINE)
        draw_headline(tui, layout->advice);
    if (layout->heads.height)
        tui_draw_heads(tui, layout->heads);
    if (layout->zoom != NO_LINE)
        draw_zoom(tui, layout->zoom);
    tui_draw_tree(tui, layout->tree);
    if (layout->source.height)
        tui_draw_source(tui, layout->source);
    if (layout->filters != NO_LINE)
        draw_filters(tui, layout->filters);
    if (layout->status != NO_LINE)
        draw_status(tui, layout->status);
    if (layout->help != NO_LINE)
        draw_help_line(layout->help);
    screen_end();
}

void tui_show(struct tui *tui)
{
    prepare(tui);
    draw(tui);
}

void tui_announce(const char *what)
{
    int height = screen_height(), line = height > 7 ? height - 2 : height - 1;
    screen_fill(line, 0, screen_width(), STYLE_PLAIN);
    screen_put(line, 0, screen_width(), STYLE_WARNING, what);
    screen_end();
}

bool tui_tell_progress(const char *what, int percent)
{
    struct text line = {0};
    text_printf(&line, "%s ...", what);
    if (percent >= 0)
        text_printf(&line, " %d %%", percent);
    text_add(&line, "  (Esc stops)");
    tui_announce(text_string(&line));
    vec_free(&line);
    return !screen_escape_pressed();
}
