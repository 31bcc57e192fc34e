#include "lib/measurement-files.h"

#include "lib/measurement-format.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), size = strlen(ending);
    return length > size && strcmp(name + length - size, ending) == 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_files(const char *directory, const char *ending, struct measurement_files *files,
                       char **cause)
{
    DIR *stream = opendir(directory);
    if (!stream) {
        *cause = mem_strdup(strerror(errno));
        return false;
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        if (ends_with(entry->d_name, ending))
            vec_push(&files->paths, mem_printf("%s/%s", directory, entry->d_name));
    closedir(stream);
    if (files->paths.n)
        qsort(files->paths.at, files->paths.n, sizeof *files->paths.at, by_text);
    return true;
}

bool measurement_list(const char *directory, struct measurement_files *files, char **cause)
{
    return list_files(directory, MEASUREMENT_SUFFIX, files, cause);
}

bool measurement_list_processes(const char *directory, struct measurement_files *files,
                                char **cause)
{
    return list_files(directory, MEASUREMENT_PROCESSES, files, cause);
}

void measurement_files_free(struct measurement_files *files)
{
    for (size_t i = 0; i < files->paths.n; i++)
        free(files->paths.at[i]);
    vec_free(&files->paths);
}
