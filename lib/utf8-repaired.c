#include "lib/utf8.h"

#include "lib/mem.h"

#include <string.h>

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
