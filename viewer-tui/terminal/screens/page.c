/* Pages of text. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/tui.h"

#include "viewer-tui/tree/pattern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One line of the screen. */
struct screen_line {
    bool is_head;
    char *text;
};

/* A page that is being shown. */
struct shown_page {
    struct page *page;
    VEC(struct screen_line) lines; /* of the text, broken for `width` */
    int width;
    long found; /* index of the line found last; -1: none */
    struct pattern *wanted;
    const char *problem; /* of the last search; NULL */
};

static void free_lines(struct shown_page *shown)
{
    for (size_t i = 0; i < shown->lines.n; i++)
        free(shown->lines.at[i].text);
    shown->lines.n = 0;
}

/* Breaks the text for the width of the screen, unless that has been done. */
static void break_text(struct shown_page *shown)
{
    autofree struct text line = {0}, broken = {0};
    if (shown->width == screen_width())
        return;
    free_lines(shown);
    shown->width = screen_width();
    for (const char *at = shown->page->text; *at;) {
        size_t length = strcspn(at, "\n");
        text_clear(&line);
        text_add_bytes(&line, at, length);
        at += length + (at[length] != '\0');
        bool is_head = length && text_string(&line)[0] != ' ' && *at == ' ';
        text_clear(&broken);
        text_add_broken(&broken, text_string(&line), shown->width > 1 ? (size_t)shown->width : 1);
        for (char *rest = broken.at, *piece; (piece = strsep(&rest, "\n"));)
            vec_push(&shown->lines, (struct screen_line){is_head, mem_strdup(piece)});
    }
}

static long page_height(void)
{
    return screen_height() > 3 ? screen_height() - 2 : 1;
}

static bool matches(const struct shown_page *shown, const char *text, size_t *start, size_t *end)
{
    return shown->wanted && *text && pattern_find(shown->wanted, text, start, end);
}

/* Draws the page, with " FIRST-LAST/COUNT " of the lines on the right of the first line; returns the last line. */
static int draw(void *context)
{
    struct shown_page *shown = context;
    long *first = &shown->page->first;
    break_text(shown);
    long height = page_height(), n = (long)shown->lines.n, last = n > height ? n - height : 0;
    int width = screen_width();
    *first = *first < 0 ? 0 : *first > last ? last : *first;
    screen_begin();
    frame_draw(shown->page->title, shown->problem ? shown->problem
                                                  : " Up, Down, Space, b: scroll   /: find   1-6: views   q: back");
    autofree struct text text = {0};
    text_printf(&text, " %ld-%ld/%ld ", *first + 1, *first + height < n ? *first + height : n, n);
    screen_put(0, width - (int)text.n, (int)text.n, STYLE_BAR, text_string(&text));
    for (long i = *first; i < n && i < *first + height; i++) {
        const struct screen_line *line = &shown->lines.at[i];
        size_t start, end;
        int at = 1 + (int)(i - *first);
        screen_put(at, 0, width, line->is_head ? STYLE_HEAD : STYLE_PLAIN, line->text);
        if (matches(shown, line->text, &start, &end))
            screen_mark(at, 0, width, STYLE_MATCH, line->text, start, end);
    }
    screen_end();
    return screen_height() - 1;
}

/* Scrolls to the next match in a direction, and from one end of the text to the other. */
static void find(struct shown_page *shown, long step)
{
    long n = (long)shown->lines.n, first = shown->page->first;
    bool is_seen = shown->found >= first && shown->found < first + page_height();
    long from = is_seen ? shown->found : first - step;
    size_t start, end;
    shown->problem = shown->wanted ? " not found   /: find   q: back" : " no search yet: press /";
    for (long i = 1; i <= n; i++) {
        long at = (from + i * step + 2 * n) % n;
        if (!matches(shown, shown->lines.at[at].text, &start, &end))
            continue;
        shown->found = at;
        if (at < first || at >= first + page_height())
            shown->page->first = at;
        shown->problem = NULL;
        return;
    }
}

static void ask_and_find(struct tui *tui, struct shown_page *shown)
{
    const char *answer = tui_ask(tui, "/", "", NULL);
    if (answer && *answer) {
        pattern_free(shown->wanted);
        shown->wanted = pattern_new(answer);
        shown->found = -1;
    }
    if (answer)
        find(shown, 1);
}

/* The keys of less; false for others. */
static bool obey_as_less(struct tui *tui, struct shown_page *shown, int key)
{
    long *first = &shown->page->first;
    switch (key) {
    case ' ':
    case 'f': *first += page_height(); return true;
    case 'b': *first -= page_height(); return true;
    case 'd': *first += page_height() / 2; return true;
    case 'u': *first -= page_height() / 2; return true;
    case '/': ask_and_find(tui, shown); return true;
    case 'n': find(shown, 1); return true;
    case 'N': find(shown, -1); return true;
    default: return false;
    }
}

void page_show(struct tui *tui, struct page *page)
{
    struct shown_page shown = {.page = page, .width = -1, .found = -1};
    const struct command *before = tui->command;
    struct prompt_screen below = tui->prompt.screen;
    bool is_closed = false;
    assert(page->title && page->text);
    tui->command = page->opener;
    tui->prompt.screen = (struct prompt_screen){draw, &shown};
    while (!is_closed) {
        long rows;
        draw(&shown);
        shown.problem = NULL;
        int key = screen_key();
        if (key_is_move(key, page_height(), (long)shown.lines.n, &rows))
            page->first += rows;
        else if (!obey_as_less(tui, &shown, key))
            is_closed = key_is_of(key, tui_toggle) || tui_closes(tui, key);
    }
    tui->command = before;
    tui->prompt.screen = below;
    free_lines(&shown);
    vec_free(&shown.lines);
    pattern_free(shown.wanted);
}
