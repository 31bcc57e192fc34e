#include "viewer-tui/base/text.h"

#include "lib/path.h"
#include "lib/printable.h"
#include "lib/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

void text_truncate(struct text *text, size_t n)
{
    text->n = n;
    if (text->at)
        text->at[n] = '\0';
}

void text_trim(struct text *text)
{
    size_t n = text->n;
    while (n && text->at[n - 1] == ' ')
        n--;
    text_truncate(text, n);
}

void text_clear(struct text *text)
{
    text_truncate(text, 0);
}

void text_add_bytes(struct text *text, const char *more, size_t length)
{
    vec_reserve(text, length + 1);
    memcpy(text->at + text->n, more, length);
    text->n += length;
    text->at[text->n] = '\0';
}

void text_add(struct text *text, const char *more)
{
    text_add_bytes(text, more, strlen(more));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    vec_reserve(text, (size_t)length + 1);
    va_start(args, format);
    vsnprintf(text->at + text->n, (size_t)length + 1, format, args);
    va_end(args);
    text->n += (size_t)length;
}

void text_pad(struct text *text, char with, size_t count)
{
    vec_reserve(text, count + 1);
    memset(text->at + text->n, with, count);
    text->n += count;
    text->at[text->n] = '\0';
}

/* Adds text with `next` (lib/printable.h) for its printable forms. */
static void add_forms(struct text *text, const char *more, bool ascii,
                      size_t (*next)(const char **, char *))
{
    char form[PRINTABLE_BYTES];
    while (*more) {
        size_t length = next(&more, form);
        bool is_shown = !ascii || (unsigned char)form[0] < 0x80; /* an escape is ASCII */
        text_add_bytes(text, is_shown ? form : "?", is_shown ? length : 1);
    }
    text_add_bytes(text, "", 0);
}

void text_add_clean(struct text *text, const char *more, bool ascii)
{
    add_forms(text, more, ascii, printable_next);
}

void text_add_clean_code(struct text *text, const char *more, bool ascii)
{
    add_forms(text, more, ascii, printable_next_of_code);
}

void text_say(struct text *text, bool ascii, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    while (*format) {
        char conversion[16];
        size_t literal = strcspn(format, "%"), length = 1 + strspn(format + literal + (format[literal] != 0), "0123456789.-+lz");
        text_add_bytes(text, format, literal);
        format += literal;
        if (!*format)
            break;
        snprintf(conversion, sizeof conversion, "%.*s", (int)length + 1, format);
        format += length + 1;
        switch (conversion[length]) {
        case 's': text_add_clean(text, va_arg(args, const char *), ascii); break;
        case '%': text_add(text, "%"); break;
        case 'f':
        case 'g': text_printf(text, conversion, va_arg(args, double)); break;
        default:
            if (conversion[length - 1] == 'z' || conversion[length - 1] == 'l')
                text_printf(text, conversion, va_arg(args, size_t));
            else
                text_printf(text, conversion, va_arg(args, unsigned));
        }
    }
    va_end(args);
}

#define TAB 8

void text_add_expanded(struct text *text, const char *code)
{
    for (; *code; code++) {
        if (*code != '\t')
            text_add_bytes(text, code, 1);
        else
            text_pad(text, ' ', TAB - text->n % TAB);
    }
}

/* Columns of one code point; 1 for those that the locale does not know. */
static size_t code_columns(uint32_t code)
{
    int width = code < 0x80 ? 1 : wcwidth((wchar_t)code);
    return width >= 0 ? (size_t)width : 1;
}

size_t text_columns(const char *text)
{
    size_t columns = 0;
    while (*text) {
        uint32_t code;
        text += utf8_decode(text, &code);
        columns += code_columns(code);
    }
    return columns;
}

void text_add_right(struct text *text, const char *more, size_t columns)
{
    size_t used = text_columns(more);
    text_pad(text, ' ', used < columns ? columns - used : 0);
    text_add(text, more);
}

const char *text_skip(const char *text, size_t columns)
{
    size_t skipped = 0;
    while (*text && skipped < columns) {
        uint32_t code;
        text += utf8_decode(text, &code);
        skipped += code_columns(code);
    }
    return text;
}

void text_cut(struct text *text, size_t columns)
{
    size_t used = 0, n = 0;
    while (n < text->n) {
        uint32_t code;
        size_t length = utf8_decode(text->at + n, &code);
        used += code_columns(code);
        if (used > columns)
            break;
        n += length;
    }
    if (n < text->n)
        text_truncate(text, n);
}

/* Length of the first line of a text, in bytes; at least one character. */
static size_t line_length(const char *text, size_t columns)
{
    size_t used = 0, n = 0, last_word = 0;
    while (text[n]) {
        uint32_t code;
        size_t length = utf8_decode(text + n, &code);
        used += code_columns(code);
        if (text[n] == ' ')
            last_word = n;
        else if (used > columns && n > 0)
            return last_word ? last_word : n;
        n += length;
    }
    return n;
}

bool text_take_line(const char **rest, size_t columns, struct text *line)
{
    const char *start = *rest + strspn(*rest, " ");
    size_t length = line_length(start, columns);
    *rest = start + length;
    while (length > 0 && start[length - 1] == ' ')
        length--;
    text_clear(line);
    text_add_bytes(line, start, length);
    return length > 0;
}

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

void text_add_broken(struct text *text, const char *line, size_t width)
{
    size_t column = strspn(line, " ");
    const char *rest = line, *before = "";
    autofree struct text piece = {0};
    if (text_columns(line) <= width) {
        text_add(text, line);
        return;
    }
    column = column < width / 2 ? column : 0;
    while (text_take_line(&rest, width - column, &piece)) {
        text_add(text, before);
        text_pad(text, ' ', column);
        text_add(text, text_string(&piece));
        column = hanging_indent(line, width);
        before = "\n";
    }
}

void text_add_xml(struct text *text, const char *more)
{
    for (; *more; more++) {
        switch (*more) {
        case '&': text_add(text, "&amp;"); break;
        case '<': text_add(text, "&lt;"); break;
        case '>': text_add(text, "&gt;"); break;
        case '"': text_add(text, "&quot;"); break;
        default: text_add_bytes(text, more, 1);
        }
    }
}

void text_add_markdown(struct text *text, const char *more)
{
    for (; *more; more++) {
        text_add(text, strchr("\\|`*_<[&~$", *more) ? "\\" : "");
        text_add_bytes(text, more, 1);
    }
}

#define EIGHTHS 8

void text_add_bar(struct text *text, double share, size_t columns, bool ascii)
{
    static const char *const blocks[EIGHTHS + 1] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    size_t units = columns * (ascii ? 1 : EIGHTHS);
    if (!(share > 0) || units == 0)
        return;
    double length = round((share < 1 ? share : 1) * (double)units);
    size_t left = length > 0 ? (size_t)length : 1;
    if (ascii) {
        text_pad(text, '#', left);
        return;
    }
    for (; left > EIGHTHS; left -= EIGHTHS)
        text_add(text, blocks[EIGHTHS]);
    text_add(text, blocks[left]);
}

char *text_trimmed(const char *text, size_t length)
{
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    while (length && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    return mem_strndup(text, length);
}

void text_end_line(struct text *text, FILE *out)
{
    text_add(text, "\n");
    fwrite(text->at, 1, text->n, out);
    text_clear(text);
}

const char *path_name(const char *path)
{
    const char *base = path_base(path);
    return *base ? base : path;
}
