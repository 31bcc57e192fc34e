#include "hpcstruct/structure/xml-text.h"

#include "lib/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

static void add_bytes(struct xml_text *xml, const char *bytes, size_t size)
{
    vec_reserve(&xml->bytes, size);
    memcpy(xml->bytes.at + xml->bytes.n, bytes, size);
    xml->bytes.n += size;
}

static void add_text(struct xml_text *xml, const char *text)
{
    add_bytes(xml, text, strlen(text));
}

static void add_digits(struct xml_text *xml, uint64_t value, unsigned base)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    add_bytes(xml, digits + at, sizeof digits - at);
}

static void add_hexadecimal(struct xml_text *xml, uint64_t value)
{
    add_bytes(xml, "0x", 2);
    add_digits(xml, value, 16);
}

static void add_indentation(struct xml_text *xml)
{
    for (unsigned i = 0; i < xml->depth; i++)
        vec_push(&xml->bytes, ' ');
}

/* ---- elements ---- */

static void end_tag(struct xml_text *xml)
{
    if (xml->is_tag_open)
        add_bytes(xml, ">\n", 2);
    xml->is_tag_open = false;
}

void xml_start(struct xml_text *xml, const char *element)
{
    end_tag(xml);
    add_indentation(xml);
    vec_push(&xml->bytes, '<');
    add_text(xml, element);
    xml->is_tag_open = true;
    xml->depth++;
    xml_number(xml, "i", xml->next_index++);
}

void xml_end(struct xml_text *xml, const char *element)
{
    xml->depth--;
    if (xml->is_tag_open) {
        add_bytes(xml, "/>\n", 3);
        xml->is_tag_open = false;
        return;
    }
    add_indentation(xml);
    add_bytes(xml, "</", 2);
    add_text(xml, element);
    add_bytes(xml, ">\n", 2);
}

/* ---- attributes ---- */

static void begin_attribute(struct xml_text *xml, const char *name)
{
    vec_push(&xml->bytes, ' ');
    add_text(xml, name);
    add_bytes(xml, "=\"", 2);
}

/* In US-ASCII, C1 controls and characters that change the direction of text are written as
 * character references, which terminals do not interpret. Returns the size of the character. */
static size_t add_escaped(struct xml_text *xml, const char *at)
{
    uint32_t character;
    switch (*at) {
    case '<': add_text(xml, "&lt;"); return 1;
    case '>': add_text(xml, "&gt;"); return 1;
    case '&': add_text(xml, "&amp;"); return 1;
    case '"': add_text(xml, "&quot;"); return 1;
    }
    size_t size = utf8_decode(at, &character);
    add_text(xml, "&#");
    add_digits(xml, character, 10);
    vec_push(&xml->bytes, ';');
    return size;
}

/* Whether a character is written as it is. */
static bool is_plain(char c)
{
    return (signed char)c > 0 && c != '<' && c != '>' && c != '&' && c != '"';
}

void xml_attribute(struct xml_text *xml, const char *name, const char *value)
{
    begin_attribute(xml, name);
    while (*value) {
        size_t size = 0;
        while (is_plain(value[size]))
            size++;
        add_bytes(xml, value, size);
        value += size;
        if (*value)
            value += add_escaped(xml, value);
    }
    vec_push(&xml->bytes, '"');
}

void xml_number(struct xml_text *xml, const char *name, uint64_t value)
{
    begin_attribute(xml, name);
    add_digits(xml, value, 10);
    vec_push(&xml->bytes, '"');
}

void xml_address(struct xml_text *xml, const char *name, uint64_t value)
{
    begin_attribute(xml, name);
    add_hexadecimal(xml, value);
    vec_push(&xml->bytes, '"');
}

void xml_begin_ranges(struct xml_text *xml, const char *name)
{
    begin_attribute(xml, name);
    vec_push(&xml->bytes, '{');
}

void xml_range(struct xml_text *xml, uint64_t begin, uint64_t end)
{
    if (xml->bytes.at[xml->bytes.n - 1] == ')')
        vec_push(&xml->bytes, ' ');
    vec_push(&xml->bytes, '[');
    add_hexadecimal(xml, begin);
    vec_push(&xml->bytes, '-');
    add_hexadecimal(xml, end);
    vec_push(&xml->bytes, ')');
}

void xml_end_ranges(struct xml_text *xml)
{
    add_bytes(xml, "}\"", 2);
}
