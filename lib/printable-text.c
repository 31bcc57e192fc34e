#include "lib/printable.h"

#include "lib/mem.h"
#include "lib/utf8.h"

#include <string.h>

/* What one byte becomes takes at most four: \xHH. Longer forms stand for more bytes. */
#define GROWTH 4

char *printable_text(const char *text)
{
    size_t room = GROWTH * strlen(text) + 1;
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
