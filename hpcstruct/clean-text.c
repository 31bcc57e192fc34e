#include "hpcstruct/clean-text.h"

#include "lib/mem.h"
#include "lib/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_allowed(uint32_t code)
{
    return code >= 0x20 && code != 0x7f && code != 0xfffe && code != 0xffff && code != UTF8_INVALID;
}

char *clean_text(char *text)
{
    uint32_t code;
    const char *at = text;
    while (*at) {
        size_t size = utf8_decode(at, &code);
        if (!is_allowed(code))
            break;
        at += size;
    }
    if (*at == '\0')
        return text;
    char *clean = mem_alloc(3 * strlen(text) + 1), *out = clean; /* U+FFFD takes 3 bytes */
    for (at = text; *at;) {
        size_t size = utf8_decode(at, &code);
        if (is_allowed(code)) {
            memcpy(out, at, size);
            out += size;
        } else {
            out += utf8_encode(UTF8_REPLACEMENT, out);
        }
        at += size;
    }
    free(text);
    return clean;
}
