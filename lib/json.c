#include "lib/json.h"

#include "lib/printable.h"
#include "lib/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void json_write_start(struct json_writer *json, FILE *out, unsigned indent)
{
    *json = (struct json_writer){.out = out, .indent = indent};
}

static void break_line(const struct json_writer *json)
{
    putc_unlocked('\n', json->out);
    for (unsigned i = 0; i < json->indent * json->depth; i++)
        putc_unlocked(' ', json->out);
}

/* Writes the separator between the previous element and the next one. */
static void separate(struct json_writer *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->needs_comma)
        putc_unlocked(',', json->out);
    if ((json->indent && json->depth) || json->broken)
        break_line(json);
    else if (json->needs_comma)
        putc_unlocked(' ', json->out);
    json->broken = false;
    json->needs_comma = true;
}

static void open_level(struct json_writer *json, char bracket)
{
    separate(json);
    putc_unlocked(bracket, json->out);
    json->depth++;
    json->needs_comma = false;
}

static void close_level(struct json_writer *json, char bracket)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->indent && json->needs_comma)
        break_line(json);
    putc_unlocked(bracket, json->out);
    json->needs_comma = true;
}

void json_write_object(struct json_writer *json)
{
    open_level(json, '{');
}

void json_write_object_end(struct json_writer *json)
{
    close_level(json, '}');
}

void json_write_array(struct json_writer *json)
{
    open_level(json, '[');
}

void json_write_array_end(struct json_writer *json)
{
    close_level(json, ']');
}

/* The letter of the two-character escape of a control character, or 0. */
static char short_escape(uint32_t code)
{
    switch (code) {
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

static void write_special(FILE *out, uint32_t code)
{
    char letter = short_escape(code);
    if (code == '"' || code == '\\')
        fprintf(out, "\\%c", (char)code);
    else if (letter)
        fprintf(out, "\\%c", letter);
    else if (code == UTF8_INVALID)
        fputs("\xef\xbf\xbd", out);
    else if (code <= 0xffff)
        fprintf(out, "\\u%04" PRIx32, code);
    else
        fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (code >> 10),
                0xdc00 + (code & 0x3ff));
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void write_quoted(FILE *out, const char *text)
{
    putc_unlocked('"', out);
    const char *plain = text;
    for (;;) {
        while (is_plain((unsigned char)*text))
            text++;
        if (!*text)
            break;
        uint32_t code;
        size_t length = utf8_decode(text, &code);
        if (code < 0x80 || printable_needs_escape(code)) {
            fwrite_unlocked(plain, 1, (size_t)(text - plain), out);
            write_special(out, code);
            plain = text + length;
        }
        text += length;
    }
    fwrite_unlocked(plain, 1, (size_t)(text - plain), out);
    putc_unlocked('"', out);
}

void json_write_key(struct json_writer *json, const char *key)
{
    separate(json);
    write_quoted(json->out, key);
    fputs_unlocked(": ", json->out);
    json->after_key = true;
}

void json_write_string(struct json_writer *json, const char *text)
{
    if (!text) {
        json_write_null(json);
        return;
    }
    separate(json);
    write_quoted(json->out, text);
}

void json_format_double(double value, char text[JSON_DOUBLE_SIZE])
{
    if (value == 0) {
        strcpy(text, "0");
        return;
    }
    /* Any 15 digits survive conversion to a double; 17 identify any double. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, JSON_DOUBLE_SIZE, "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value)
            return;
    }
}

void json_write_text(struct json_writer *json, const char *key, const char *text)
{
    json_write_key(json, key);
    json_write_string(json, text);
}

void json_write_double(struct json_writer *json, double value)
{
    if (!isfinite(value)) {
        json_write_null(json);
        return;
    }
    char text[JSON_DOUBLE_SIZE];
    json_format_double(value, text);
    separate(json);
    fputs_unlocked(text, json->out);
}

void json_write_integer(struct json_writer *json, int64_t value)
{
    char text[JSON_DOUBLE_SIZE];
    snprintf(text, sizeof text, "%" PRId64, value);
    separate(json);
    fputs_unlocked(text, json->out);
}

void json_write_bool(struct json_writer *json, bool value)
{
    separate(json);
    fputs(value ? "true" : "false", json->out);
}

void json_write_null(struct json_writer *json)
{
    separate(json);
    fputs_unlocked("null", json->out);
}

void json_write_break(struct json_writer *json)
{
    json->broken = !json->indent;
}

static void print_signed(struct json_writer *json, intmax_t value)
{
    if (value < 0)
        json_write_null(json);
    else
        json_write_integer(json, value);
}

/* Writes the next argument by its conversion, which begins at `at` after the '%'. Returns the end of the conversion. */
static const char *print_argument(struct json_writer *json, const char *at, va_list *arguments)
{
    const char *text;
    switch (*at) {
    case 's':
        text = va_arg(*arguments, const char *);
        if (at[1] == ':')
            json_write_key(json, text);
        else
            json_write_string(json, text);
        return at + 1 + (at[1] == ':');
    case 'g': json_write_double(json, va_arg(*arguments, double)); return at + 1;
    case 'd': print_signed(json, va_arg(*arguments, int)); return at + 1;
    case 'i': json_write_bool(json, va_arg(*arguments, int)); return at + 1;
    case 'u': json_write_integer(json, va_arg(*arguments, unsigned)); return at + 1;
    case 'z': json_write_integer(json, (int64_t)va_arg(*arguments, size_t)); return at + 2;
    default: print_signed(json, va_arg(*arguments, intmax_t)); return at + 2;
    }
}

/* Writes the key, the text in quotes or the constant that begins at `at`. Returns its end. */
static const char *print_word(struct json_writer *json, const char *at)
{
    char word[64];
    bool is_text = *at == '\'';
    size_t length = is_text ? strcspn(at + 1, "'") : strcspn(at, ": \n[]{}");
    assert(length < sizeof word);
    snprintf(word, sizeof word, "%.*s", (int)length, at + is_text);
    at += length;
    if (is_text) {
        json_write_string(json, word);
        return at + 2;
    }
    if (*at == ':') {
        json_write_key(json, word);
        return at + 1;
    }
    separate(json);
    fputs_unlocked(word, json->out);
    return at;
}

void json_print(struct json_writer *json, const char *form, ...)
{
    va_list arguments;
    va_start(arguments, form);
    while (*form)
        switch (*form) {
        case ' ': form++; break;
        case '\n': json_write_break(json), form++; break;
        case '{': json_write_object(json), form++; break;
        case '}': json_write_object_end(json), form++; break;
        case '[': json_write_array(json), form++; break;
        case ']': json_write_array_end(json), form++; break;
        case '%': form = print_argument(json, form + 1, &arguments); break;
        default: form = print_word(json, form);
        }
    va_end(arguments);
}

bool json_write_finish(struct json_writer *json)
{
    assert(json->depth == 0);
    putc_unlocked('\n', json->out);
    return fflush(json->out) == 0 && !ferror(json->out);
}
