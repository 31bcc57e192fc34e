/* The source of the selected row: drawing it, and the commands for it. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/views/label.h"

#include <stdio.h>

/* The place that the source pane shows: where the row is declared, or where it is called. Callers
 * in the bottom-up view are shown where they call, unless the user wants it the other way round. */
static void selected_place(struct tui *tui, uint32_t *file, uint32_t *line)
{
    struct pane *pane = tui_pane(tui);
    const struct row *row = view_row(pane->view, pane_row(pane));
    bool is_caller = pane->view->class == &bottomup_class && row->depth > 1;
    bool wants_call = tui->shows_call_site != is_caller;
    if (wants_call && row->call_line) {
        *file = row->call_file;
        *line = row->call_line;
    } else {
        label_place(pane->view, pane_row(pane), file, line);
    }
}

static void draw_title(struct tui *tui, struct area area, const struct source *source,
                       uint32_t file, uint32_t line)
{
    struct text title = {0};
    const char *path = database_file_path(tui_pane(tui)->view->db, file);
    screen_rule(area.line, area.column, area.width);
    if (!path)
        text_add(&title, " no source file is known ");
    else if (source->n_lines == 0)
        text_add(&title, " no source: ");
    else
        text_add(&title, " ");
    if (path) {
        text_add_clean(&title, path, tui->ascii);
        if (line)
            text_printf(&title, ":%u", line);
        text_add(&title, " ");
    }
    screen_put(area.line, area.column + 2, area.width - 4, STYLE_PLAIN, text_string(&title));
    vec_free(&title);
}

static void draw_line(const struct tui *tui, const struct source *source, uint32_t line,
                      uint32_t marked, struct area area)
{
    struct text code = {0}, text = {0};
    text_printf(&text, "%6u %s ", line, line == marked ? ">" : " ");
    text_add_expanded(&code, source_line(source, line));
    text_add_clean(&text, text_string(&code), tui->ascii);
    if (line == marked)
        screen_fill(area.line, area.column, area.width, STYLE_SELECTED);
    screen_put(area.line, area.column, area.width, line == marked ? STYLE_SELECTED : STYLE_PLAIN,
               text_string(&text));
    vec_free(&code);
    vec_free(&text);
}

/* The first line on the screen: the marked one in the middle, scrolled as far as there are lines.
 */
static uint32_t first_line(struct tui *tui, const struct source *source, uint32_t marked,
                           int height)
{
    long last = (long)source->n_lines - height + 1;
    long centred = (long)marked - height / 2;
    long first = centred + tui->source_scroll;
    if (first > last)
        first = last;
    if (first < 1)
        first = 1;
    if (centred >= 1 && centred <= last)
        tui->source_scroll = first - centred;
    return (uint32_t)first;
}

void tui_draw_source(struct tui *tui, struct area area)
{
    uint32_t file, line;
    selected_place(tui, &file, &line);
    const struct database *db = tui_pane(tui)->view->db;
    const struct source *source = sources_get(&tui->sources[tui->projection], db, file);
    draw_title(tui, area, source, file, line);
    uint32_t first = first_line(tui, source, line, area.height - 1);
    for (int i = 1; i < area.height; i++) {
        uint32_t number = first + (uint32_t)i - 1;
        if (number > source->n_lines)
            break;
        draw_line(tui, source, number, line,
                  (struct area){area.line + i, area.column, 1, area.width});
    }
}

bool tui_obey_source(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_SOURCE: tui->shows_source = !tui->shows_source; break;
    case COMMAND_CALL_SITE:
        tui->shows_call_site = !tui->shows_call_site;
        tui->source_scroll = 0;
        break;
    case COMMAND_SOURCE_UP: tui->source_scroll--; break;
    case COMMAND_SOURCE_DOWN: tui->source_scroll++; break;
    default: return false;
    }
    return true;
}
