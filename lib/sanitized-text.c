#include "lib/sanitized-text.h"

#include "lib/alloc.h"
#include "lib/printable.h"
#include "lib/utf8.h"

#include <string.h>

/* A byte of text grows most as \xHH; the longer escapes replace two bytes or more. */
#define MAX_GROWTH 4

char *printable_text(const char *text)
{
    size_t room = MAX_GROWTH * strlen(text) + 1;
    char *printable = mem_alloc(room);
    printable_copy(printable, room, text);
    return printable;
}

char *printable_file_name(const char *name)
{
    char *printable = mem_alloc(strlen(name) + 1), *end = printable;
    while (*name) {
        uint32_t code;
        size_t length = utf8_decode(name, &code);
        if (printable_needs_escape(code) || code == '\\')
            *end++ = '_';
        else
            end = (char *)mempcpy(end, name, length);
        name += length;
    }
    return printable;
}

char *utf8_repaired(const char *text)
{
    char *repaired = mem_alloc(3 * strlen(text) + 1), *end = repaired;
    while (*text) {
        uint32_t code;
        size_t length = utf8_decode(text, &code);
        end += utf8_encode(code == UTF8_INVALID ? UTF8_REPLACEMENT : code, end);
        text += length;
    }
    return repaired;
}
