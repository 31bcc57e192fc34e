#include "lib/cxx-name.h"

#include <string.h>

/* Behind the last space that is in no brackets, before the parameters. */
static const char *skip_result_type(const char *name)
{
    const char *begin = name;
    int nesting = 0;
    for (const char *at = name; *at && !(*at == '(' && nesting == 0 && at != begin); at++) {
        nesting += *at == '<' || *at == '(';
        nesting -= *at == '>' || *at == ')';
        if (*at == ' ' && nesting == 0)
            begin = at + 1;
    }
    return begin;
}

bool cxx_name_is_std(const char *name)
{
    return strncmp(skip_result_type(name), "std::", 5) == 0;
}
