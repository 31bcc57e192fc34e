#include "lib/path.h"

#include "lib/alloc.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_name(const char *component, size_t length)
{
    return length > 2 || component[0] != '.' || (length == 2 && component[1] != '.');
}

/* Start of the last component of the first `length` bytes. */
static size_t last_component(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] != '/')
        length--;
    return length;
}

char *path_normalize(const char *path)
{
    const size_t root = path[0] == '/'; /* length of what can't be climbed out of */
    char *out = mem_alloc(strlen(path) + 2);
    size_t length = root;
    if (root)
        out[0] = '/';
    for (size_t size; *path; path += size) {
        path += strspn(path, "/");
        size = strcspn(path, "/");
        bool is_parent = size == 2 && !is_name(path, size);
        size_t last = last_component(out, length);
        if (size == 0 || (size == 1 && path[0] == '.') || (is_parent && root && length == root))
            continue;
        if (is_parent && length > root && is_name(out + last, length - last)) {
            length = last > root ? last - 1 : root;
            continue;
        }
        if (length > root)
            out[length++] = '/';
        memcpy(out + length, path, size);
        length += size;
    }
    if (length == 0)
        out[length++] = '.';
    out[length] = '\0';
    return out;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_of_tool(const char *tool)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    return mem_printf("%.*s%s", (int)(path_base(self) - self), self, tool);
}
