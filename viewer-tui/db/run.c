#include "viewer-tui/db/run.h"

#include "lib/alloc.h"
#include "lib/database-format.h"
#include "lib/metric-kinds.h"
#include "lib/path.h"
#include "lib/safe-input.h"
#include "viewer-tui/base/task.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes; a run of 100,000 processes has a tenth. */
#define MOST_BYTES ((size_t)1 << 30)

/* NULL, with *cause, if the file cannot be used; *cause is NULL if there is none. */
static json_t *read_file(const char *path, char **cause)
{
    size_t size;
    json_error_t error;
    char *text = input_read(path, MOST_BYTES, &size, cause);
    if (!text) {
        if (errno == ENOENT) {
            free(*cause);
            *cause = NULL;
        }
        return NULL;
    }
    *cause = NULL;
    json_t *root = json_loadb(text, size, 0, &error);
    free(text);
    if (!root) {
        *cause = mem_printf("line %d: %s", error.line, error.text);
    } else if (strcmp(run_text(root, "format"), DATABASE_RUN_FORMAT) != 0) {
        *cause = mem_strdup("not a description of a run by hpcprof");
        json_decref(root);
        root = NULL;
    }
    return root;
}

bool run_has_former_names(const json_t *run)
{
    return run && run_number(run, "version") < 2;
}

static void rename_metrics(const json_t *run)
{
    size_t i;
    json_t *metric;
    json_array_foreach(json_object_get(run, "metrics"), i, metric)
    {
        char *name = metric_renamed(run_text(metric, "name"));
        if (name)
            json_object_set_new(metric, "name", json_string(name));
        free(name);
    }
}

json_t *run_read(const char *folder)
{
    char *path = mem_printf("%s/%s", folder, DATABASE_RUN_FILE), *cause;
    json_t *root = read_file(path, &cause);
    if (cause)
        problem_found(path, "%s", cause);
    if (run_has_former_names(root))
        rename_metrics(root);
    free(cause);
    free(path);
    return root;
}

static bool has_file(const char *folder, const char *name)
{
    char *path = mem_printf("%s/%s", folder, name);
    bool has = *name && !strchr(name, '/') && access(path, F_OK) == 0;
    free(path);
    return has;
}

bool run_is_of(const char *folder, const char *measurements)
{
    char *path = mem_printf("%s/%s", folder, DATABASE_RUN_FILE), *cause;
    json_t *run = read_file(path, &cause);
    const json_t *processes = json_object_get(run, "processes");
    size_t n = json_array_size(processes), i = 0;
    while (i < n && has_file(measurements, run_text(json_array_get(processes, i), "file")))
        i++;
    json_decref(run);
    free(cause);
    free(path);
    return n > 0 && i == n;
}

const char *run_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double run_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* The member of an array with this name, or NULL. */
static const json_t *member_named(const json_t *array, const char *name)
{
    size_t i;
    json_t *member;
    json_array_foreach(array, i, member)
    {
        if (strcmp(run_text(member, "name"), name) == 0)
            return member;
    }
    return NULL;
}

unsigned run_most_cpus(const json_t *run)
{
    double most = 0;
    size_t i;
    json_t *process;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        most = fmax(most, run_number(process, "cpus"));
    }
    return most > 0 && most < 1e6 ? (unsigned)most : 0;
}

const json_t *run_metric(const json_t *run, const char *name)
{
    return member_named(json_object_get(run, "metrics"), name);
}

double run_period(const json_t *run, const char *metric)
{
    const char *event = run_text(run_metric(run, metric), "event");
    return run_number(member_named(json_object_get(run, "events"), event), "period");
}

/* Adds the samples of an event in all threads of a process. */
static void add_fate(const json_t *process, const char *event, double *count, double *amount)
{
    size_t t, e;
    json_t *thread, *sampled;
    json_array_foreach(json_object_get(process, "threads"), t, thread)
    {
        json_array_foreach(json_object_get(thread, "events"), e, sampled)
        {
            if (strcmp(run_text(sampled, "event"), event) != 0)
                continue;
            const json_t *fired = json_object_get(json_object_get(sampled, "fates"), "fired");
            *count += run_number(fired, "count");
            *amount += run_number(fired, "amount");
        }
    }
}

double run_increment(const json_t *run, const char *metric)
{
    size_t i;
    json_t *process;
    double count = 0, amount = 0, period = run_period(run, metric);
    const char *event = run_text(run_metric(run, metric), "event");
    double of_records = run_number(member_named(json_object_get(run, "events"), event), "increment");
    if (of_records > 0)
        return of_records;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        add_fate(process, event, &count, &amount);
    }
    return count > 0 && amount / count > period ? amount / count : period;
}

double run_most_workers(const json_t *run)
{
    size_t i;
    json_t *process;
    double workers = 0, threads = 1;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        double here = run_number(process, "workers");
        size_t n_threads = json_array_size(json_object_get(process, "threads"));
        workers = here > workers ? here : workers;
        threads = (double)n_threads > threads ? (double)n_threads : threads;
    }
    return workers > 0 ? workers : threads;
}

double run_workers(const json_t *run)
{
    size_t i;
    json_t *process;
    double workers = 0;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        workers += run_number(process, "workers");
    }
    return workers;
}

/* Databases of earlier versions have the executable only. */
const char *run_program_of(const json_t *process)
{
    const char *program = run_text(process, "program");
    return *program ? program : path_base(run_text(process, "executable"));
}

static bool is_listed(const program_names *names, const char *name)
{
    size_t i = 0;
    while (i < names->n && strcmp(names->at[i], name) != 0)
        i++;
    return i < names->n;
}

program_names run_programs(const json_t *run)
{
    program_names names = {0};
    size_t i;
    json_t *process;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        if (!is_listed(&names, run_program_of(process)))
            vec_push(&names, run_program_of(process));
    }
    return names;
}

bool run_hosts_differ(const json_t *run)
{
    const json_t *processes = json_object_get(run, "processes");
    const char *first = run_text(json_array_get(processes, 0), "host");
    for (size_t i = 1; i < json_array_size(processes); i++)
        if (strcmp(run_text(json_array_get(processes, i), "host"), first) != 0)
            return true;
    return false;
}

int64_t run_rank(const json_t *process)
{
    const json_t *rank = json_object_get(process, "rank");
    return json_is_integer(rank) ? json_integer_value(rank) : -1;
}

void run_add_place(const json_t *process, bool with_host, bool ascii, struct text *out)
{
    int64_t rank = run_rank(process);
    if (rank >= 0)
        text_printf(out, "rank %" PRId64, rank);
    if (with_host) {
        text_add(out, rank >= 0 ? " on " : "on ");
        text_add_clean(out, run_text(process, "host"), ascii);
    }
    if (rank >= 0 || with_host)
        text_add(out, ": ");
}
