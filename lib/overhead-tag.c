#include "lib/overhead-tag.h"

#include "lib/path.h"

#include <stddef.h>
#include <string.h>

const char *overhead_kind(const char *path)
{
    static const char tag[] = "hpctoolkit:parallel-overhead";
    const char *base = path_base(path);
    if (strncmp(base, tag, strlen(tag)) != 0)
        return NULL;
    const char *rest = base + strlen(tag);
    if (rest[0] != '\0' && rest[0] != ':')
        return NULL;
    return rest[0] == '\0' || rest[1] == '\0' ? "overhead" : rest + 1;
}
