#include "lib/beside.h"

#include "lib/mem.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

char *path_beside_executable(const char *name)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    return mem_printf("%.*s%s", slash ? (int)(slash + 1 - self) : 0, self, name);
}
