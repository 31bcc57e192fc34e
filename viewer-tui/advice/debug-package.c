#include "viewer-tui/advice/debug-package.h"

#include "lib/alloc.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dpkg's lists of the files of each package, such as "zlib1g:amd64.list". */
#define LISTS  "/var/lib/dpkg/info"
#define SUFFIX ".list"

/* Whether a list names the file. /lib and /bin are links to folders in /usr. */
static bool has_file(const char *list, const char *path)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    bool is_found = false;
    FILE *file = fopen(list, "re");
    if (!file)
        return false;
    while (!is_found && (length = getline(&line, &size, file)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *known = strncmp(line, "/usr/", 5) == 0 ? line + 4 : line;
        const char *wanted = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
        is_found = strcmp(known, wanted) == 0;
    }
    free(line);
    fclose(file);
    return is_found;
}

/* The package with debug information, which has a name of its own for the C library. */
static char *debug_package(const char *package)
{
    return strcmp(package, "libc6") == 0 ? mem_strdup("libc6-dbg")
                                         : mem_printf("%s-dbgsym", package);
}

char *debug_package_of(const char *path)
{
    char *found = NULL;
    const struct dirent *entry;
    DIR *directory = opendir(LISTS);
    if (!directory)
        return NULL;
    while (!found && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
            continue;
        char *list = mem_printf("%s/%s", LISTS, entry->d_name);
        if (has_file(list, path)) {
            size_t name = strcspn(entry->d_name, ":");
            char *package =
                mem_strndup(entry->d_name, name < length - suffix ? name : length - suffix);
            found = debug_package(package);
            free(package);
        }
        free(list);
    }
    closedir(directory);
    return found;
}
