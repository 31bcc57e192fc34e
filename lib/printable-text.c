#include "lib/printable.h"

#include "lib/mem.h"

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
