#include "lib/source-names.h"

#include "lib/path.h"

#include <string.h>

const char *overhead_kind(const char *path)
{
    static const char tag[] = OVERHEAD_TAG;
    const char *base = path_base(path);
    if (strncmp(base, tag, strlen(tag)) != 0)
        return NULL;
    const char *rest = base + strlen(tag);
    if (rest[0] != '\0' && rest[0] != ':')
        return NULL;
    return rest[0] == '\0' || rest[1] == '\0' ? "overhead" : rest + 1;
}

/* The function's name starts after the last space that is outside of brackets and before the
 * parameters. */
static const char *skip_result_type(const char *name)
{
    const char *start = name;
    int nesting = 0;
    for (const char *at = name; *at && !(*at == '(' && nesting == 0 && at != start); at++) {
        nesting += *at == '<' || *at == '(';
        nesting -= *at == '>' || *at == ')';
        if (*at == ' ' && nesting == 0)
            start = at + 1;
    }
    return start;
}

bool cxx_name_is_std(const char *name)
{
    return strncmp(skip_result_type(name), "std::", 5) == 0;
}

static bool begins_with(const char *path, const char *beginning)
{
    return strncmp(path, beginning, strlen(beginning)) == 0;
}

/* Python's own layout of directories: PREFIX/lib/pythonX.Y, or lib64. */
static bool is_in_library_of_python(const char *path)
{
    static const char parent[] = "/lib", name[] = "/python3.";
    for (const char *at = path; (at = strstr(at, parent)); at++) {
        const char *end = at + strlen(parent);
        end += begins_with(end, "64") ? 2 : 0;
        if (!begins_with(end, name))
            continue;
        end += strlen(name);
        end += strspn(end, "0123456789t"); /* "3.14t": without a GIL */
        if (*end == '/')
            return true;
    }
    return false;
}

bool path_is_installed(const char *path)
{
    bool is_below_usr =
        begins_with(path, "/usr/") && !begins_with(path, "/usr/local/") && !begins_with(path, "/usr/src/");
    return is_below_usr || is_in_library_of_python(path) || begins_with(path, "<frozen ");
}
