/* The main screen: where its parts are, and the lines around the tree and the source. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

/* The source is to the right of the tree if the screen has at least this width in columns, and at least
 * this ratio of columns to lines. */
#define WIDTH_SIDE_BY_SIDE  160
#define ASPECT_SIDE_BY_SIDE 3

/* Lines that the tree keeps if the source below it has more lines than fit. */
#define LEAST_TREE_HEIGHT 5

/* Smallest height of the screen with a source pane. */
#define HEIGHT_FOR_SOURCE 14

/* Most columns of a name in a path or a filter. */
#define MOST_NAME_COLUMNS 40

/* Names of views and pages. They begin with their keys; the first ones are in the order of enum view_id. */
static const char *const view_names[] = {"1 top-down", "2 bottom-up", "3 flat", "4 threads", "5 summary", "6 time"};

#define N_VIEW_NAMES (sizeof view_names / sizeof *view_names)

/* The column at which the space before the i-th name is. */
static int view_name_column(size_t i)
{
    int at = 0;
    while (i > 0)
        at += (int)strlen(view_names[--i]) + 2;
    return at;
}

const struct command *tui_command_at(int column)
{
    for (size_t i = 0; i < N_VIEW_NAMES; i++)
        if (column < view_name_column(i + 1))
            return command_of_key(*view_names[i]);
    return NULL;
}

static void draw_run(const struct tui *tui, struct area area)
{
    autofree struct text run = {0};
    run_line_add(tui->session, tui_pane(tui)->view->db, area.width > 2 ? (size_t)area.width - 2 : 1, tui->ascii,
                 &run);
    screen_put(area.line, 1, area.width - 1, STYLE_PLAIN, text_string(&run));
}

/* Draws the names of the views and pages; on the right, what the numbers are. */
static void draw_title(const struct tui *tui, struct area area)
{
    const struct view *view = tui_pane(tui)->view;
    autofree struct text right = {0};
    int width = area.width, end = view_name_column(N_VIEW_NAMES);
    screen_fill(area.line, 0, width, STYLE_BAR);
    for (size_t i = 0; i < N_VIEW_NAMES && view_name_column(i) < width; i++) {
        int at = view_name_column(i), length = (int)strlen(view_names[i]);
        enum style style = i == (size_t)tui->id ? STYLE_PLAIN : STYLE_BAR;
        screen_fill(area.line, at, length + 2, style);
        screen_put(area.line, at + 1, width - at - 1, style, view_names[i]);
    }
    text_printf(&right, "[%s%s]", projection_name(tui->projection), session_folding_words(tui->session));
    size_t sorted = view->sorting.metric, whole = metrics_whole(view->metrics, sorted);
    if (whole != sorted || metric_is_of_effort(&view->metrics->at[sorted]))
        text_say(&right, tui->ascii, "  %% of %s", view->metrics->at[whole].name);
    int at = width - (int)text_columns(text_string(&right)) - 1;
    screen_put(area.line, at > end + 1 ? at : end + 1, width - end - 1, STYLE_BAR, text_string(&right));
}

static void draw_headline(const struct tui *tui, struct area area)
{
    const char *text = text_string(&tui->headline), *more = " ... (a)";
    int room = area.width - 2, length = (int)strlen(more);
    bool fits = (int)text_columns(text) <= room;
    int used = screen_put(area.line, 1, fits ? room : room - length, STYLE_WARNING, text);
    if (!fits)
        screen_put(area.line, 1 + used, length, STYLE_DIM, more);
}

#define PATH_CUT "... > "

/* Adds the path to a row: long names shortened, and only as much of its end as fits. The names of start code that a folded
 * chain hides are left out. */
static void add_path(const struct tui *tui, uint32_t row, struct text *out, int width)
{
    const struct pane *pane = tui_pane(tui);
    autofree struct text path = {0}, longer = {0};
    while (row != 0 && width > 0) {
        const struct start_chain *chain = pane_folded_chain(pane, row);
        text_clear(&longer);
        text_add(&longer, chain ? PATH_CUT : "");
        describe_short_name(pane->view, row, tui->ascii, MOST_NAME_COLUMNS, &longer);
        if (path.n)
            text_printf(&longer, " > %s", text_string(&path));
        if (path.n && text_columns(text_string(&longer)) + strlen(PATH_CUT) > (size_t)width) {
            text_add(out, PATH_CUT);
            break;
        }
        text_clear(&path);
        text_add(&path, text_string(&longer));
        row = chain ? chain->first : view_row(pane->view, row)->parent;
    }
    text_add(out, text_string(&path));
}

static void draw_zoom(const struct tui *tui, struct area area)
{
    static const char after[] = "  Z: out";
    const struct pane *pane = tui_pane(tui);
    autofree struct text zoom = {0};
    text_printf(&zoom, "zoomed %u deep: ", view_row(pane->view, pane->root)->depth);
    add_path(tui, pane->root, &zoom, area.width - (int)(zoom.n + sizeof after));
    text_add(&zoom, after);
    screen_put(area.line, 0, area.width, STYLE_DIM, text_string(&zoom));
}

/* Draws as many filters as fit. */
static void draw_filters(const struct tui *tui, struct area area)
{
    static const char help[] = "  \\: list  U: undo";
    int line = area.line, width = area.width, room = width - (int)sizeof help;
    autofree struct text chip = {0};
    int at = screen_put(line, 0, room, STYLE_PLAIN, "filters: ");
    for (size_t i = 0; i < filters_n(tui->filters); i++) {
        text_clear(&chip);
        text_add(&chip, "[");
        filter_describe_short(filters_at(tui->filters, i), tui->ascii, MOST_NAME_COLUMNS, &chip);
        text_add(&chip, "]");
        if (at + (int)text_columns(text_string(&chip)) + 4 > room && i > 0) {
            at += screen_put(line, at, room - at, STYLE_PLAIN, "...");
            break;
        }
        at += screen_put(line, at, room - at, STYLE_WARNING, text_string(&chip)) + 1;
    }
    screen_put(line, at, width - at, STYLE_DIM, help);
}

/* Draws the whole message: if it is long, over the lines above the status line, too. */
static void draw_message(const struct tui *tui, int line)
{
    size_t width = (size_t)screen_width();
    const char *rest = text_string(&tui->message);
    autofree struct text piece = {0};
    int n = 0;
    while (text_take_line(&rest, width, &piece))
        n++;
    rest = text_string(&tui->message);
    for (int at = n > line ? 0 : line - n + 1; text_take_line(&rest, width, &piece); at++) {
        screen_fill(at, 0, (int)width, STYLE_PLAIN);
        screen_put(at, 0, (int)width, STYLE_WARNING, text_string(&piece));
    }
}

/* Draws the message for the user, or the position in the tree. */
static void draw_status(const struct tui *tui, struct area area)
{
    const struct pane *pane = tui_pane(tui);
    autofree struct text position = {0};
    screen_fill(area.line, 0, area.width, STYLE_PLAIN);
    if (tui->message.n) {
        draw_message(tui, area.line);
        return;
    }
    text_printf(&position, "%zu/%zu%s  ", pane->scroller.selected + 1, pane->shown.n, pane->root ? " zoomed" : "");
    add_path(tui, pane_row(pane), &position, area.width - (int)position.n);
    screen_put(area.line, 0, area.width, STYLE_PLAIN, text_string(&position));
}

/* Draws as many keys as fit, the most important ones first. */
static void draw_help_line(const struct tui *tui, struct area area)
{
    static const char *const keys[] = {
        "?:help",    "q:quit",   "Enter:open",           "H:hot path", "s:sort", "a:advice",
        "/:find",    "v:source", "p:physical",           "&:filter",   "z:zoom", "i:inspect",
        "C:columns", "d:define", ".:other views",        "W:write",    "e:edit", "[:back",
        "J,K,(,):scroll source"};
    int at = 1;
    (void)tui;
    screen_fill(area.line, 0, area.width, STYLE_BAR);
    for (size_t i = 0; i < sizeof keys / sizeof *keys && at + (int)strlen(keys[i]) <= area.width; i++)
        at += screen_put(area.line, at, area.width - at, STYLE_BAR, keys[i]) + 1;
}

/* The parts of the screen. On a low screen parts are left out; the tree, which gets the rest, is the last one to go. */
static const struct {
    int least_height; /* of the screen */
    int lines;
    void (*draw)(const struct tui *tui, struct area area);
} parts[PARTS] = {
    [PART_RUN] = {20, 1, draw_run},
    [PART_TITLE] = {6, 1, draw_title},
    [PART_ADVICE] = {20, 1, draw_headline},
    [PART_HEADS] = {6, 2, tui_draw_heads},
    [PART_ZOOM] = {10, 1, draw_zoom},
    [PART_TREE] = {0, 0, tui_draw_tree},
    [PART_SOURCE] = {0, 0, tui_draw_source},
    [PART_FILTERS] = {10, 1, draw_filters},
    [PART_STATUS] = {2, 1, draw_status},
    [PART_HELP] = {8, 1, draw_help_line}};

static bool has_part(const struct tui *tui, enum part part)
{
    switch (part) {
    case PART_ADVICE: return tui->has_headline;
    case PART_ZOOM: return tui_pane(tui)->root != 0;
    case PART_FILTERS: return filters_n(tui->filters) > 0;
    default: return true;
    }
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Puts the source to the right of the tree on a wide screen, unless an explanation stands in its place; else below, on
 * two fifths of the lines: on more if the tree has few rows, on fewer if the file is short. */
static void place_source(struct tui *tui)
{
    struct area *tree = &tui->areas[PART_TREE], *heads = &tui->areas[PART_HEADS], *source = &tui->areas[PART_SOURCE];
    int width = screen_width(), height = screen_height();
    *source = *tree;
    if (width >= WIDTH_SIDE_BY_SIDE && width >= ASPECT_SIDE_BY_SIDE * height && tui->source.source->lines.n) {
        heads->width = tree->width = width * 11 / 20;
        source->column = tree->width + 1;
        source->width = width - tree->width - 1;
        source->line = heads->line;
        source->height += tree->line - heads->line;
        return;
    }
    size_t n = tui_pane(tui)->shown.n, whole = (size_t)tree->height;
    size_t rows = min_size(n > LEAST_TREE_HEIGHT ? n : LEAST_TREE_HEIGHT, whole - whole * 2 / 5);
    source->height = (int)min_size(whole - rows, tui_source_lines(tui) + 1);
    tree->height -= source->height;
    source->line += tree->height;
}

static void place_parts(struct tui *tui)
{
    int top = 0, bottom = screen_height(), height = bottom, width = screen_width();
    for (int part = 0; part < PARTS; part++) {
        bool is_shown = height >= parts[part].least_height && has_part(tui, part);
        tui->areas[part] = (struct area){top, 0, is_shown ? parts[part].lines : 0, width};
        if (part < PART_TREE)
            top += tui->areas[part].height;
    }
    for (int part = PARTS - 1; part > PART_TREE; part--)
        tui->areas[part].line = bottom -= tui->areas[part].height;
    tui->areas[PART_TREE].height = bottom - top;
    if (tui->shows_source && height >= HEIGHT_FOR_SOURCE)
        place_source(tui);
}

void tui_show(struct tui *tui)
{
    if (tui->shows_source)
        tui_prepare_source(tui);
    place_parts(tui);
    vec_free(&tui->shown_columns);
    tui->shown_columns = tui_columns(tui, tui->areas[PART_TREE].width);
    tui_prepare_tree(tui, tui->areas[PART_TREE]);
    if (tui->areas[PART_SOURCE].height)
        tui_place_source(tui, tui->areas[PART_SOURCE]);
    screen_begin();
    for (int part = 0; part < PARTS; part++)
        if (tui->areas[part].height)
            parts[part].draw(tui, tui->areas[part]);
    screen_end();
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
    autofree struct text line = {0};
    text_printf(&line, "%s ...", what);
    if (percent >= 0)
        text_printf(&line, " %d %%", percent);
    text_add(&line, "  (Esc stops)");
    tui_announce(text_string(&line));
    return !screen_escape_pressed();
}
