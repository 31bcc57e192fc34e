#include "hpcprof/measurement/measurements.h"

#include "lib/diag.h"
#include "lib/measurement.h"
#include "lib/parallel.h"
#include "lib/sanitized-text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

struct read_job {
    const struct measurement_files *files;
    struct measurement **read;
    char **causes;
};

static void read_one(void *context, unsigned worker, size_t index)
{
    (void)worker;
    struct read_job *job = context;
    job->read[index] = measurement_open(job->files->paths.at[index], &job->causes[index]);
    diag_progress_add(1);
}

static void list_directory(struct inputs *inputs, const char *directory,
                           struct measurement_files *files)
{
    char *cause = NULL;
    size_t before = files->paths.n;
    vec_push(&inputs->directories, mem_strdup(directory));
    if (!measurement_list(directory, files, &cause)) {
        diag_error(directory, "%s", cause);
        free(cause);
    } else if (files->paths.n == before) {
        diag_error(directory, "no measurement files in it");
    }
}

static void report_unreadable(struct inputs *inputs, const char *path, char *cause)
{
    diag_error(path, "%s", cause);
    const char *slash = strrchr(path, '/');
    vec_push(&inputs->problems, mem_printf("%s: %s", slash ? slash + 1 : path, cause));
    free(cause);
}

/* One line on the terminal per file; the run keeps them all. */
static void report_problems(struct inputs *inputs, const struct measurement *m)
{
    for (size_t i = 0; i < m->problems.n; i++)
        vec_push(&inputs->problems, mem_printf("%s: %s", m->name, m->problems.at[i]));
    if (m->problems.n == 1)
        diag_error(m->path, "%s", m->problems.at[0]);
    else if (m->problems.n > 1)
        diag_error(m->path, "%s (and %zu more)", m->problems.at[0], m->problems.n - 1);
}

/* ---- order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders process images by what identifies them; 0 for the same one. Hosts can share an id, and
 * processes in namespaces of their own a pid and a start: the clock at initialisation tells those
 * apart. */
static int compare_processes(const struct measurement_process *p,
                             const struct measurement_process *q)
{
    int order = compare(p->host_id, q->host_id);
    if (!order)
        order = strcmp(p->host, q->host);
    if (!order)
        order = (p->rank > q->rank) - (p->rank < q->rank);
    if (!order)
        order = compare(p->start_time, q->start_time);
    if (!order)
        order = compare(p->pid, q->pid);
    if (!order)
        order = compare(p->exec_sequence, q->exec_sequence);
    return order ? order : compare(p->realtime, q->realtime);
}

/* Of the files of one process the one that has most of it comes first: an undamaged one, then the
 * one that was written last. */
static int by_process(const void *a, const void *b)
{
    const struct measurement *x = ((const struct input *)a)->m, *y = ((const struct input *)b)->m;
    int order = compare_processes(&x->process, &y->process);
    if (!order)
        order = y->complete - x->complete;
    if (!order)
        order = compare(y->clock.monotonic, x->clock.monotonic);
    return order ? order : strcmp(x->path, y->path);
}

/* Files whose record of the process is lost are known by their names. */
static bool are_of_one_image(const struct measurement *x, const struct measurement *y)
{
    if (compare_processes(&x->process, &y->process) != 0)
        return false;
    return x->process.known || strcmp(x->name, y->name) == 0;
}

/* A file that is given twice must not count twice. */
static void drop_repeated_processes(struct inputs *inputs)
{
    size_t kept = 0;
    for (size_t i = 0; i < inputs->files.n; i++) {
        struct measurement *m = inputs->files.at[i].m;
        const struct measurement *before = kept ? inputs->files.at[kept - 1].m : NULL;
        if (before && are_of_one_image(m, before)) {
            diag_error(m->path, "the same process as in %s, which is used", before->path);
            measurement_free(m);
        } else {
            inputs->files.at[kept++] = inputs->files.at[i];
        }
    }
    inputs->files.n = kept;
}

bool inputs_same_host(const struct measurement *x, const struct measurement *y)
{
    return x->process.host_id == y->process.host_id &&
           strcmp(x->process.host, y->process.host) == 0;
}

/* ---- unification ---- */

/* The id of a pair of strings. */
static uint32_t id_of_pair(struct strtab *table, const char *a, const char *b)
{
    char *key = mem_printf("%s\n%s", a, b);
    uint32_t id = strtab_id(table, key);
    free(key);
    return id;
}

static uint32_t unified_event(struct inputs *inputs, const struct measurement_event *event)
{
    const char *unit = strcmp(event->unit, "ns") == 0 ? "s" : event->unit;
    uint32_t id = id_of_pair(&inputs->event_keys, event->name, unit);
    if (id == inputs->events.n) {
        const struct event new = {
            .name = mem_strdup(event->name),
            .unit = mem_strdup(unit),
            .period = event->period,
            .flags = event->flags,
        };
        vec_push(&inputs->events, new);
    }
    return id;
}

static uint32_t unified_metric(struct inputs *inputs, const char *name, uint32_t event)
{
    char number[16];
    snprintf(number, sizeof number, "%u", event);
    uint32_t id = id_of_pair(&inputs->metric_keys, number, name);
    if (id == inputs->metrics.n)
        vec_push(&inputs->metrics, (struct metric){.recorded_name = mem_strdup(name),
                                                   .event = event,
                                                   .overhead = INPUT_NONE,
                                                   .waiting = INPUT_NONE,
                                                   .kind_of = INPUT_NONE});
    return id;
}

static bool is_time(const struct event *event)
{
    return strcmp(event->unit, "s") == 0;
}

static char *name_for_people(const char *name, const struct event *event, size_t time_events)
{
    if (is_time(event))
        return time_events == 1 ? mem_strdup(name) : mem_printf("%s (%s)", name, event->name);
    if (strcmp(name, WORK) == 0 || strcmp(name, event->name) == 0)
        return mem_strdup(event->name);
    return mem_printf("%s %s", event->name, name);
}

/* Names those that have no name yet. Once all events are known. */
static void name_metrics(struct inputs *inputs)
{
    size_t time_events = 0;
    for (size_t i = 0; i < inputs->events.n; i++)
        time_events += is_time(&inputs->events.at[i]);
    for (size_t i = 0; i < inputs->metrics.n; i++) {
        struct metric *metric = &inputs->metrics.at[i];
        if (metric->name)
            continue;
        char *name =
            name_for_people(metric->recorded_name, &inputs->events.at[metric->event], time_events);
        metric->name = utf8_repaired(name);
        free(name);
    }
}

/* Amounts have one fixed point in the database: TIME_SHIFT for times, none for counts. */
static uint64_t rescaled(uint64_t amount, const struct measurement_event *event)
{
    uint64_t shift = strcmp(event->unit, "ns") == 0 ? TIME_SHIFT : 0;
    return event->shift > shift ? amount >> (event->shift - shift)
                                : amount << (shift - event->shift);
}

static void rescale_amounts(struct measurement *m)
{
    for (size_t i = 0; i < m->threads.n; i++) {
        struct measurement_thread *thread = &m->threads.at[i];
        for (size_t k = 0; k < thread->values.n; k++) {
            struct measurement_value *value = &thread->values.at[k];
            const struct measurement_metric *metric = &m->metrics.at[value->metric];
            value->amount = rescaled(value->amount, &m->events.at[metric->event]);
        }
        for (size_t k = 0; k < thread->fates.n; k++) {
            struct measurement_fate *fate = &thread->fates.at[k];
            if (fate->event != MEASUREMENT_UNKNOWN)
                fate->amount = rescaled(fate->amount, &m->events.at[fate->event]);
        }
    }
}

uint64_t inputs_most_workers(const struct inputs *inputs)
{
    uint64_t most = 0;
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->workers.n; k++)
            most = m->workers.at[k].n > most ? m->workers.at[k].n : most;
    }
    return most;
}

/* Whether a run with at most `most_workers` workers measured the metric of that name. hpcrun lists
 * what agents can measure before it knows whether one will take part. */
static bool was_measured(const char *name, uint64_t most_workers)
{
    if (strcmp(name, IDLENESS) == 0)
        return most_workers >= 1;
    if (strcmp(name, INCOMPLETE) == 0)
        return most_workers >=
               2; /* a single worker always has work, whatever the program is like */
    return true;
}

static void unify(struct inputs *inputs, struct input *input, uint64_t most_workers)
{
    struct measurement *m = input->m;
    input->event_of = mem_alloc(m->events.n * sizeof *input->event_of);
    input->metric_of = mem_alloc(m->metrics.n * sizeof *input->metric_of);
    input->module_of = mem_alloc(m->modules.n * sizeof *input->module_of);
    for (size_t i = 0; i < m->events.n; i++)
        input->event_of[i] = unified_event(inputs, &m->events.at[i]);
    for (size_t i = 0; i < m->metrics.n; i++) {
        uint32_t event = m->metrics.at[i].event;
        input->metric_of[i] = INPUT_NONE;
        if (event != MEASUREMENT_UNKNOWN && was_measured(m->metrics.at[i].name, most_workers))
            input->metric_of[i] =
                unified_metric(inputs, m->metrics.at[i].name, input->event_of[event]);
    }
    for (size_t i = 0; i < m->modules.n; i++)
        input->module_of[i] = modules_add(&inputs->modules, &m->modules.at[i]);
    rescale_amounts(m);
}

void inputs_read(struct inputs *inputs, char *const *directories, size_t count, unsigned workers)
{
    struct measurement_files files = {0};
    for (size_t i = 0; i < count; i++)
        list_directory(inputs, directories[i], &files);
    struct read_job job = {
        .files = &files,
        .read = mem_alloc(files.paths.n * sizeof *job.read),
        .causes = mem_alloc(files.paths.n * sizeof *job.causes),
    };
    diag_progress_begin("reading measurements", files.paths.n);
    parallel_for(files.paths.n, workers, read_one, &job);
    diag_progress_end();
    for (size_t i = 0; i < files.paths.n; i++) {
        if (job.read[i])
            vec_push(&inputs->files, (struct input){.m = job.read[i]});
        else
            report_unreadable(inputs, files.paths.at[i], job.causes[i]);
    }
    free(job.read);
    free(job.causes);
    measurement_files_free(&files);
    if (inputs->files.n == 0) /* why, was told of each file and directory */
        exit(diag_exit_status());
    qsort(inputs->files.at, inputs->files.n, sizeof *inputs->files.at, by_process);
    drop_repeated_processes(inputs);
    uint64_t most_workers = inputs_most_workers(inputs);
    for (size_t i = 0; i < inputs->files.n; i++) {
        report_problems(inputs, inputs->files.at[i].m);
        unify(inputs, &inputs->files.at[i], most_workers);
    }
    modules_sort_paths(&inputs->modules);
    name_metrics(inputs);
}

/* Whether the metric is what its event measures, and not a part or a consequence of it. */
static bool is_measure(const struct inputs *inputs, const struct metric *metric)
{
    const char *event = inputs->events.at[metric->event].name;
    return strcmp(metric->recorded_name, WORK) == 0 || strcmp(metric->recorded_name, event) == 0;
}

/* The metrics for each kind of overhead of an event: "overhead:spawn". */
static uint32_t *add_kinds(struct inputs *inputs, uint32_t event, uint32_t overhead)
{
    const struct strtab *kinds = &inputs->overhead_kinds;
    uint32_t *metrics = mem_alloc(kinds->count * sizeof *metrics);
    for (uint32_t kind = 0; kind < kinds->count; kind++) {
        char *name = mem_printf("%s:%s", OVERHEAD, strtab_string(kinds, kind));
        metrics[kind] = unified_metric(inputs, name, event);
        inputs->metrics.at[metrics[kind]].kind_of = overhead;
        free(name);
    }
    return metrics;
}

void inputs_add_overhead(struct inputs *inputs)
{
    size_t n = inputs->metrics.n;
    for (size_t i = 0; i < n; i++)
        if (is_measure(inputs, &inputs->metrics.at[i])) {
            uint32_t event = inputs->metrics.at[i].event;
            uint32_t overhead = unified_metric(inputs, OVERHEAD, event);
            uint32_t *kinds = NULL;
            if (inputs->overhead_kinds.count)
                kinds = add_kinds(inputs, event, overhead);
            inputs->metrics.at[i].overhead = overhead;
            inputs->metrics.at[i].kinds = kinds;
        }
    name_metrics(inputs);
}

void inputs_add_waiting(struct inputs *inputs)
{
    size_t n = inputs->metrics.n;
    for (size_t i = 0; i < n; i++)
        if (is_measure(inputs, &inputs->metrics.at[i])) {
            uint32_t waiting = unified_metric(inputs, WAITING, inputs->metrics.at[i].event);
            inputs->metrics.at[i].waiting = waiting;
        }
    name_metrics(inputs);
}

void inputs_free_trees(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++)
        for (size_t k = 0; k < inputs->files.at[i].m->threads.n; k++)
            measurement_free_tree(&inputs->files.at[i].m->threads.at[k]);
}

void inputs_free(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        struct input *input = &inputs->files.at[i];
        measurement_free(input->m);
        free(input->event_of);
        free(input->metric_of);
        free(input->module_of);
    }
    for (size_t i = 0; i < inputs->directories.n; i++)
        free(inputs->directories.at[i]);
    for (size_t i = 0; i < inputs->events.n; i++) {
        free(inputs->events.at[i].name);
        free(inputs->events.at[i].unit);
    }
    for (size_t i = 0; i < inputs->metrics.n; i++) {
        free(inputs->metrics.at[i].recorded_name);
        free(inputs->metrics.at[i].name);
        free(inputs->metrics.at[i].kinds);
    }
    for (size_t i = 0; i < inputs->problems.n; i++)
        free(inputs->problems.at[i]);
    modules_free(&inputs->modules);
    strtab_free(&inputs->event_keys);
    strtab_free(&inputs->metric_keys);
    strtab_free(&inputs->overhead_kinds);
    free(inputs->overhead_bound);
    vec_free(&inputs->directories);
    vec_free(&inputs->files);
    vec_free(&inputs->events);
    vec_free(&inputs->metrics);
    vec_free(&inputs->problems);
}

const char *inputs_lower_bound(const struct inputs *inputs, const struct metric *metric)
{
    bool is_overhead = strcmp(metric->recorded_name, OVERHEAD) == 0;
    return is_overhead || metric->kind_of != INPUT_NONE ? inputs->overhead_bound : NULL;
}

bool inputs_has_metric(const struct inputs *inputs, const char *recorded_name)
{
    for (size_t i = 0; i < inputs->metrics.n; i++)
        if (strcmp(inputs->metrics.at[i].recorded_name, recorded_name) == 0)
            return true;
    return false;
}

double event_amount(const struct event *event, unsigned __int128 amount)
{
    return is_time(event) ? (double)amount / ((1 << TIME_SHIFT) * 1e9) : (double)amount;
}
