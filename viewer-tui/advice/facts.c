#include "viewer-tui/advice/facts.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/metrics/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Metrics ---- */

/* The metric "PART (EVENT)" or "PART"; NO_METRIC if it was not measured. */
static size_t metric_of(const struct metrics *metrics, const char *part, const char *suffix)
{
    char *name = mem_printf("%s%s", part, suffix);
    size_t metric = metrics_find(metrics, name);
    free(name);
    bool is_there = metric < metrics->n && metric_is_measured(&metrics->at[metric]);
    return is_there ? metric : NO_METRIC;
}

static void choose_event(struct facts *facts, const struct efficiency *event)
{
    const struct metrics *metrics = facts->view->metrics;
    const char *work = metrics->at[event->at[WORK]].name;
    const char *name = run_text(run_metric(facts->run, work), "event");
    size_t off_cpu = metric_of(metrics, METRIC_OFF_CPU, event->event);
    bool is_cpu_time = strcmp(name, "CPUTIME") == 0;
    if (!is_cpu_time && strcmp(name, "REALTIME") != 0)
        return;
    if (is_cpu_time || (facts->cpu.metric == NO_METRIC && off_cpu != NO_METRIC)) {
        facts->cpu.metric = event->at[WORK];
        facts->cpu.without = is_cpu_time ? NO_METRIC : off_cpu;
        facts->cpu_increment = run_increment(facts->run, work);
        facts->overhead = metric_of(metrics, METRIC_OVERHEAD, event->event);
        facts->idleness = metric_of(metrics, METRIC_IDLENESS, event->event);
        facts->waiting = metric_of(metrics, METRIC_WAITING, event->event);
        facts->incomplete = metric_of(metrics, METRIC_INCOMPLETE, event->event);
        facts->lock_blame = metric_of(metrics, METRIC_LOCK_BLAME, event->event);
        facts->lock_wait = metric_of(metrics, METRIC_LOCK_WAIT, event->event);
    }
    bool has_threads = metric_of(metrics, METRIC_LOCK_BLAME, event->event) != NO_METRIC;
    if (!is_cpu_time && has_threads) {
        facts->thread_waits.metric = metric_of(metrics, METRIC_WAITING, event->event);
        if (facts->cpu.without != NO_METRIC)
            facts->waiting = NO_METRIC; /* it is no CPU time */
    }
    if (off_cpu != NO_METRIC) {
        facts->off_cpu.metric = off_cpu;
        facts->off_cpu_increment = run_increment(facts->run, work);
    }
}

static void choose_metrics(struct facts *facts)
{
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(facts->view->metrics, &from, &event))
        if (metric_is_measured(&facts->view->metrics->at[event.at[WORK]]))
            choose_event(facts, &event);
}

/* ---- Places ---- */

static struct time_places places_of(const struct facts *facts, struct time_metric time)
{
    struct time_places none = {0};
    return time.metric == NO_METRIC ? none : time_places_find(facts->view, facts->row, time);
}

static int by_seconds(const void *a, const void *b)
{
    const struct time_place *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* The place among others where a thread waits for the same; NULL if there is none. */
static struct time_place *same_place(const struct time_places *places, const struct time_place *as)
{
    for (size_t i = 0; i < places->list.n; i++) {
        struct time_place *place = &places->list.at[i];
        if (place->procedure == as->procedure && place->at.line == as->at.line && place->callee == as->callee &&
            place->wait == as->wait)
            return place;
    }
    return NULL;
}

/* Adds the places where plain threads wait, by the wall clock, to those where they are off the CPU. The refs of these
 * are of another metric, so a joint place has those of the latter. */
static void add_thread_waits(struct facts *facts)
{
    struct time_places *off_cpu = &facts->off_cpu_places;
    struct time_places waits = places_of(facts, facts->thread_waits);
    for (size_t i = 0; i < waits.list.n; i++) {
        struct time_place *same = same_place(off_cpu, &waits.list.at[i]), *new = &waits.list.at[i];
        vec_free(&new->refs.list);
        if (same)
            same->seconds += new->seconds;
        else
            vec_push(&off_cpu->list, *new);
    }
    off_cpu->total += waits.total;
    vec_free(&waits.list);
    if (off_cpu->list.n)
        qsort(off_cpu->list.at, off_cpu->list.n, sizeof *off_cpu->list.at, by_seconds);
}

double facts_cost(const struct facts *facts, size_t metric)
{
    return metric == NO_METRIC ? 0 : view_cost(facts->view, facts->row, metric, INCLUSIVE);
}

static void find_places(struct facts *facts)
{
    facts->cpu_places = places_of(facts, facts->cpu);
    facts->cpu_total = facts->cpu_places.total + facts_cost(facts, facts->overhead) + facts_cost(facts, facts->waiting);
    facts->hotspots = hotspots_of(facts->view->db, &facts->cpu_places, true);
    facts->waiting_places = places_of(facts, (struct time_metric){facts->waiting, NO_METRIC});
    facts->off_cpu_places = places_of(facts, facts->off_cpu);
    if (facts->off_cpu.metric != NO_METRIC && facts->thread_waits.metric != NO_METRIC)
        add_thread_waits(facts);
}

/* ---- Locks ---- */

#define LOCK_PREFIX "<lock "

/* Less waiting for locks, as a share of the wall clock, is nothing to say; what is much. */
#define NOTABLE_LOCK_SHARE 0.05
#define MUCH_LOCK_SHARE    0.10

/* Finds the lock with most of the waiting; its calls are those of `<lock NAME>`. */
static void find_main_lock(const struct facts *facts, const struct time_places *waits, struct lock_facts *lock)
{
    double most = 0;
    for (size_t i = 0; i < waits->list.n; i++) {
        uint32_t leaf = waits->list.at[i].leaf;
        double seconds = 0;
        char buffer[NAME_SIZE];
        const char *name = leaf == NOTHING ? "" : database_procedure_name(facts->view->db, leaf, buffer);
        for (size_t k = 0; k < waits->list.n; k++)
            seconds += waits->list.at[k].leaf == leaf ? waits->list.at[k].seconds : 0;
        size_t length = strlen(name), prefix = strlen(LOCK_PREFIX);
        if (seconds <= most || length <= prefix || strncmp(name, LOCK_PREFIX, prefix) != 0)
            continue;
        snprintf(lock->name, sizeof lock->name, "%.*s", (int)(length - prefix - 1), name + prefix);
        most = seconds;
    }
    lock->share = waits->total > 0 ? most / waits->total : 0;
}

/* Lower end of the 95 % interval of a sum of waits. A sample may stand for the waiting of all threads. */
static double lower_limit(const struct facts *facts, double seconds)
{
    double largest = facts->cpu_increment * (double)facts->process.threads.n;
    return seconds - INTERVAL_SIGMAS * sqrt(largest * seconds);
}

static void find_locks(struct facts *facts)
{
    double wall = facts->supply.wall;
    if (facts->lock_blame == NO_METRIC || facts->lock_wait == NO_METRIC)
        return;
    struct time_places held = places_of(facts, (struct time_metric){facts->lock_blame, NO_METRIC});
    struct time_places waits = places_of(facts, (struct time_metric){facts->lock_wait, NO_METRIC});
    double least = lower_limit(facts, held.total);
    if (wall > 0 && least > NOTABLE_LOCK_SHARE * wall) {
        facts->held_in = hotspots_of(facts->view->db, &held, true);
        facts->lock.seconds = held.total;
        facts->lock.is_lower_bound = facts->cpu.without == NO_METRIC;
        facts->lock.is_much = least > MUCH_LOCK_SHARE * wall;
        find_main_lock(facts, &waits, &facts->lock);
    }
    time_places_free(&held);
    time_places_free(&waits);
}

/* ---- The machine ---- */

/* From this share of the threads' time on, time without a CPU changes what other findings say. */
#define NOTABLE_READY_SHARE 0.05

/* The share of the CPU time in which at least as many plain threads had work as there are CPUs, at most: each second
 * with fewer has idleness, for at most all other CPUs. Threads of a runtime may spin without work. */
static double crowded_share(const struct facts *facts)
{
    double others = facts->process.cpus - 1;
    double cpu = facts->cpu.metric == NO_METRIC ? 0 : time_cost(facts->view, 0, facts->cpu, INCLUSIVE);
    if (facts->runtime || facts->idleness == NO_METRIC || !(others > 0) || !(cpu > 0))
        return 1;
    return fmax(1 - view_cost(facts->view, 0, facts->idleness, INCLUSIVE) / (cpu * others), 0);
}

/* More threads are not compared with each other: that takes a second. */
#define MOST_COMPARED 16384

/* The CPU seconds that other threads of the run can have had while a thread lived, at most. */
static double cpu_meanwhile(const struct main_process *process, const struct process_thread *thread)
{
    double seconds = process->cpu_of_run - process->cpu;
    if (process->threads.n > MOST_COMPARED)
        return process->cpu_of_run - thread->cpu;
    for (size_t i = 0; i < process->threads.n; i++) {
        const struct process_thread *other = &process->threads.at[i];
        double end = fmin(thread->begin + thread->wall, other->begin + other->wall);
        double both = end - fmax(thread->begin, other->begin);
        seconds += other == thread ? 0 : fmax(fmin(other->cpu, both), 0);
    }
    return seconds;
}

/* The seconds for which threads were ready because of others, at least. The run's own threads can have had all CPUs for
 * their CPU time meanwhile in which enough had work, divided by the CPUs; never if there are enough for all. */
static double ready_by_others(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    bool are_enough = (double)(process->most_working + process->n_others) <= process->cpus;
    double seconds = 0, crowded = process->is_only_one ? crowded_share(facts) : 1;
    for (size_t i = 0; i < process->threads.n; i++) {
        const struct process_thread *thread = &process->threads.at[i];
        double by_own = crowded * cpu_meanwhile(process, thread) / fmax(process->cpus, 1);
        if (!thread->is_helper)
            seconds += fmax(thread->ready - (are_enough ? 0 : by_own), 0);
    }
    return seconds;
}

/* Of the threads that work; NAN if it was not measured. */
static double ready_of(const struct main_process *process)
{
    double seconds = 0;
    for (size_t i = 0; i < process->threads.n; i++)
        seconds += process->threads.at[i].is_helper ? 0 : process->threads.at[i].ready;
    return isnan(process->ready) ? NAN : seconds;
}

/* The least wall clock that the process takes on its CPUs if others do not use them. */
static double quiet_wall_of(const struct main_process *process)
{
    double least = process->cpu / main_process_most_running(process);
    for (size_t i = 0; i < process->threads.n; i++)
        least = fmax(least, process->threads.at[i].cpu);
    return fmin(least, process->wall);
}

static struct cpu_supply cpu_supply_of(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    struct cpu_supply supply = {.ready = ready_of(process), .running = process->cpu, .wall = process->wall};
    double least = NOTABLE_READY_SHARE * (supply.ready + supply.running);
    supply.lost = isnan(supply.ready) ? NAN : ready_by_others(facts);
    supply.is_throttled = process->wall > 0 && process->throttled >= NOTABLE_READY_SHARE * process->wall;
    supply.is_disturbed = supply.is_throttled || (supply.lost > 0 && supply.lost >= least);
    if (supply.is_disturbed)
        supply.wall = quiet_wall_of(process);
    return supply;
}

#define OPENMP_SETTING "OMP_NUM_THREADS, num_threads, no nested regions"

static const struct runtime_facts runtimes[] = {
    {"gomp", OPENMP_SETTING, false, "OMP_WAIT_POLICY=passive", NULL},
    {"openmp", OPENMP_SETTING, false, "OMP_WAIT_POLICY=passive", NULL},
    {"minicilk", "MINICILK_WORKERS", true, NULL, NULL},
    {"opencilk", "CILK_NWORKERS", true, NULL, NULL},
    {"cilk5", "--nproc", true, NULL, "runtime-patches/cilk5/tag-overhead.py FILE.cilkc FILE.cilkc"},
    {"tbb", "tbb::global_control", false, NULL, NULL},
};

/* The first runtime of the run that has workers. */
static const struct runtime_facts *runtime_of(const json_t *run)
{
    size_t i;
    json_t *agent;
    json_array_foreach(json_object_get(run, "agents"), i, agent)
    {
        for (size_t r = 0; r < sizeof runtimes / sizeof *runtimes; r++)
            if (strcmp(run_text(agent, "name"), runtimes[r].agent) == 0)
                return &runtimes[r];
    }
    return NULL;
}

/* Seconds by profile, which the caller frees: of spinning in a runtime. NULL: none. */
static double *spinning_of(const struct facts *facts)
{
    struct value_refs refs = {0};
    double *seconds = NULL;
    if (facts->waiting != NO_METRIC && view_value_refs(facts->view, 0, INCLUSIVE, &refs) == DONE)
        seconds = time_by_profile(facts->view, &refs, (struct time_metric){facts->waiting, NO_METRIC});
    vec_free(&refs.list);
    return seconds;
}

/* The same of the places that a test chooses. */
static double *seconds_in(const struct facts *facts, const struct time_places *places, struct time_metric time,
                          bool (*is_chosen)(const struct facts *facts, const struct time_place *place))
{
    struct value_refs refs = {0};
    for (size_t i = 0; i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        for (size_t r = 0; is_chosen(facts, place) && r < place->refs.list.n; r++)
            vec_push(&refs.list, place->refs.list.at[r]);
    }
    double *seconds = refs.list.n ? time_by_profile(facts->view, &refs, time) : NULL;
    vec_free(&refs.list);
    return seconds;
}

/* Whether time off the CPU is in code that does not wait; a bare system call may be a wait. */
static bool cannot_wait(const struct facts *facts, const struct time_place *place)
{
    (void)facts;
    return place->wait == WAIT_NONE && !place->is_system_call;
}

static bool is_for_lock(const struct facts *facts, const struct time_place *place)
{
    char buffer[NAME_SIZE];
    return place->leaf != NOTHING && is_call_of_lock(database_procedure_name(facts->view->db, place->leaf, buffer));
}

static void find_busiest(struct facts *facts)
{
    double *spinning = spinning_of(facts);
    double *locking = seconds_in(facts, &facts->cpu_places, facts->cpu, is_for_lock);
    double *without_cpu = seconds_in(facts, &facts->off_cpu_places, facts->off_cpu, cannot_wait);
    uint32_t n = database_n_profiles(facts->view->db);
    for (size_t i = 0; i < facts->process.threads.n; i++) {
        const struct process_thread *thread = &facts->process.threads.at[i];
        bool is_known = thread->profile < n;
        double spun = (spinning && is_known ? spinning[thread->profile] : 0) +
                      (locking && is_known ? locking[thread->profile] : 0);
        double had_none = without_cpu && is_known ? without_cpu[thread->profile] : 0;
        facts->spun += spun;
        facts->busiest = fmax(facts->busiest, thread->cpu - spun + fmax(had_none, thread->ready));
    }
    free(spinning);
    free(locking);
    free(without_cpu);
}

/* Whose code the advice is about: a package's if the user has none in the program. */
static enum code_owner whose_code(const struct facts *facts)
{
    for (size_t i = 0; i < facts->hotspots.n; i++)
        if (facts->hotspots.at[i].owner == CODE_OWN)
            return CODE_OWN;
    return CODE_OF_PACKAGE;
}

static void find_threads(struct facts *facts)
{
    find_busiest(facts);
    if (facts->cpu.metric == NO_METRIC)
        return;
    struct balanced of = {facts->view,          facts->row,        facts->cpu,
                          facts->cpu_increment, whose_code(facts), &facts->process};
    facts->balance = balance_of(&of);
    facts->balance.ranks = rank_balance_of(facts->view, facts->cpu, facts->waiting, &facts->waiting_places, facts->run);
}

/* CPU seconds of a thread whose samples had a fate; 0 if that is unknown. */
static double seconds_of_fate(const json_t *thread, const char *fate)
{
    size_t i;
    json_t *event;
    double seconds = 0;
    json_array_foreach(json_object_get(thread, "events"), i, event)
    {
        const json_t *samples = json_object_get(json_object_get(event, "fates"), fate);
        seconds += strcmp(run_text(event, "event"), "CPUTIME") == 0 ? run_number(samples, "amount") : 0;
    }
    return seconds;
}

/* CPU seconds of the process's threads in which they waited in a runtime that has an agent. */
static double waited_of(const struct main_process *process)
{
    size_t i;
    json_t *thread;
    double seconds = 0;
    json_array_foreach(json_object_get(process->process, "threads"), i, thread)
    {
        seconds += seconds_of_fate(thread, "idle thread") + seconds_of_fate(thread, "nobody working");
    }
    return seconds;
}

/* CPU seconds of the initial thread in which no worker of the runtime worked: it begins or ends a region, or all have come
 * to a barrier. Other workers may spin for some milliseconds while the initial thread waits for something else. 0 if
 * workers may have waited for CPUs meanwhile, or for a part of the program. */
static double nobody_of(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    if (!facts->runtime || facts->row != 0 || facts->supply.is_disturbed || !process->is_only_one ||
        facts->view->db->is_restricted || (double)process->most_working > process->cpus)
        return 0;
    return seconds_of_fate(json_array_get(json_object_get(process->process, "threads"), 0), "nobody working");
}

/* ---- All of it ---- */

struct facts facts_of(struct view *view, uint32_t row, const json_t *run)
{
    struct time_metric none = {NO_METRIC, NO_METRIC};
    struct work_span exact;
    struct facts facts = {.view = view,
                          .row = row,
                          .run = run,
                          .process = main_process_of(run),
                          .cpu = none,
                          .off_cpu = none,
                          .thread_waits = none,
                          .overhead = NO_METRIC,
                          .idleness = NO_METRIC,
                          .waiting = NO_METRIC,
                          .lock_blame = NO_METRIC,
                          .lock_wait = NO_METRIC,
                          .incomplete = NO_METRIC,
                          .has_work_span = work_span_of(view, &exact)};
    bool is_top_down = view->class == &topdown_class;
    if (is_top_down) {
        choose_metrics(&facts);
        facts.runtime = runtime_of(run);
        facts.supply = cpu_supply_of(&facts);
        facts.waited = waited_of(&facts.process);
    }
    if (!facts.has_work_span)
        facts.parallelizations = parallelization_of(view, row, run, nobody_of(&facts));
    if (!is_top_down)
        return facts;
    if (view->db->is_restricted) { /* of some threads only, so the process's numbers do not apply */
        vec_free(&facts.process.threads);
        facts.process.wall = facts.supply.wall = 0;
    }
    find_places(&facts);
    find_locks(&facts);
    find_threads(&facts);
    return facts;
}

void facts_free(struct facts *facts)
{
    time_places_free(&facts->cpu_places);
    time_places_free(&facts->waiting_places);
    time_places_free(&facts->off_cpu_places);
    vec_free(&facts->hotspots);
    vec_free(&facts->held_in);
    vec_free(&facts->balance.list);
    vec_free(&facts->process.threads);
    vec_free(&facts->parallelizations.list);
}

static double factor_without(const struct facts *facts, double seconds)
{
    const struct main_process *process = &facts->process;
    double cpu = process->cpu - facts->spun;
    double least = fmax(cpu / main_process_most_running(process), facts->busiest);
    double rest = fmax(process->wall - seconds, fmin(least, process->wall));
    return rest > 0 ? process->wall / rest : INFINITY;
}

struct gain facts_gain_without(const struct facts *facts, const struct share *seconds)
{
    return (struct gain){factor_without(facts, seconds->value), factor_without(facts, seconds->low),
                         factor_without(facts, seconds->high)};
}

struct share facts_share_of_cpu(const struct facts *facts, double seconds)
{
    return share_of_samples(seconds, facts->cpu_total, facts->cpu_increment);
}
