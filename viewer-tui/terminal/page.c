#include "viewer-tui/terminal/page.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/terminal/line-edit.h"
#include "viewer-tui/tree/pattern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One line of the screen. */
struct screen_line {
    int column;
    bool is_head;
    char *text;
};

/* A page that is being shown. */
struct scroller {
    struct page *page;
    VEC(struct screen_line) lines; /* of the text, broken for `width` */
    int width;
    long found; /* index of the line found last; -1: none */
    struct pattern *wanted;
    const char *problem; /* of the last search; NULL */
};

/* Returns the column at which a broken line continues: under the last column of a table, if that
 * begins on the left half of the screen, so that its text stays in its column. */
static size_t hanging_indent(const char *line, size_t width)
{
    size_t hang = strspn(line, " ");
    bool has_a_column_per_byte = text_columns(line) == strlen(line);
    for (size_t i = hang + 2; has_a_column_per_byte && line[i - 1] && i < width / 2; i++)
        if (line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
            hang = i;
    return hang < width / 2 ? hang : 0;
}

static void add_line(struct scroller *scroller, size_t column, bool is_head, const char *text)
{
    struct screen_line line = {(int)column, is_head, mem_strdup(text)};
    vec_push(&scroller->lines, line);
}

/* Breaks a line of the text at words if it is too long. */
static void break_line(struct scroller *scroller, const char *line, bool is_head)
{
    size_t width = scroller->width > 1 ? (size_t)scroller->width : 1;
    size_t column = strspn(line, " ");
    const char *rest = line;
    struct text piece = {0};
    if (text_columns(line) <= width) {
        add_line(scroller, 0, is_head, line);
        return;
    }
    column = column < width / 2 ? column : 0;
    while (text_take_line(&rest, width - column, &piece)) {
        add_line(scroller, column, is_head, text_string(&piece));
        column = hanging_indent(line, width);
    }
    vec_free(&piece);
}

static void free_lines(struct scroller *scroller)
{
    for (size_t i = 0; i < scroller->lines.n; i++)
        free(scroller->lines.at[i].text);
    scroller->lines.n = 0;
}

/* Breaks the text for the width of the screen, unless that has been done. */
static void break_text(struct scroller *scroller)
{
    struct text line = {0};
    if (scroller->width == screen_width())
        return;
    free_lines(scroller);
    scroller->width = screen_width();
    for (const char *at = scroller->page->text; *at;) {
        size_t length = strcspn(at, "\n");
        text_clear(&line);
        text_add_bytes(&line, at, length);
        at += length + (at[length] != '\0');
        bool is_head = length && text_string(&line)[0] != ' ' && *at == ' ';
        break_line(scroller, text_string(&line), is_head);
    }
    vec_free(&line);
}

static long page_height(void)
{
    return screen_height() > 3 ? screen_height() - 2 : 1;
}

/* The first line on the screen if the page is scrolled to its end. */
static long last_first(const struct scroller *scroller)
{
    long n = (long)scroller->lines.n;
    return n > page_height() ? n - page_height() : 0;
}

static void draw_line(const struct scroller *scroller, const struct screen_line *drawn, int line)
{
    size_t start, end;
    int width = screen_width();
    screen_put(line, drawn->column, width, drawn->is_head ? STYLE_HEAD : STYLE_PLAIN, drawn->text);
    if (!scroller->wanted || !*drawn->text ||
        !pattern_find(scroller->wanted, drawn->text, &start, &end))
        return;
    struct text before = {0}, match = {0};
    text_add_bytes(&before, drawn->text, start);
    text_add_bytes(&match, drawn->text + start, end - start);
    screen_put(line, drawn->column + (int)text_columns(text_string(&before)), width, STYLE_MATCH,
               text_string(&match));
    vec_free(&before);
    vec_free(&match);
}

void page_draw_frame(const char *title, const char *help)
{
    int width = screen_width(), height = screen_height();
    screen_fill(0, 0, width, STYLE_BAR);
    int at = screen_put(0, 0, width, STYLE_BAR, " hpcviewer: ");
    screen_put(0, at, width - at, STYLE_BAR, title);
    screen_fill(height - 1, 0, width, STYLE_BAR);
    screen_put(height - 1, 0, width, STYLE_BAR, help);
}

void page_draw_paragraph(struct area area, const char *text)
{
    struct text line = {0};
    int margin = area.width > 4 ? 2 : 0;
    size_t width = area.width > 2 * margin ? (size_t)(area.width - 2 * margin) : 1;
    for (int i = 0; i < area.height && text_take_line(&text, width, &line); i++)
        screen_put(area.line + i, area.column + margin, (int)width, STYLE_PLAIN,
                   text_string(&line));
    vec_free(&line);
}

/* Draws " FIRST-LAST/COUNT " of the lines on the screen, on the right of the first line. */
static void draw_position(const struct scroller *scroller)
{
    struct text text = {0};
    long first = scroller->page->first, n = (long)scroller->lines.n, behind = first + page_height();
    text_printf(&text, " %ld-%ld/%ld ", first + 1, behind < n ? behind : n, n);
    screen_put(0, screen_width() - (int)text.n, (int)text.n, STYLE_BAR, text_string(&text));
    vec_free(&text);
}

static void prepare(struct scroller *scroller)
{
    struct page *page = scroller->page;
    break_text(scroller);
    page->first = page->first > last_first(scroller) ? last_first(scroller) : page->first;
    page->first = page->first < 0 ? 0 : page->first;
}

static void draw(const struct scroller *scroller)
{
    const char *help = " Up, Down, Space, b: scroll   /: find   1-5: views   q: back";
    long first = scroller->page->first;
    screen_begin();
    page_draw_frame(scroller->page->title, scroller->problem ? scroller->problem : help);
    draw_position(scroller);
    for (long i = first; i < (long)scroller->lines.n && i < first + page_height(); i++)
        draw_line(scroller, &scroller->lines.at[i], 1 + (int)(i - first));
    screen_end();
}

/* Scrolls to the next match in a direction, and from one end of the text to the other. */
static void find(struct scroller *scroller, long step)
{
    long n = (long)scroller->lines.n, first = scroller->page->first;
    bool is_seen = scroller->found >= first && scroller->found < first + page_height();
    long from = is_seen ? scroller->found : first - step;
    scroller->problem =
        scroller->wanted ? " not found   /: find   q: back" : " no search yet: press /";
    for (long i = 1; scroller->wanted && i <= n; i++) {
        long at = (from + i * step + 2 * n) % n;
        size_t start, end;
        const char *text = scroller->lines.at[at].text;
        if (!*text || !pattern_find(scroller->wanted, text, &start, &end))
            continue;
        scroller->found = at;
        if (at < first || at >= first + page_height())
            scroller->page->first = at;
        scroller->problem = NULL;
        return;
    }
}

static void ask(struct scroller *scroller)
{
    struct line_edit asked = {0};
    enum line_state edit = EDIT_GOES_ON;
    while (edit == EDIT_GOES_ON) {
        int line = screen_height() - 1;
        prepare(scroller);
        draw(scroller);
        screen_fill(line, 0, screen_width(), STYLE_PLAIN);
        int at = screen_put(line, 0, screen_width(), STYLE_PLAIN, "/");
        line_edit_draw(&asked, (struct area){line, at, 1, screen_width() - at});
        screen_end();
        edit = edit_line(&asked, screen_key());
    }
    if (edit == EDIT_DONE && asked.text.n) {
        pattern_free(scroller->wanted);
        scroller->wanted = pattern_new(text_string(&asked.text));
        scroller->found = -1;
    }
    if (edit == EDIT_DONE)
        find(scroller, 1);
    vec_free(&asked.text);
}

/* The keys of less; false for others. */
static bool obey_as_less(struct scroller *scroller, int key)
{
    long *first = &scroller->page->first;
    switch (key) {
    case ' ':
    case 'f': *first += page_height(); return true;
    case 'b': *first -= page_height(); return true;
    case 'd': *first += page_height() / 2; return true;
    case 'u': *first -= page_height() / 2; return true;
    case '/': ask(scroller); return true;
    case 'n': find(scroller, 1); return true;
    case 'N': find(scroller, -1); return true;
    default: return false;
    }
}

enum command page_show(struct page *page)
{
    struct scroller scroller = {.page = page, .width = -1, .found = -1};
    enum command command = COMMAND_NONE;
    assert(page->title && page->text);
    for (;;) {
        prepare(&scroller);
        draw(&scroller);
        scroller.problem = NULL;
        int key = screen_key();
        if (key == KEY_GONE || key == KEY_ESCAPE)
            break;
        if (obey_as_less(&scroller, key))
            continue;
        command = keys_command(key);
        if (command == COMMAND_QUIT || command == COMMAND_TOGGLE || command == page->opener)
            break;
        if (command_opens_page(command))
            break;
        page->first += command_rows(command, page_height(), (long)scroller.lines.n);
    }
    free_lines(&scroller);
    vec_free(&scroller.lines);
    pattern_free(scroller.wanted);
    return command_opens_page(command) && command != page->opener ? command : COMMAND_NONE;
}
