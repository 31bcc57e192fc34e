/* A screen full of text that can be scrolled and searched. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/tree/pattern.h"
#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/line-edit.h"
#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>
#include <string.h>

/* A line of the screen. */
struct piece {
    int column;
    bool is_head;
    char *text;
};

struct page {
    const char *title, *text;
    VEC(struct piece) pieces; /* of the text, broken for this width */
    int width;
    long first; /* of the pieces on the screen */
    long found; /* the piece that was found last; -1 */
    struct pattern *wanted;
    const char *problem; /* of the last search; NULL */
};

/* Where a line goes on on the next one: under the last column of a table that begins on the left
 * half, so that text does not run into other columns. */
static size_t hanging(const char *line, size_t width)
{
    size_t hang = strspn(line, " ");
    bool has_a_column_per_byte = text_columns(line) == strlen(line);
    for (size_t i = hang + 2; has_a_column_per_byte && line[i - 1] && i < width / 2; i++)
        if (line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
            hang = i;
    return hang < width / 2 ? hang : 0;
}

static void add_piece(struct page *page, size_t column, bool is_head, const char *text)
{
    struct piece piece = {(int)column, is_head, mem_strdup(text)};
    vec_push(&page->pieces, piece);
}

/* Breaks one line at words where it is too long. */
static void break_line(struct page *page, const char *line, bool is_head)
{
    size_t width = page->width > 1 ? (size_t)page->width : 1;
    size_t column = strspn(line, " ");
    const char *rest = line;
    struct text piece = {0};
    if (text_columns(line) <= width) {
        add_piece(page, 0, is_head, line);
        return;
    }
    column = column < width / 2 ? column : 0;
    while (text_take_line(&rest, width - column, &piece)) {
        add_piece(page, column, is_head, text_string(&piece));
        column = hanging(line, width);
    }
    vec_free(&piece);
}

static void forget_pieces(struct page *page)
{
    for (size_t i = 0; i < page->pieces.n; i++)
        free(page->pieces.at[i].text);
    page->pieces.n = 0;
}

/* Breaks the text for the screen. A head is a line at the margin with indented ones below. */
static void break_text(struct page *page)
{
    struct text line = {0};
    forget_pieces(page);
    page->width = screen_width();
    for (const char *at = page->text; *at;) {
        size_t length = strcspn(at, "\n");
        text_clear(&line);
        text_add_bytes(&line, at, length);
        at += length + (at[length] != '\0');
        bool is_head = length && text_string(&line)[0] != ' ' && *at == ' ';
        break_line(page, text_string(&line), is_head);
    }
    vec_free(&line);
}

static long page_height(void)
{
    return screen_height() > 3 ? screen_height() - 2 : 1;
}

static long last_first(const struct page *page)
{
    long n = (long)page->pieces.n;
    return n > page_height() ? n - page_height() : 0;
}

static void keep_in_range(struct page *page)
{
    page->first = page->first > last_first(page) ? last_first(page) : page->first;
    page->first = page->first < 0 ? 0 : page->first;
}

static void draw_piece(const struct page *page, const struct piece *piece, int line)
{
    size_t start, end;
    int width = screen_width();
    screen_put(line, piece->column, width, piece->is_head ? STYLE_HEAD : STYLE_PLAIN, piece->text);
    if (!page->wanted || !*piece->text || !pattern_find(page->wanted, piece->text, &start, &end))
        return;
    struct text before = {0}, match = {0};
    text_add_bytes(&before, piece->text, start);
    text_add_bytes(&match, piece->text + start, end - start);
    screen_put(line, piece->column + (int)text_columns(text_string(&before)), width, STYLE_MATCH,
               text_string(&match));
    vec_free(&before);
    vec_free(&match);
}

void tui_draw_page_frame(const char *title, const char *help)
{
    int width = screen_width(), height = screen_height();
    screen_fill(0, 0, width, STYLE_BAR);
    int at = screen_put(0, 0, width, STYLE_BAR, " hpcviewer: ");
    screen_put(0, at, width - at, STYLE_BAR, title);
    screen_fill(height - 1, 0, width, STYLE_BAR);
    screen_put(height - 1, 0, width, STYLE_BAR, help);
}

/* On the right of the first line: which lines are on the screen, of how many. */
static void draw_position(const struct page *page)
{
    struct text text = {0};
    long n = (long)page->pieces.n, behind = page->first + page_height();
    text_printf(&text, " %ld-%ld/%ld ", page->first + 1, behind < n ? behind : n, n);
    screen_put(0, screen_width() - (int)text.n, (int)text.n, STYLE_BAR, text_string(&text));
    vec_free(&text);
}

static void draw(struct page *page)
{
    screen_begin();
    if (page->width != screen_width())
        break_text(page);
    keep_in_range(page);
    tui_draw_page_frame(page->title, page->problem
                                         ? page->problem
                                         : " Up, Down, Space, b: scroll   /: find   q: back");
    draw_position(page);
    for (long i = page->first; i < (long)page->pieces.n && i < page->first + page_height(); i++)
        draw_piece(page, &page->pieces.at[i], 1 + (int)(i - page->first));
    screen_end();
}

/* Scrolls to the next line that matches, in a direction; around the end where need be. */
static void find(struct page *page, long step)
{
    long n = (long)page->pieces.n;
    bool is_seen = page->found >= page->first && page->found < page->first + page_height();
    long from = is_seen ? page->found : page->first - step;
    page->problem =
        page->wanted ? " not found   /: find   q: back" : " nothing to find yet: press /";
    for (long i = 1; page->wanted && i <= n; i++) {
        long at = (from + i * step + 2 * n) % n;
        size_t start, end;
        const char *text = page->pieces.at[at].text;
        if (!*text || !pattern_find(page->wanted, text, &start, &end))
            continue;
        page->found = at;
        if (at < page->first || at >= page->first + page_height())
            page->first = at;
        page->problem = NULL;
        return;
    }
}

static void ask(struct page *page)
{
    struct line_edit asked = {0};
    enum line_state edit = EDIT_GOES_ON;
    while (edit == EDIT_GOES_ON) {
        int line = screen_height() - 1;
        draw(page);
        screen_fill(line, 0, screen_width(), STYLE_PLAIN);
        int at = screen_put(line, 0, screen_width(), STYLE_PLAIN, "/");
        tui_draw_edited(&asked, (struct area){line, at, 1, screen_width() - at});
        screen_end();
        edit = edit_line(&asked, screen_key());
    }
    if (edit == EDIT_DONE && asked.text.n) {
        pattern_free(page->wanted);
        page->wanted = pattern_new(text_string(&asked.text));
        page->found = -1;
    }
    if (edit == EDIT_DONE)
        find(page, 1);
    vec_free(&asked.text);
}

/* As less does it; false for other keys. */
static bool obey_as_less(struct page *page, int key)
{
    switch (key) {
    case ' ':
    case 'f': page->first += page_height(); return true;
    case 'b': page->first -= page_height(); return true;
    case 'd': page->first += page_height() / 2; return true;
    case 'u': page->first -= page_height() / 2; return true;
    case '/': ask(page); return true;
    case 'n': find(page, 1); return true;
    case 'N': find(page, -1); return true;
    default: return false;
    }
}

/* False when the page is to go. */
static bool obey(struct page *page, enum command command)
{
    switch (command) {
    case COMMAND_UP:
    case COMMAND_ROLL_UP: page->first--; break;
    case COMMAND_DOWN:
    case COMMAND_ROLL_DOWN: page->first++; break;
    case COMMAND_PAGE_UP: page->first -= page_height(); break;
    case COMMAND_PAGE_DOWN: page->first += page_height(); break;
    case COMMAND_HALF_UP: page->first -= page_height() / 2; break;
    case COMMAND_HALF_DOWN: page->first += page_height() / 2; break;
    case COMMAND_FIRST: page->first = 0; break;
    case COMMAND_LAST: page->first = last_first(page); break;
    case COMMAND_QUIT:
    case COMMAND_HELP:
    case COMMAND_ADVICE:
    case COMMAND_THREADS:
    case COMMAND_SUMMARY:
    case COMMAND_INSPECT:
    case COMMAND_TOGGLE: return false;
    default: break;
    }
    return true;
}

void tui_show_text(const char *title, const char *text)
{
    struct page page = {.title = title, .text = text, .width = -1, .found = -1};
    bool goes_on = true;
    while (goes_on) {
        draw(&page);
        page.problem = NULL;
        int key = screen_key();
        goes_on = key != KEY_GONE && key != KEY_ESCAPE &&
                  (obey_as_less(&page, key) || obey(&page, keys_command(key)));
    }
    forget_pieces(&page);
    vec_free(&page.pieces);
    pattern_free(page.wanted);
}
