#include "lib/run-set.h"

#include "lib/safe-input.h"
#include "lib/safe-output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE "hpctoolkit-set 1"

static char *index_path(const char *folder)
{
    return mem_printf("%s/" RUN_SET_INDEX, folder);
}

bool run_set_exists(const char *folder)
{
    autofree char *path = index_path(folder);
    return access(path, F_OK) == 0;
}

/* ---- reading ---- */

/* Whether the text is a name in a directory, and no way out of it. */
static bool is_plain_name(const char *text)
{
    return *text && *text != '.' && !strchr(text, '/');
}

/* Reads "WORKERS REPEAT STATUS WALL DIRECTORY". */
static bool read_run(struct run_set *set, const char *text)
{
    struct set_run run = {0};
    int name = 0;
    int n = sscanf(text, "%u %u %d %lf %n", &run.workers, &run.repeat, &run.status, &run.wall,
                   &name);
    bool is_numbered = run.repeat != WORK_SPAN_REPEAT || run.workers;
    if (n != 4 || name == 0 || !is_numbered || !isfinite(run.wall) || run.wall < 0 ||
        !is_plain_name(text + name))
        return false;
    run.directory = mem_strdup(text + name);
    run_set_add(set, run);
    return true;
}

static bool replace(char **value, const char *text)
{
    free(*value);
    *value = mem_strdup(text);
    return true;
}

/* The text behind "WORD " in a line; NULL if the line begins with another word. */
static const char *behind(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static bool read_line(struct run_set *set, unsigned number, const char *line)
{
    const char *text;
    if (number == 1)
        return strcmp(line, FIRST_LINE) == 0;
    if ((text = behind(line, "command")))
        return replace(&set->command, text);
    if ((text = behind(line, "serial")))
        return replace(&set->serial, text);
    return (text = behind(line, "run")) && read_run(set, text);
}

bool run_set_read(struct run_set *set, const char *folder, char **cause)
{
    char *path = index_path(folder), *line = NULL;
    size_t size = 0;
    unsigned number = 0;
    bool is_right = true;
    autofree char *unreadable = NULL;
    FILE *in = input_stream(path, &unreadable);
    *cause = in ? NULL : mem_printf(RUN_SET_INDEX ": %s", unreadable);
    for (ssize_t length; in && is_right && (length = getline(&line, &size, in)) > 0;) {
        number++;
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        is_right = read_line(set, number, line);
    }
    if (in && (!is_right || !set->command))
        *cause = mem_printf(RUN_SET_INDEX ": line %u is damaged", is_right ? number + 1 : number);
    if (in)
        fclose(in);
    free(line);
    free(path);
    return *cause == NULL;
}

/* ---- writing ---- */

bool run_set_write(const struct run_set *set, const char *folder, char **cause)
{
    autofree char *path = index_path(folder);
    struct atomic_file file;
    bool is_begun = atomic_file_begin(&file, path, cause);
    if (!is_begun)
        return false;
    fprintf(file.out, FIRST_LINE "\ncommand %s\n", set->command);
    if (set->serial)
        fprintf(file.out, "serial %s\n", set->serial);
    for (size_t i = 0; i < set->runs.n; i++) {
        const struct set_run *run = &set->runs.at[i];
        fprintf(file.out, "run %u %u %d %.6f %s\n", run->workers, run->repeat, run->status,
                run->wall, run->directory);
    }
    return atomic_file_commit(&file, cause);
}

/* ---- runs ---- */

static struct set_run *find(const struct run_set *set, unsigned workers, unsigned repeat)
{
    for (size_t i = 0; i < set->runs.n; i++)
        if (set->runs.at[i].workers == workers && set->runs.at[i].repeat == repeat)
            return &set->runs.at[i];
    return NULL;
}

const struct set_run *run_set_find(const struct run_set *set, unsigned workers, unsigned repeat)
{
    return find(set, workers, repeat);
}

void run_set_add(struct run_set *set, struct set_run run)
{
    struct set_run *before = find(set, run.workers, run.repeat);
    if (!before) {
        vec_push(&set->runs, run);
        return;
    }
    free(before->directory);
    *before = run;
}

void run_set_free(struct run_set *set)
{
    for (size_t i = 0; i < set->runs.n; i++)
        free(set->runs.at[i].directory);
    vec_free(&set->runs);
    free(set->command);
    free(set->serial);
    *set = (struct run_set){0};
}
