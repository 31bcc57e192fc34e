/* Drawing the screen: what is where, and the lines around the tree and the source. */
#include "viewer-tui/terminal/screens/main-screen.h"
#include "viewer-tui/terminal/screens/source-pane.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/describe.h"

#include <string.h>

/* Heights at which parts of the screen come in. */
#define HEIGHT_FOR_HEADS  6
#define HEIGHT_FOR_HELP   8
#define HEIGHT_FOR_PLACES 10 /* the filters, and what is zoomed into */
#define HEIGHT_FOR_SOURCE 14

/* And the width at which the names of all that the keys 1 to 5 show do. */
#define WIDTH_FOR_PAGES 110

/* The names of the views on the right of a line, and of pages where it is wide; the column at which
 * they begin. */
static int draw_view_names(struct tui *tui, int line)
{
    static const struct {
        enum command command;
        const char *name;
    } names[] = {[TOP_DOWN] = {COMMAND_TOP_DOWN, "1 top-down"},
                 [BOTTOM_UP] = {COMMAND_BOTTOM_UP, "2 bottom-up"},
                 [FLAT] = {COMMAND_FLAT, "3 flat"},
                 {COMMAND_THREADS, "4 threads"},
                 {COMMAND_SUMMARY, "5 summary"}};
    int at = screen_width();
    int n = at >= WIDTH_FOR_PAGES ? (int)(sizeof names / sizeof *names) : VIEWS;
    for (int i = n - 1; i >= 0; i--) {
        int length = (int)strlen(names[i].name);
        at -= length + 2;
        enum style style = i == (int)tui->id ? STYLE_PLAIN : STYLE_BAR;
        screen_fill(line, at, length + 2, style);
        screen_put(line, at + 1, length, style, names[i].name);
        vec_push(&tui->spots, (struct spot){.kind = SPOT_COMMAND,
                                            .area = {line, at, 1, length + 2},
                                            .number = (size_t)names[i].command});
    }
    return at;
}

static void draw_title(struct tui *tui, int line)
{
    const struct view *view = tui_pane(tui)->view;
    struct text title = {0};
    screen_fill(line, 0, screen_width(), STYLE_BAR);
    int at = draw_view_names(tui, line);
    text_add(&title, " hpcviewer  ");
    text_add_clean(&title, session_title(tui->session, view->db), tui->ascii);
    text_printf(&title, "  [%s%s]", projection_name(tui->projection),
                session_folding_words(tui->session));
    size_t sorted = view->sorting.metric;
    if (metrics_whole(view->metrics, sorted) != sorted ||
        metric_is_of_effort(&view->metrics->at[sorted])) {
        text_add(&title, "  % of ");
        text_add_clean(&title, view->metrics->at[metrics_whole(view->metrics, sorted)].name,
                       tui->ascii);
    }
    screen_put(line, 0, at - 1, STYLE_BAR, text_string(&title));
    vec_free(&title);
}

#define PATH_CUT "... > "

/* Longer names in a path are shortened. */
#define MOST_NAME_COLUMNS 40

void tui_add_path(struct tui *tui, uint32_t row, struct text *out, size_t width)
{
    struct pane *pane = tui_pane(tui);
    struct text path = {0}, longer = {0};
    for (; row != 0; row = view_row(pane->view, row)->parent) {
        text_clear(&longer);
        describe_short_name(pane->view, row, tui->ascii, MOST_NAME_COLUMNS, &longer);
        if (path.n)
            text_printf(&longer, " > %s", text_string(&path));
        if (path.n && text_columns(text_string(&longer)) + strlen(PATH_CUT) > width) {
            text_add(out, PATH_CUT);
            break;
        }
        text_clear(&path);
        text_add(&path, text_string(&longer));
    }
    text_add(out, text_string(&path));
    vec_free(&path);
    vec_free(&longer);
}

/* What the user is typing. */
static void draw_question(const struct tui *tui, int line)
{
    int width = screen_width();
    int at = screen_put(line, 0, width, STYLE_PLAIN, tui->prompt);
    at += line_edit_draw(&tui->asked, (struct area){line, at, 1, width - at});
    screen_put(line, at + 2, width - at - 2, STYLE_WARNING, text_string(&tui->message));
}

static void draw_position(struct tui *tui, int line)
{
    struct pane *pane = tui_pane(tui);
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

/* Where the row is that is zoomed into, and how to get out. */
static void draw_zoom(struct tui *tui, int line)
{
    static const char way_out[] = "  Z: out";
    const struct pane *pane = tui_pane(tui);
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

/* One after the other, as many as fit. */
static void draw_filters(struct tui *tui, int line)
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

static int status_line(void)
{
    int height = screen_height();
    return height - (height >= HEIGHT_FOR_HELP ? 2 : 1);
}

static void draw_status(struct tui *tui)
{
    screen_fill(status_line(), 0, screen_width(), STYLE_PLAIN);
    if (tui->prompt)
        draw_question(tui, status_line());
    else if (tui->message.n)
        screen_put(status_line(), 0, screen_width(), STYLE_WARNING, text_string(&tui->message));
    else
        draw_position(tui, status_line());
}

/* As many keys as there is room for, those first that one needs first. */
static void draw_help_line(int line)
{
    static const char *const keys[] = {
        "?:help",    "q:quit",   "Enter:open",           "H:hot path", "s:sort", "a:advice",
        "/:find",    "v:source", "p:physical",           "&:filter",   "z:zoom", "i:inspect",
        "C:columns", "d:define", ".:other views",        "W:write",    "y:copy", "e:edit",
        "m:mark",    "[:back",   "J,K,(,):scroll source"};
    int width = screen_width(), at = 1;
    screen_fill(line, 0, width, STYLE_BAR);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (at + (int)strlen(keys[i]) > width)
            break;
        at += screen_put(line, at, width - at, STYLE_BAR, keys[i]) + 1;
    }
}

/* From the top: title, heads, zoom, tree, source, filters, status, help; the tree is the last to
 * go. */
void tui_draw(struct tui *tui)
{
    int width = screen_width(), height = screen_height();
    int top = 0, bottom = height;
    screen_begin();
    tui->spots.n = 0;
    if (height >= HEIGHT_FOR_HELP)
        draw_help_line(--bottom);
    bool has_status = height > 1 || tui->prompt;
    bottom -= has_status;
    if (height >= HEIGHT_FOR_PLACES && filters_n(tui->filters))
        draw_filters(tui, --bottom);
    if (height >= HEIGHT_FOR_HEADS) {
        draw_title(tui, top++);
        tui_draw_heads(tui, (struct area){top, 0, 2, width});
        top += 2;
    }
    if (height >= HEIGHT_FOR_PLACES && tui_pane(tui)->root)
        draw_zoom(tui, top++);
    if (tui->shows_source && height >= HEIGHT_FOR_SOURCE) {
        int source = (bottom - top) * 2 / 5;
        bottom -= source;
        tui_draw_source(tui, (struct area){bottom, 0, source, width});
    }
    tui->tree_height = bottom - top;
    tui_draw_tree(tui, (struct area){top, 0, bottom - top, width});
    if (has_status) /* the last: values that take a while tell there how far they are */
        draw_status(tui);
    screen_end();
}

void tui_announce(const char *what)
{
    screen_fill(status_line(), 0, screen_width(), STYLE_PLAIN);
    screen_put(status_line(), 0, screen_width(), STYLE_WARNING, what);
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
