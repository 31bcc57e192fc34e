#include "hpcrun/process/arguments.h"

#include <string.h>

static char text[MAX_ARGUMENTS * (MAX_ARGUMENT_SIZE + 1)];
static const char *kept[MAX_ARGUMENTS + 1];

void arguments_keep(char *const *arguments)
{
    char *to = text;
    for (unsigned i = 0; i < MAX_ARGUMENTS && arguments[i]; i++) {
        kept[i] = to;
        to = (char *)mempcpy(to, arguments[i], strnlen(arguments[i], MAX_ARGUMENT_SIZE)) + 1;
    }
}

const char *const *arguments_kept(void)
{
    return kept;
}
