#include "viewer-tui/db/run.h"

#include "lib/alloc.h"
#include "lib/database-format.h"
#include "lib/hash-tables.h"
#include "lib/measurement-format.h"
#include "lib/path.h"
#include "lib/safe-input.h"
#include "viewer-tui/base/task.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
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
        return NULL;
    }
    if (strcmp(run_text(root, "format"), DATABASE_RUN_FORMAT) != 0)
        *cause = mem_strdup("not a description of a run by hpcprof");
    else if (run_number(root, "version") == 1)
        *cause = mem_strdup("made by an earlier hpcprof; run hpcprof again");
    if (*cause) {
        json_decref(root);
        return NULL;
    }
    return root;
}

json_t *run_read(const char *folder)
{
    char *path = mem_printf("%s/%s", folder, DATABASE_RUN_FILE), *cause;
    json_t *root = read_file(path, &cause);
    if (cause)
        problem_found(path, "%s", cause);
    free(cause);
    free(path);
    return root;
}

bool run_is_of(const char *folder, const char *measurements)
{
    char *path = mem_printf("%s/%s", folder, DATABASE_RUN_FILE), *cause;
    json_t *run = read_file(path, &cause);
    const json_t *processes = json_object_get(run, "processes");
    bool are_there = json_array_size(processes) > 0;
    json_each (process, processes) {
        const char *name = run_text(process, "file");
        autofree char *file = mem_printf("%s/%s", measurements, name);
        are_there &= *name && !strchr(name, '/') && access(file, F_OK) == 0;
    }
    json_decref(run);
    free(cause);
    free(path);
    return are_there;
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
    json_each (member, array)
        if (strcmp(run_text(member, "name"), name) == 0)
            return member;
    return NULL;
}

unsigned run_most_cpus(const json_t *run)
{
    double most = 0;
    json_each (process, json_object_get(run, "processes"))
        most = fmax(most, run_number(process, "cpus"));
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

double run_increment(const json_t *run, const char *metric)
{
    double count = 0, amount = 0, period = run_period(run, metric);
    const char *event = run_text(run_metric(run, metric), "event");
    double of_records = run_number(member_named(json_object_get(run, "events"), event), "increment");
    if (of_records > 0)
        return of_records;
    json_each (process, json_object_get(run, "processes"))
        json_each (thread, json_object_get(process, "threads"))
            json_each (sampled, json_object_get(thread, "events")) {
                if (strcmp(run_text(sampled, "event"), event) != 0)
                    continue;
                const json_t *fates = json_object_get(sampled, "fates"), *fired = json_object_get(fates, "fired");
                count += run_number(fired, "count");
                const json_t *hidden = json_object_get(fates, fate_name(FATE_KERNEL_UNATTRIBUTED));
                amount += run_number(fired, "amount") - run_number(hidden, "amount");
            }
    return count > 0 && amount / count > period ? amount / count : period;
}

double run_most_workers(const json_t *run)
{
    double workers = 0, threads = 1;
    json_each (process, json_object_get(run, "processes")) {
        double here = run_number(process, "workers");
        size_t n_threads = json_array_size(json_object_get(process, "threads"));
        workers = here > workers ? here : workers;
        threads = (double)n_threads > threads ? (double)n_threads : threads;
    }
    return workers > 0 ? workers : threads;
}

double run_workers(const json_t *run)
{
    double workers = 0;
    json_each (process, json_object_get(run, "processes"))
        workers += run_number(process, "workers");
    return workers;
}

/* Databases of earlier versions have the executable only. */
const char *run_program_of(const json_t *process)
{
    const char *program = run_text(process, "program");
    return *program ? program : path_base(run_text(process, "executable"));
}

program_names run_programs(const json_t *run)
{
    program_names names = {0};
    json_each (process, json_object_get(run, "processes")) {
        const char *name = run_program_of(process);
        size_t i = 0;
        while (i < names.n && strcmp(names.at[i], name) != 0)
            i++;
        if (i == names.n)
            vec_push(&names, name);
    }
    return names;
}

bool run_hosts_differ(const json_t *run)
{
    const json_t *processes = json_object_get(run, "processes");
    const char *first = run_text(json_array_get(processes, 0), "host");
    json_each (process, processes)
        if (strcmp(run_text(process, "host"), first) != 0)
            return true;
    return false;
}

double run_clock_error(const json_t *run)
{
    double most = 0;
    json_each (process, json_object_get(run, "processes")) {
        bool is_known = json_is_number(json_object_get(process, "clock_error"));
        most = fmax(most, run_number(process, "clock_error"));
        if (!is_known)
            return NAN;
    }
    return most;
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

/* More CPUs than that, in the time of the launched process, are used where
 *
 *   - daemons work after it has ended. The run then lasts until they end, if they used no more CPUs than there are.
 *   - processes are bound to different CPUs: they use more of them together than each of them may. The number of CPUs
 *     is unknown. */
#define MOST_USED 1.05

/* What the images of a process add up to: the programs that it executed one after the other. */
struct process_times {
    double wall, cpu;
    double cpu_at_end; /* also of what was not sampled: before an image began to sample, it was that of those before it */
    bool is_launched;
    double most_cpu;     /* of an image */
    const char *command; /* of that image */
};

typedef VEC(struct process_times) process_list;

static void add_image(process_list *list, struct strtab *ids, const json_t *image)
{
    autofree char *process_key = mem_printf("%.0f %s", run_number(image, "pid"), run_text(image, "host"));
    uint32_t id = strtab_id(ids, process_key);
    double cpu = run_number(image, "cpu");
    if (id == list->n)
        vec_push(list, (struct process_times){0});
    struct process_times *process = &list->at[id];
    process->wall += run_number(image, "wall");
    process->cpu += cpu;
    process->cpu_at_end = fmax(process->cpu_at_end, run_number(image, "startup_cpu") + cpu);
    process->is_launched |= strcmp(run_text(image, "origin"), "launched") == 0;
    if (!process->command || cpu > process->most_cpu) {
        process->most_cpu = cpu;
        process->command = run_text(image, "command");
    }
}

bool run_is_of_system(const json_t *run)
{
    return strcmp(run_text(run, "title"), SYSTEM_TITLE) == 0;
}

struct run_times run_times_of(const json_t *run)
{
    bool is_of_system = run_is_of_system(run);
    struct run_times times = {0};
    double end = 0; /* of all processes, seconds since the run's begin */
    struct strtab ids = {0}, hosts = {0};
    autofree process_list list = {0};
    size_t i;
    json_each (image, json_object_get(run, "processes")) {
        add_image(&list, &ids, image);
        strtab_id(&hosts, run_text(image, "host"));
        times.cpu += run_number(image, "cpu");
        end = fmax(end, run_number(image, "time_line_begin") + run_number(image, "wall"));
    }
    for (i = 0; i < list.n; i++) {
        const struct process_times *process = &list.at[i];
        if (process->is_launched && !times.command)
            times.command = process->command;
        times.wall = fmax(times.wall, process->is_launched || is_of_system ? process->wall : 0);
        if (!process->is_launched && !is_of_system) { /* others may have run for long before */
            times.startup += fmax(process->cpu_at_end - process->cpu, 0);
            times.started++;
        }
    }
    if (is_of_system)
        times.command = SYSTEM_TITLE;
    times.processes = list.n;
    times.cpus = (double)hosts.count * run_most_cpus(run);
    if (run_cpus_used(&times) > MOST_USED * times.cpus && times.cpu <= MOST_USED * times.cpus * end)
        times.wall = end;
    if (run_cpus_used(&times) > MOST_USED * times.cpus)
        times.cpus = 0;
    strtab_free(&ids);
    strtab_free(&hosts);
    return times;
}
