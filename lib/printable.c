#include "lib/printable.h"

#include "lib/utf8.h"

#include <string.h>

bool printable_needs_escape(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},     {0x200b, 0x200b},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f}, {UTF8_INVALID, UTF8_INVALID},
    };
    if (code >= 0x20 && code < 0x7f)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

static size_t write_escape(char *out, char letter, uint32_t value, unsigned digits)
{
    out[0] = '\\';
    out[1] = letter;
    for (unsigned i = 0; i < digits; i++)
        out[2 + i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 0xf];
    return 2 + digits;
}

size_t printable_next_of_code(const char **text, char out[PRINTABLE_BYTES])
{
    uint32_t code;
    const char *start = *text;
    size_t length = utf8_decode(start, &code);
    *text += length;
    if (!printable_needs_escape(code)) {
        memcpy(out, start, length);
        return length;
    }
    if (length == 1)
        return write_escape(out, 'x', (unsigned char)*start, 2);
    return code > 0xffff ? write_escape(out, 'U', code, 8) : write_escape(out, 'u', code, 4);
}

/* Whether the backslash here and the form of the next character would look like an escape. */
static bool would_look_like_an_escape(const char *text)
{
    uint32_t next;
    if (text[0] != '\\' || text[1] == '\0')
        return false;
    utf8_decode(text + 1, &next);
    return next == '\\' || next == 'x' || next == 'u' || next == 'U' ||
           printable_needs_escape(next);
}

size_t printable_next(const char **text, char out[PRINTABLE_BYTES])
{
    if (!would_look_like_an_escape(*text))
        return printable_next_of_code(text, out);
    out[0] = out[1] = '\\';
    *text += 1;
    return 2;
}

size_t printable_copy(char *out, size_t room, const char *text)
{
    size_t length = 0;
    while (*text) {
        char form[PRINTABLE_BYTES];
        size_t size = printable_next(&text, form);
        if (size >= room - length)
            break;
        memcpy(out + length, form, size);
        length += size;
    }
    out[length] = '\0';
    return length;
}
