#include "lib/measurement-files.h"

#include "lib/measurement-format.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_measurement_file(const char *name)
{
    size_t length = strlen(name), suffix = strlen(MEASUREMENT_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, MEASUREMENT_SUFFIX) == 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool measurement_list(const char *directory, struct measurement_files *files, char **cause)
{
    DIR *stream = opendir(directory);
    if (!stream) {
        *cause = mem_strdup(strerror(errno));
        return false;
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        if (is_measurement_file(entry->d_name))
            vec_push(&files->paths, mem_printf("%s/%s", directory, entry->d_name));
    closedir(stream);
    if (files->paths.n)
        qsort(files->paths.at, files->paths.n, sizeof *files->paths.at, by_text);
    return true;
}

void measurement_files_free(struct measurement_files *files)
{
    for (size_t i = 0; i < files->paths.n; i++)
        free(files->paths.at[i]);
    vec_free(&files->paths);
}
