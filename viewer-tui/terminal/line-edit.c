#include "viewer-tui/terminal/line-edit.h"

#include "lib/utf8.h"
#include "viewer-tui/terminal/screen.h"

#include <assert.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#define RUBOUT          0x7f
#define CONTROL(letter) ((letter)&0x1f)
#define SPECIAL(key)    ((key) + KEY_OFFSET)

void line_edit_set(struct line_edit *line, const char *text)
{
    text_clear(&line->text);
    text_add(&line->text, text);
    line->cursor = line->text.n;
}

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Start of the character before an index; end of the one at an index. */
static size_t before(const struct line_edit *line, size_t at)
{
    at -= at > 0;
    while (at > 0 && is_inside_character(line->text.at[at]))
        at--;
    return at;
}

static size_t behind(const struct line_edit *line, size_t at)
{
    at += at < line->text.n;
    while (at < line->text.n && is_inside_character(line->text.at[at]))
        at++;
    return at;
}

/* Start of the word before the cursor. */
static size_t word_start(const struct line_edit *line)
{
    size_t at = line->cursor;
    while (at > 0 && line->text.at[at - 1] == ' ')
        at--;
    while (at > 0 && line->text.at[at - 1] != ' ')
        at--;
    return at;
}

/* Removes bytes and puts the cursor there. */
static void remove_bytes(struct line_edit *line, size_t from, size_t to)
{
    struct text rest = {0};
    text_add(&rest, text_string(&line->text) + to);
    text_add(&line->text, ""); /* so that there is a buffer */
    line->text.n = from;
    text_add(&line->text, text_string(&rest));
    line->cursor = from;
    vec_free(&rest);
}

static void insert(struct line_edit *line, int key)
{
    char bytes[4];
    struct text rest = {0};
    text_add(&rest, text_string(&line->text) + line->cursor);
    text_add(&line->text, "");
    line->text.n = line->cursor;
    text_add_bytes(&line->text, bytes, utf8_encode((uint32_t)key, bytes));
    line->cursor = line->text.n;
    text_add(&line->text, text_string(&rest));
    vec_free(&rest);
}

enum line_state edit_line(struct line_edit *line, int key)
{
    switch (key) {
    case KEY_ESCAPE:
    case CONTROL('c'):
    case KEY_GONE: return EDIT_GIVEN_UP;
    case '\r':
    case '\n':
    case SPECIAL(KEY_ENTER): return EDIT_DONE;
    case '\b':
    case RUBOUT:
    case SPECIAL(KEY_BACKSPACE):
        if (line->text.n == 0)
            return EDIT_GIVEN_UP;
        remove_bytes(line, before(line, line->cursor), line->cursor);
        break;
    case CONTROL('d'):
    case SPECIAL(KEY_DC): remove_bytes(line, line->cursor, behind(line, line->cursor)); break;
    case CONTROL('w'): remove_bytes(line, word_start(line), line->cursor); break;
    case CONTROL('u'): remove_bytes(line, 0, line->cursor); break;
    case CONTROL('k'): remove_bytes(line, line->cursor, line->text.n); break;
    case CONTROL('b'):
    case SPECIAL(KEY_LEFT): line->cursor = before(line, line->cursor); break;
    case CONTROL('f'):
    case SPECIAL(KEY_RIGHT): line->cursor = behind(line, line->cursor); break;
    case CONTROL('a'):
    case SPECIAL(KEY_HOME): line->cursor = 0; break;
    case CONTROL('e'):
    case SPECIAL(KEY_END): line->cursor = line->text.n; break;
    default:
        if (key >= ' ' && key < KEY_OFFSET)
            insert(line, key);
    }
    return EDIT_GOES_ON;
}

int line_edit_draw(const struct line_edit *edited, struct area area)
{
    const char *text = text_string(&edited->text);
    struct text part = {0};
    text_add_bytes(&part, text, edited->cursor);
    size_t length = text_columns(text_string(&part)),
           room = area.width > 1 ? (size_t)area.width - 1 : 0;
    size_t skipped = length > room ? length - room : 0;
    const char *shown = text_skip(text, skipped);
    int used = screen_put(area.line, area.column, area.width, STYLE_PLAIN, shown);
    int cursor = (int)(length - text_columns(text) + text_columns(shown));
    text_clear(&part);
    text_add(&part, edited->cursor < edited->text.n ? text + edited->cursor : " ");
    text_cut(&part, 1);
    screen_put(area.line, area.column + cursor, 1, STYLE_SELECTED,
               part.n ? text_string(&part) : " ");
    vec_free(&part);
    return used > cursor ? used : cursor + 1;
}

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->list.n; i++)
        free(history->list.at[i].text);
    vec_free(&history->list);
}

void history_add(struct history *history, enum command command, const char *text)
{
    size_t at = history->list.n;
    const char *last = history_step(history, command, &at, -1);
    if (!*text || (last && strcmp(last, text) == 0))
        return;
    struct answer answer = {command, mem_strdup(text)};
    vec_push(&history->list, answer);
}

const char *history_step(const struct history *history, enum command command, size_t *at, int step)
{
    size_t n = history->list.n;
    assert((step == 1 || step == -1) && *at <= n);
    for (size_t i = *at + (size_t)step; i < n; i += (size_t)step) {
        if (history->list.at[i].command != command)
            continue;
        *at = i;
        return history->list.at[i].text;
    }
    return NULL;
}
