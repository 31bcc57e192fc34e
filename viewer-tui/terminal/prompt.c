#include "viewer-tui/terminal/prompt.h"

#include "lib/utf8.h"
#include "viewer-tui/terminal/screen.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

enum edit_state { EDIT_GOES_ON, EDIT_DONE, EDIT_GIVEN_UP };

/* Replaces the text; the cursor is at its end. */
static void set_text(struct prompt *line, const char *text)
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
static size_t before(const struct prompt *line, size_t at)
{
    at -= at > 0;
    while (at > 0 && is_inside_character(line->text.at[at]))
        at--;
    return at;
}

static size_t after(const struct prompt *line, size_t at)
{
    at += at < line->text.n;
    while (at < line->text.n && is_inside_character(line->text.at[at]))
        at++;
    return at;
}

/* Replaces the bytes from..to by others; the cursor stands after them. */
static void replace(struct prompt *line, size_t from, size_t to, const char *bytes, size_t n)
{
    autofree struct text rest = {0};
    text_add(&rest, text_string(&line->text) + to);
    text_truncate(&line->text, from);
    text_add_bytes(&line->text, bytes, n);
    line->cursor = line->text.n;
    text_add(&line->text, text_string(&rest));
}

/* Applies a key. Characters are inserted as UTF-8. */
static enum edit_state edit(struct prompt *line, int key)
{
    size_t word = line->cursor;
    char bytes[4];
    switch (key) {
    case KEY_ESCAPE:
    case CONTROL('c'):
    case KEY_GONE: return EDIT_GIVEN_UP;
    case '\r':
    case '\n':
    case SPECIAL(KEY_ENTER): return EDIT_DONE;
    case '\b':
    case KEY_RUBOUT:
    case SPECIAL(KEY_BACKSPACE):
        if (line->text.n == 0)
            return EDIT_GIVEN_UP;
        replace(line, before(line, line->cursor), line->cursor, "", 0);
        break;
    case CONTROL('d'):
    case SPECIAL(KEY_DC): replace(line, line->cursor, after(line, line->cursor), "", 0); break;
    case CONTROL('w'):
        while (word > 0 && line->text.at[word - 1] == ' ')
            word--;
        while (word > 0 && line->text.at[word - 1] != ' ')
            word--;
        replace(line, word, line->cursor, "", 0);
        break;
    case CONTROL('u'): replace(line, 0, line->cursor, "", 0); break;
    case CONTROL('k'): replace(line, line->cursor, line->text.n, "", 0); break;
    case CONTROL('b'):
    case SPECIAL(KEY_LEFT): line->cursor = before(line, line->cursor); break;
    case CONTROL('f'):
    case SPECIAL(KEY_RIGHT): line->cursor = after(line, line->cursor); break;
    case CONTROL('a'):
    case SPECIAL(KEY_HOME): line->cursor = 0; break;
    case CONTROL('e'):
    case SPECIAL(KEY_END): line->cursor = line->text.n; break;
    default:
        if (key >= ' ' && key < KEY_OFFSET)
            replace(line, line->cursor, line->cursor, bytes, utf8_encode((uint32_t)key, bytes));
    }
    return EDIT_GOES_ON;
}

/* Draws the text with its cursor, scrolled so that the cursor stays in the area. Returns the columns used. */
static int draw_text(const struct prompt *line, struct area area)
{
    const char *text = text_string(&line->text);
    autofree struct text part = {0};
    text_add_bytes(&part, text, line->cursor);
    size_t length = text_columns(text_string(&part)), room = area.width > 1 ? (size_t)area.width - 1 : 0;
    const char *shown = text_skip(text, length > room ? length - room : 0);
    int used = screen_put(area.line, area.column, area.width, STYLE_PLAIN, shown);
    int cursor = (int)(length - text_columns(text) + text_columns(shown));
    text_clear(&part);
    text_add(&part, line->cursor < line->text.n ? text + line->cursor : " ");
    text_cut(&part, 1);
    screen_put(area.line, area.column + cursor, 1, STYLE_SELECTED, part.n ? text_string(&part) : " ");
    return used > cursor ? used : cursor + 1;
}

void prompt_draw(struct prompt *prompt)
{
    int line = prompt->screen.draw(prompt->screen.context), width = screen_width();
    screen_fill(line, 0, width, STYLE_PLAIN);
    int at = screen_put(line, 0, width, STYLE_PLAIN, prompt->question);
    at += draw_text(prompt, (struct area){line, at, 1, width - at});
    if (prompt->message)
        screen_put(line, at + 2, width - at - 2, STYLE_WARNING, text_string(prompt->message));
    screen_end();
}

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->list.n; i++)
        free(history->list.at[i].text);
    vec_free(&history->list);
}

/* The next older (step -1) or newer (1) answer than *at, and moves *at there. NULL if there is none. */
static const char *next_answer(const struct prompt *prompt, size_t *at, int step)
{
    size_t n = prompt->history ? prompt->history->list.n : 0;
    for (size_t i = *at + (size_t)step; i < n; i += (size_t)step) {
        if (prompt->history->list.at[i].asker != prompt->asker)
            continue;
        *at = i;
        return prompt->history->list.at[i].text;
    }
    return NULL;
}

/* Replaces the text by an earlier answer (step -1), a later one, or `typed`, the text before the user went back. *at is
 * the position in the answers; their number if the text was typed. */
static void recall(struct prompt *prompt, size_t *at, struct text *typed, int step)
{
    size_t n = prompt->history ? prompt->history->list.n : 0;
    bool was_typed = *at == n;
    const char *answer = next_answer(prompt, at, step);
    if (answer && was_typed) {
        text_clear(typed);
        text_add(typed, text_string(&prompt->text));
    }
    if (!answer && step > 0 && !was_typed) {
        *at = n;
        answer = text_string(typed);
    }
    if (answer)
        set_text(prompt, answer);
}

const char *prompt_ask(struct prompt *prompt, const char *initial)
{
    enum edit_state state = EDIT_GOES_ON;
    struct history *history = prompt->history;
    autofree struct text typed = {0};
    size_t at = history ? history->list.n : 0;
    set_text(prompt, initial);
    while (state == EDIT_GOES_ON) {
        prompt_draw(prompt);
        int key = screen_key();
        if (key == SPECIAL(KEY_UP) || key == CONTROL('p'))
            recall(prompt, &at, &typed, -1);
        else if (key == SPECIAL(KEY_DOWN) || key == CONTROL('n'))
            recall(prompt, &at, &typed, 1);
        else
            state = edit(prompt, key);
        if (prompt->changed && state == EDIT_GOES_ON)
            prompt->changed(prompt->screen.context, text_string(&prompt->text));
    }
    if (state == EDIT_GIVEN_UP)
        return NULL;
    at = history ? history->list.n : 0;
    const char *last = next_answer(prompt, &at, -1), *text = text_string(&prompt->text);
    if (history && *text && !(last && strcmp(last, text) == 0))
        vec_push(&history->list, (struct answer){prompt->asker, mem_strdup(text)});
    return text;
}

int prompt_key(struct prompt *prompt)
{
    int key;
    set_text(prompt, "");
    do {
        prompt_draw(prompt);
        key = screen_key();
    } while (key == KEY_NOTHING || screen_key_is_resize(key));
    return key;
}
