#include "lib/measurement.h"

#include "lib/binary-search.h"
#include "lib/kernel-symbols.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct measurement_last measurement_last(const struct measurement *m)
{
    struct measurement_last last = measurement_last_in_file(m);
    if (last.monotonic < m->listed.monotonic)
        last.monotonic = m->listed.monotonic;
    if (last.cpu < m->listed.cpu)
        last.cpu = m->listed.cpu;
    return last;
}

struct measurement_last measurement_last_in_file(const struct measurement *m)
{
    struct measurement_last last = {m->clock.monotonic, m->clock.cpu};
    uint64_t cpu = m->process.cpu;
    if (last.monotonic < m->process.monotonic)
        last.monotonic = m->process.monotonic;
    for (size_t i = 0; i < m->threads.n; i++) {
        const struct measurement_thread *thread = &m->threads.at[i];
        cpu += thread->last_cpu - thread->first_cpu;
        if (last.monotonic < thread->last_monotonic)
            last.monotonic = thread->last_monotonic;
    }
    if (last.cpu < cpu)
        last.cpu = cpu;
    return last;
}

const char *measurement_refusal(const struct measurement *m, const char *agent)
{
    for (size_t i = m->refusals.n; i > 0; i--)
        if (strcmp(m->refusals.at[i - 1].agent, agent) == 0)
            return *m->refusals.at[i - 1].why ? m->refusals.at[i - 1].why : NULL;
    return NULL;
}

const struct measurement_metric_state *measurement_metric_state(const struct measurement *m,
                                                                size_t metric)
{
    for (size_t i = m->metric_states.n; i > 0; i--)
        if (m->metric_states.at[i - 1].metric_id == m->metrics.at[metric].id)
            return &m->metric_states.at[i - 1];
    return NULL;
}

bool measurement_has_agent(const struct measurement *m)
{
    for (size_t i = 0; i < m->agents.n; i++)
        if (!measurement_refusal(m, m->agents.at[i].name))
            return true;
    return false;
}

const struct measurement_thread *measurement_find_thread(const struct measurement *m,
                                                         uint64_t index)
{
    size_t at = partition_point(i, m->threads.n, m->threads.at[i].index < index);
    return at < m->threads.n && m->threads.at[at].index == index ? &m->threads.at[at] : NULL;
}

const struct measurement_name *measurement_name(const struct measurement *m, uint32_t space,
                                                uint64_t value)
{
    if (space < MEASUREMENT_NAMES || space - MEASUREMENT_NAMES >= m->name_tables.n)
        return NULL;
    const struct measurement_name_table *table = &m->name_tables.at[space - MEASUREMENT_NAMES];
    size_t at = partition_point(i, table->names.n, table->names.at[i].value < value);
    bool found = at < table->names.n && table->names.at[at].value == value;
    return found ? &table->names.at[at] : NULL;
}

size_t measurement_first_code_name(const struct measurement *m, uint64_t address)
{
    return partition_point(i, m->code_names.n, m->code_names.at[i].address < address);
}

const struct measurement_code_name *measurement_code_name(const struct measurement *m,
                                                          uint64_t address)
{
    size_t i = measurement_first_code_name(m, address);
    bool found = i < m->code_names.n && m->code_names.at[i].address == address;
    return found ? &m->code_names.at[i] : NULL;
}

/* ---- files of a directory ---- */

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
    vec_sort(&files->paths, by_text);
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

bool measurement_list_kernels(const char *directory, struct measurement_files *files, char **cause)
{
    return list_files(directory, KERNEL_SYMBOLS_SUFFIX, files, cause);
}

void measurement_files_free(struct measurement_files *files)
{
    for (size_t i = 0; i < files->paths.n; i++)
        free(files->paths.at[i]);
    vec_free(&files->paths);
}
