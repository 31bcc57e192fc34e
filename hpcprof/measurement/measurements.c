#include "hpcprof/measurement/measurements.h"

#include "hpcprof/team/packed-measurement.h"

#include "lib/binary-search.h"
#include "lib/database-format.h"
#include "lib/diag.h"
#include "lib/measurement.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/trace-format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    if (!team_does(index))
        return;
    job->read[index] = measurement_open(job->files->paths.at[index], &job->causes[index]);
    diag_progress_add(1);
}

static void list_directory(struct measurements *measurements, const char *directory,
                           struct measurement_files *files)
{
    char *cause = NULL;
    size_t before = files->paths.n;
    vec_push(&measurements->directories, mem_strdup(directory));
    if (!measurement_list(directory, files, &cause)) {
        diag_error(directory, "%s", cause);
        free(cause);
    } else if (files->paths.n == before) {
        autofree char *meta = mem_printf("%s/" V4_META_FILE, directory);
        diag_error(directory, access(meta, F_OK) == 0
                                  ? "a database that hpcprof has made already; hpcviewer shows it"
                                  : "no measurement files in it: hpcrun writes the first ones after ten seconds, or "
                                    "at the end");
    }
}

static void report_unreadable(struct measurements *measurements, const char *path, char *cause)
{
    diag_error(path, "%s", cause);
    vec_push(&measurements->problems, mem_printf("%s: %s", path_base(path), cause));
    free(cause);
}

/* Appends what this rank has read: each file, or the cause why it can't be read. */
static void pack_files(const struct read_job *job, struct team_bytes *bytes)
{
    for (size_t i = 0; i < job->files->paths.n; i++) {
        if (!team_does(i))
            continue;
        if (job->read[i]) {
            vec_push(bytes, true);
            measurement_pack(bytes, job->read[i]);
        } else {
            vec_push(bytes, false);
            team_bytes_add(bytes, job->causes[i], strlen(job->causes[i]) + 1);
        }
    }
}

/* Takes what another rank has read. */
static void unpack_files(struct read_job *job, const struct team_bytes *bytes, unsigned rank)
{
    const uint8_t *at = bytes->at;
    for (size_t i = rank; i < job->files->paths.n; i += team_size()) {
        if (*at++) {
            job->read[i] = measurement_unpack(&at);
        } else {
            job->causes[i] = mem_strdup((const char *)at);
            at += strlen(job->causes[i]) + 1;
        }
    }
}

/* Gives the other ranks what this one has read, and takes what they have. */
static void exchange_files(struct read_job *job)
{
    for (unsigned rank = 0; rank < team_size(); rank++) {
        autofree struct team_bytes bytes = {0};
        if (rank == team_rank())
            pack_files(job, &bytes);
        team_broadcast(&bytes, rank);
        if (rank != team_rank())
            unpack_files(job, &bytes, rank);
    }
}

/* Ends the job if the ranks do not list the same files. */
static void compare_lists(const struct measurement_files *files)
{
    uint64_t hash = files->paths.n;
    for (size_t i = 0; i < files->paths.n; i++)
        hash = hash_pair(hash, hash_bytes(files->paths.at[i], strlen(files->paths.at[i])));
    if (!team_agrees(hash))
        diag_fatal(NULL, "the ranks see different measurement files; the directories must be on a "
                         "file system that all nodes share");
}

/* Adds what a file has: its process, and forks of it that have no file of their own. */
static void add_file(struct measurements *measurements, struct measurement *m, bool is_elsewhere)
{
    vec_push(&measurements->files, (struct measurement_file){.m = m, .is_elsewhere = is_elsewhere});
    for (size_t i = 0; i < m->children.n; i++)
        vec_push(&measurements->files,
                 (struct measurement_file){.m = m->children.at[i], .is_elsewhere = is_elsewhere});
    m->children.n = 0; /* no longer the parent's */
}

static void read_files(struct measurements *measurements, const struct measurement_files *files,
                       unsigned workers)
{
    struct read_job job = {
        .files = files,
        .read = mem_alloc(files->paths.n * sizeof *job.read),
        .causes = mem_alloc(files->paths.n * sizeof *job.causes),
    };
    diag_progress_begin("reading measurements", files->paths.n);
    parallel_for(files->paths.n, workers, read_one, &job);
    diag_progress_end();
    if (!team_is_alone())
        exchange_files(&job);
    for (size_t i = 0; i < files->paths.n; i++) {
        if (job.read[i])
            add_file(measurements, job.read[i], !team_does(i));
        else
            report_unreadable(measurements, files->paths.at[i], job.causes[i]);
    }
    free(job.read);
    free(job.causes);
}

/* Prints at most one line per file; `problems` gets them all. */
static void report_problems(struct measurements *measurements, const struct measurement *m)
{
    for (size_t i = 0; i < m->problems.n; i++)
        vec_push(&measurements->problems, mem_printf("%s: %s", m->name, m->problems.at[i]));
    if (m->problems.n == 1)
        diag_error(m->path, "%s", m->problems.at[0]);
    else if (m->problems.n > 1)
        diag_error(m->path, "%s (and %zu more)", m->problems.at[0], m->problems.n - 1);
}

/* ---- order ---- */

/* Orders process images by what identifies them; 0 for the same image. The clock at initialization
 * is needed because hosts can share an id, and processes in different namespaces a pid and a start
 * time. */
static int compare_processes(const struct measurement_process *p,
                             const struct measurement_process *q)
{
    int order = compare_unsigned(p->host_id, q->host_id);
    if (!order)
        order = strcmp(p->host, q->host);
    if (!order)
        order = (p->rank > q->rank) - (p->rank < q->rank);
    if (!order)
        order = compare_unsigned(p->start_time, q->start_time);
    if (!order)
        order = compare_unsigned(p->pid, q->pid);
    if (!order)
        order = compare_unsigned(p->exec_sequence, q->exec_sequence);
    return order ? order : compare_unsigned(p->realtime, q->realtime);
}

/* Sorts the most complete file of a process first: an undamaged one, then the one written last. */
static int by_process(const void *a, const void *b)
{
    const struct measurement *x = ((const struct measurement_file *)a)->m,
                             *y = ((const struct measurement_file *)b)->m;
    int order = compare_processes(&x->process, &y->process);
    if (!order)
        order = y->complete - x->complete;
    if (!order)
        order = compare_unsigned(y->clock.monotonic, x->clock.monotonic);
    return order ? order : strcmp(x->path, y->path);
}

/* If the process record is lost, the file name identifies the process. */
static bool is_same_image(const struct measurement *x, const struct measurement *y)
{
    if (compare_processes(&x->process, &y->process) != 0)
        return false;
    return x->process.known || strcmp(x->name, y->name) == 0;
}

/* Drops files of a process that another file already covers, so that it does not count twice. */
static void drop_repeated_processes(struct measurements *measurements)
{
    size_t n = 0;
    for (size_t i = 0; i < measurements->files.n; i++) {
        struct measurement *m = measurements->files.at[i].m;
        const struct measurement *previous = n ? measurements->files.at[n - 1].m : NULL;
        if (previous && is_same_image(m, previous)) {
            diag_error(m->path, "the same process as in %s, which is used", previous->path);
            measurement_free(m);
        } else {
            measurements->files.at[n++] = measurements->files.at[i];
        }
    }
    measurements->files.n = n;
}

bool is_same_host(const struct measurement *x, const struct measurement *y)
{
    return x->process.host_id == y->process.host_id &&
           strcmp(x->process.host, y->process.host) == 0;
}

/* ---- unification ---- */

struct unifier {
    struct measurements *measurements;
    struct strtab event_keys, metric_keys; /* ids are indices in events and metrics */
    uint64_t most_workers;
    bool has_threads, has_ready_time;
};

static uint32_t id_of_pair(struct strtab *table, const char *a, const char *b)
{
    autofree char *key = mem_printf("%s\n%s", a, b);
    return strtab_id(table, key);
}

static uint32_t unified_event(struct unifier *unifier, const struct measurement_event *event)
{
    const char *unit = strcmp(event->unit, "ns") == 0 ? "s" : event->unit;
    uint32_t id = id_of_pair(&unifier->event_keys, event->name, unit);
    if (id == unifier->measurements->events.n) {
        const struct event new = {
            .name = mem_strdup(event->name),
            .unit = mem_strdup(unit),
            .period = event->period,
            .flags = event->flags,
        };
        vec_push(&unifier->measurements->events, new);
    }
    return id;
}

static uint32_t unified_metric(struct unifier *unifier, const char *name, uint32_t event)
{
    char number[16];
    snprintf(number, sizeof number, "%u", event);
    uint32_t id = id_of_pair(&unifier->metric_keys, number, name);
    if (id == unifier->measurements->metrics.n)
        vec_push(&unifier->measurements->metrics,
                 (struct recorded_metric){.name = mem_strdup(name), .event = event});
    return id;
}

/* The database has one fixed point: TIME_SHIFT for times, none for counts. */
static uint64_t rescaled(uint64_t amount, const struct measurement_event *event)
{
    uint64_t shift = strcmp(event->unit, "ns") == 0 ? TIME_SHIFT : 0;
    return event->shift > shift ? amount >> (event->shift - shift)
                                : amount << (shift - event->shift);
}

/* A trace whose event is lost has amounts that mean nothing. */
static void rescale_trace(const struct measurement *m, struct measurement_thread *thread)
{
    if (thread->trace_event == MEASUREMENT_UNKNOWN)
        thread->trace.n = 0;
    for (size_t i = 0; i < thread->trace.n; i++) {
        uint64_t *word = &thread->trace.at[i].amount;
        uint64_t amount = rescaled(trace_amount(*word), &m->events.at[thread->trace_event]);
        *word = trace_amount_word(amount, (unsigned)(*word & TRACE_FLAG_MASK));
    }
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
        rescale_trace(m, thread);
    }
}

uint64_t measurements_most_workers(const struct measurements *measurements)
{
    uint64_t most = 0;
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->workers.n; k++)
            most = m->workers.at[k].n > most ? m->workers.at[k].n : most;
    }
    return most;
}

/* Processes without samples say nothing about that. */
bool measurements_are_from_outside(const struct measurements *measurements)
{
    bool are_outside = false;
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->threads.n; k++) {
            const struct measurement_thread *thread = &m->threads.at[k];
            uint32_t source = thread->fates.n > 0 ? thread->fates.at[0].source : SOURCE_OUTSIDE;
            if (source != SOURCE_OUTSIDE && source != SOURCE_OUTSIDE_USER)
                return false;
            are_outside |= thread->fates.n > 0;
        }
    }
    return are_outside;
}

/* The agent that counted these workers. */
static const struct measurement_agent *counter_of(const struct measurement *m, size_t workers)
{
    static const struct measurement_agent unknown = {
        .name = "of an unknown name", .version = "", .rules = "", .rules_version = ""};
    uint64_t agent = m->workers.at[workers].agent;
    return agent < m->agents.n ? &m->agents.at[agent] : &unknown;
}

static bool is_for_threads(const struct measurement_agent *agent)
{
    return strcmp(agent->name, AGENT_FOR_THREADS) == 0;
}

bool measurement_has_threads(const struct measurement *m)
{
    for (size_t i = 0; i < m->workers.n; i++)
        if (is_for_threads(counter_of(m, i)))
            return true;
    return false;
}

const struct measurement_agent *measurement_next_runtime(const struct measurement *m, size_t *at)
{
    while (*at < m->workers.n) {
        const struct measurement_agent *agent = counter_of(m, (*at)++);
        if (!is_for_threads(agent))
            return agent;
    }
    return NULL;
}

bool measurements_have_threads(const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++)
        if (measurement_has_threads(measurements->files.at[i].m))
            return true;
    return false;
}

static bool have_ready_time(const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++)
        for (size_t k = 0; k < measurements->files.at[i].m->threads.n; k++)
            if (measurements->files.at[i].m->threads.at[k].has_ready)
                return true;
    return false;
}

static bool has_values(const struct measurement *m, size_t metric)
{
    for (size_t i = 0; i < m->threads.n; i++)
        for (size_t k = 0; k < m->threads.at[i].values.n; k++)
            if (m->threads.at[i].values.at[k].metric == metric)
                return true;
    return false;
}

static bool have_values(const struct measurements *measurements, const char *metric)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->metrics.n; k++)
            if (strcmp(m->metrics.at[k].name, metric) == 0 && has_values(m, k))
                return true;
    }
    return false;
}

/* Whether the run measured a metric. hpcrun lists the metrics of agents before it knows whether one
 * will take part. A single worker always has work, so `incomplete` needs two. Workers of a runtime wait, too, and for locks:
 * what was found there counts even if no agent for threads took part. */
static bool was_measured(const char *name, const struct unifier *unifier)
{
    static const char *const of_threads[] = {METRIC_WAITING, METRIC_LOCK_BLAME, METRIC_LOCK_WAIT};
    if (strcmp(name, METRIC_IDLENESS) == 0)
        return unifier->most_workers >= 1;
    if (strcmp(name, METRIC_INCOMPLETE) == 0)
        return unifier->most_workers >= 2;
    if (strcmp(name, METRIC_READY) == 0)
        return unifier->has_ready_time;
    for (size_t i = 0; i < sizeof of_threads / sizeof *of_threads; i++)
        if (strcmp(name, of_threads[i]) == 0)
            return unifier->has_threads || have_values(unifier->measurements, name);
    return true;
}

static void set_lower_bound(struct recorded_metric *metric, char *why)
{
    if (metric->why_lower_bound)
        free(why);
    else
        metric->why_lower_bound = why;
}

/* Takes how well the process knows a metric, which is `id` in the database; NO_METRIC: it has no
 * values. */
static void take_state(struct unifier *unifier, const struct measurement_file *file, size_t index,
                       uint32_t id)
{
    struct measurements *all = unifier->measurements;
    const struct measurement_metric *metric = &file->m->metrics.at[index];
    const struct measurement_metric_state *known = measurement_metric_state(file->m, index);
    if (known && id != NO_METRIC)
        all->metrics.at[id].error += known->error;
    if (!known || known->state == RECORDED_EXACT || known->state >= RECORDED_STATES)
        return;
    if (id != NO_METRIC)
        set_lower_bound(&all->metrics.at[id], mem_strdup(known->why));
    else if (metric->event != MEASUREMENT_UNKNOWN)
        vec_push(&all->missing, (struct missing_metric){.name = mem_strdup(metric->name),
                                                        .event = file->event_of[metric->event],
                                                        .pid = file->m->process.pid,
                                                        .why = mem_strdup(known->why)});
}

/* What one process lacks makes the sum over all a lower bound. */
static void take_missing(struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->missing.n; i++) {
        const struct missing_metric *missing = &measurements->missing.at[i];
        for (size_t k = 0; k < measurements->metrics.n; k++) {
            struct recorded_metric *metric = &measurements->metrics.at[k];
            if (metric->event == missing->event && strcmp(metric->name, missing->name) == 0)
                set_lower_bound(metric, mem_printf("process %" PRIu64 " was not measured: %s",
                                                   missing->pid, missing->why));
        }
    }
}

/* hpcrun lists exact metrics before it knows whether a runtime will report them. */
static uint32_t unified_metric_of(struct unifier *unifier, const struct measurement_file *file,
                                  size_t index)
{
    const struct measurement_metric *metric = &file->m->metrics.at[index];
    if (metric->event == MEASUREMENT_UNKNOWN || !was_measured(metric->name, unifier))
        return NO_METRIC;
    if (file->m->events.at[metric->event].flags & EVENT_EXACT && !has_values(file->m, index))
        return NO_METRIC;
    return unified_metric(unifier, metric->name, file->event_of[metric->event]);
}

static void unify_file(struct unifier *unifier, struct measurement_file *file)
{
    struct measurement *m = file->m;
    file->event_of = mem_alloc(m->events.n * sizeof *file->event_of);
    file->metric_of = mem_alloc(m->metrics.n * sizeof *file->metric_of);
    file->module_of = mem_alloc(m->modules.n * sizeof *file->module_of);
    for (size_t i = 0; i < m->events.n; i++)
        file->event_of[i] = unified_event(unifier, &m->events.at[i]);
    for (size_t i = 0; i < m->metrics.n; i++) {
        file->metric_of[i] = unified_metric_of(unifier, file, i);
        take_state(unifier, file, i, file->metric_of[i]);
    }
    for (size_t i = 0; i < m->modules.n; i++)
        file->module_of[i] = load_modules_add(&unifier->measurements->modules, &m->modules.at[i]);
    rescale_amounts(m);
}

static void unify(struct measurements *measurements)
{
    struct unifier unifier = {.measurements = measurements,
                              .most_workers = measurements_most_workers(measurements),
                              .has_threads = measurements_have_threads(measurements),
                              .has_ready_time = have_ready_time(measurements)};
    for (size_t i = 0; i < measurements->files.n; i++) {
        report_problems(measurements, measurements->files.at[i].m);
        unify_file(&unifier, &measurements->files.at[i]);
    }
    take_missing(measurements);
    load_modules_sort_paths(&measurements->modules);
    strtab_free(&unifier.event_keys);
    strtab_free(&unifier.metric_keys);
}

static void note_recovered(const struct measurements *measurements)
{
    size_t threads = 0, processes = 0;
    for (size_t i = 0; i < measurements->files.n; i++) {
        threads += measurements->files.at[i].m->recovered;
        processes += measurements->files.at[i].m->recovered > 0;
    }
    if (processes > 0)
        diag_note(NULL,
                  "recovered the data of %zu thread%s in %zu process%s that did not end by exit (killed, still "
                  "running, or ended by a bare system call)",
                  threads, threads == 1 ? "" : "s", processes, processes == 1 ? "" : "es");
}

/* ---- all together ---- */

bool measurements_read(struct measurements *measurements, char *const *directories, size_t count,
                       unsigned workers)
{
    struct measurement_files files = {0};
    for (size_t i = 0; i < count; i++)
        list_directory(measurements, directories[i], &files);
    if (!team_is_alone())
        compare_lists(&files);
    read_files(measurements, &files, workers);
    measurement_files_free(&files);
    if (measurements->files.n == 0)
        return false;
    qsort(measurements->files.at, measurements->files.n, sizeof *measurements->files.at,
          by_process);
    drop_repeated_processes(measurements);
    unify(measurements);
    note_recovered(measurements);
    return true;
}

void measurements_free_trees(struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++)
        for (size_t k = 0; k < measurements->files.at[i].m->threads.n; k++)
            measurement_free_tree(&measurements->files.at[i].m->threads.at[k]);
}

void measurements_free(struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        struct measurement_file *file = &measurements->files.at[i];
        measurement_free(file->m);
        free(file->event_of);
        free(file->metric_of);
        free(file->module_of);
    }
    for (size_t i = 0; i < measurements->directories.n; i++)
        free(measurements->directories.at[i]);
    for (size_t i = 0; i < measurements->events.n; i++) {
        free(measurements->events.at[i].name);
        free(measurements->events.at[i].unit);
    }
    for (size_t i = 0; i < measurements->metrics.n; i++) {
        free(measurements->metrics.at[i].name);
        free(measurements->metrics.at[i].why_lower_bound);
    }
    for (size_t i = 0; i < measurements->missing.n; i++) {
        free(measurements->missing.at[i].name);
        free(measurements->missing.at[i].why);
    }
    for (size_t i = 0; i < measurements->problems.n; i++)
        free(measurements->problems.at[i]);
    load_modules_free(&measurements->modules);
    vec_free(&measurements->directories);
    vec_free(&measurements->files);
    vec_free(&measurements->events);
    vec_free(&measurements->metrics);
    vec_free(&measurements->missing);
    vec_free(&measurements->problems);
}

bool event_is_time(const struct event *event)
{
    return strcmp(event->unit, "s") == 0;
}

bool event_is_sampled_time(const struct event *event)
{
    return event_is_time(event) && !(event->flags & EVENT_EXACT);
}

double event_amount(const struct event *event, unsigned __int128 amount)
{
    return event_is_time(event) ? (double)amount / ((1 << TIME_SHIFT) * 1e9) : (double)amount;
}
