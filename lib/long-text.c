#include "lib/long-text.h"

#include "lib/alloc.h"
#include "lib/hash-tables.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are kept at both ends: more than a person reads. */
#define KEPT_AT_BEGIN 1000
#define KEPT_AT_END   200

/* Whether a character of UTF-8 goes on with this byte. */
static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

char *shortened_text(char *text)
{
    size_t length = strlen(text), begin = KEPT_AT_BEGIN, end = length - KEPT_AT_END;
    if (length <= LONGEST_TEXT)
        return text;
    while (begin > 0 && is_continuation(text[begin]))
        begin--;
    while (end < length && is_continuation(text[end]))
        end++;
    char *shortened =
        mem_printf("%.*s...[%zu bytes, %08x]...%s", (int)begin, text, end - begin,
                   (unsigned)(uint32_t)hash_bytes(text + begin, end - begin), text + end);
    free(text);
    return shortened;
}
