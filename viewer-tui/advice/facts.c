#include "viewer-tui/advice/facts.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/advice/lone-waits.h"
#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/tree/code-owner.h"

#include <math.h>
#include <string.h>

/* ---- Metrics ---- */

/* The metric of a quantity and an event; NO_METRIC if it was not measured. */
static size_t metric_of(const struct metrics *metrics, const char *quantity, const char *event)
{
    size_t metric = metrics_find_event(metrics, quantity, event);
    return metric < metrics->n && metric_is_measured(&metrics->at[metric]) ? metric : NO_METRIC;
}

/* Chooses the metrics of CPU time, by CPUTIME if it was measured, and of waiting. */
static void choose_metrics(struct facts *facts)
{
    const struct metrics *metrics = facts->view->metrics;
    struct efficiency event;
    for (size_t from = 0; efficiency_next(metrics, &from, &event);) {
        const struct metric *work = &metrics->at[event.at[WORK]];
        const char *name = run_text(run_metric(facts->run, work->name), "event");
        bool is_cpu_time = strcmp(name, "CPUTIME") == 0;
        if (!metric_is_measured(work) || (!is_cpu_time && strcmp(name, "REALTIME") != 0))
            continue;
        size_t off_cpu = metric_of(metrics, METRIC_OFF_CPU, event.event);
        size_t waiting = metric_of(metrics, METRIC_WAITING, event.event);
        size_t lock_blame = metric_of(metrics, METRIC_LOCK_BLAME, event.event);
        if (is_cpu_time || (facts->cpu.metric == NO_METRIC && off_cpu != NO_METRIC)) {
            facts->cpu.metric = event.at[WORK];
            facts->cpu.without = is_cpu_time ? NO_METRIC : off_cpu;
            facts->cpu_increment = run_increment(facts->run, work->name);
            facts->event = event.event;
            facts->overhead = metric_of(metrics, METRIC_OVERHEAD, event.event);
            facts->idleness = metric_of(metrics, METRIC_IDLENESS, event.event);
            facts->waiting = waiting;
            facts->incomplete = metric_of(metrics, METRIC_INCOMPLETE, event.event);
            facts->lock_blame = lock_blame;
            facts->lock_wait = metric_of(metrics, METRIC_LOCK_WAIT, event.event);
        }
        if (!is_cpu_time && lock_blame != NO_METRIC) { /* it has plain threads */
            facts->thread_waits.metric = waiting;
            if (facts->cpu.without != NO_METRIC)
                facts->waiting = NO_METRIC; /* it is no CPU time */
        }
        if (off_cpu != NO_METRIC) {
            facts->off_cpu.metric = off_cpu;
            facts->wall = event.at[WORK];
            facts->off_cpu_increment = run_increment(facts->run, work->name);
        }
    }
}

/* ---- Places ---- */

double facts_cost(const struct facts *facts, size_t metric)
{
    return metric == NO_METRIC ? 0 : view_cost(facts->view, facts->row, metric, INCLUSIVE);
}

/* The times whose places are looked for. */
enum time {
    CPU,
    WAITING,
    OFF_CPU,
    THREAD_WAITS,
    LOCK_BLAME, /* of what holds the lock */
    LOCK_WAIT,
    TIMES
};

/* Removes what others waited while a holder had no CPU: that is no cause of its own. Returns these seconds. */
static double take_time_without_cpu(struct places_of_times *all)
{
    double seconds = 0;
    for (size_t i = 0; i < all->list.n; i++) {
        double *blame = &all->seconds.at[i * all->n_times + LOCK_BLAME];
        if (all->list.at[i].is_without_cpu) {
            seconds += *blame;
            *blame = 0;
        }
    }
    all->totals[LOCK_BLAME] -= seconds;
    return seconds;
}

/* `held`, `waits`: the waiting for locks, by its holders and by who waits; takes the latter. */
static void find_locks(struct facts *facts, const struct time_places *held, struct time_places *waits)
{
    double without_cpu = facts->lock.without_cpu;
    const struct lock_times times = {.held = held,
                                     .waits = waits,
                                     .event = facts->event,
                                     .wall = facts->supply.wall,
                                     /* a sample may stand for the waiting of all threads */
                                     .largest = facts->cpu_increment * (double)facts->process.threads.n};
    facts->lock = lock_facts_of(facts->view, &times);
    facts->lock.without_cpu = without_cpu;
    if (!(facts->lock.seconds.value > 0))
        vec_free(&facts->held_in);
    else
        facts->lock.is_lower_bound = facts->cpu.without == NO_METRIC ||
                                     metric_is_lower_bound(&facts->view->metrics->at[facts->lock_blame]);
}

/* Finds the places of all times in one pass. */
static void find_places(struct facts *facts, struct time_places *held, struct time_places *waits)
{
    struct view *view = facts->view;
    bool are_locks_known = facts->lock_blame != NO_METRIC && (facts->lock_wait != NO_METRIC || view->db->slice);
    size_t none = NO_METRIC;
    struct time_metric times[TIMES] = {[CPU] = facts->cpu,
                                       [WAITING] = {facts->waiting, none},
                                       [OFF_CPU] = facts->off_cpu,
                                       [THREAD_WAITS] = {none, none},
                                       [LOCK_BLAME] = {are_locks_known ? facts->lock_blame : none, none},
                                       [LOCK_WAIT] = {are_locks_known ? facts->lock_wait : none, none}};
    if (facts->off_cpu.metric != NO_METRIC) /* plain threads wait there, too, by the wall clock */
        times[THREAD_WAITS] = facts->thread_waits;
    struct places_of_times all = places_of_times_find(view, facts->row, times, TIMES, true);
    hotspot_list hotspots[TIMES] = {0};
    facts->lock.without_cpu = take_time_without_cpu(&all);
    hotspots_of_each(view->db, &all, hotspots);
    for (size_t t = 0; t < TIMES; t++)
        if (t != CPU && t != LOCK_BLAME)
            vec_free(&hotspots[t]);
    facts->hotspots = hotspots[CPU];
    facts->held_in = hotspots[LOCK_BLAME];
    facts->cpu_places = time_places_of(view, &all, CPU);
    facts->cpu_total = facts->cpu_places.total + facts_cost(facts, facts->overhead) + facts_cost(facts, facts->waiting);
    facts->waiting_places = time_places_of(view, &all, WAITING);
    facts->off_cpu_places = time_places_of(view, &all, OFF_CPU);
    facts->wall_total = facts_cost(facts, facts->wall) + facts_cost(facts, facts->thread_waits.metric);
    struct time_places thread_waits = time_places_of(view, &all, THREAD_WAITS);
    time_places_join(&facts->off_cpu_places, &thread_waits);
    *held = time_places_of(view, &all, LOCK_BLAME);
    *waits = time_places_of(view, &all, LOCK_WAIT);
    places_of_times_free(&all);
}

/* ---- The machine ---- */

/* From this share of the threads' time on, time without a CPU changes what other findings say. */
#define NOTABLE_READY_SHARE 0.05

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
    bool are_enough = (double)(process->most_runnable + process->n_others) <= process->cpus;
    double cpu = facts->cpu.metric == NO_METRIC ? 0 : time_cost(facts->view, 0, facts->cpu, INCLUSIVE);
    double seconds = 0, others = process->cpus - 1;
    /* The share of the CPU time in which at least as many plain threads had work as there are CPUs, at most: each
     * second with fewer has idleness, for at most all other CPUs. Threads of a runtime may spin without work. */
    double crowded = 1;
    if (process->is_only_one && !facts->runtime && facts->idleness != NO_METRIC && others > 0 && cpu > 0)
        crowded = fmax(1 - view_cost(facts->view, 0, facts->idleness, INCLUSIVE) / (cpu * others), 0);
    for (size_t i = 0; i < process->threads.n; i++) {
        const struct process_thread *thread = &process->threads.at[i];
        double by_own = crowded * cpu_meanwhile(process, thread) / fmax(process->cpus, 1);
        if (!thread->is_helper)
            seconds += fmax(thread->ready - (are_enough ? 0 : by_own), 0);
    }
    return seconds;
}

static struct cpu_supply cpu_supply_of(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    /* Of threads that sleep for more than half of the run, the wait for a CPU is little of their time. */
    double least = NOTABLE_READY_SHARE * fmax(process->ready_to_work + process->cpu, process->wall / 2);
    double lost = isnan(process->ready_to_work) ? 0 : ready_by_others(facts);
    struct cpu_supply supply = {.wall = process->wall};
    supply.is_throttled = process->wall > 0 && process->throttled >= NOTABLE_READY_SHARE * process->wall;
    supply.is_disturbed = supply.is_throttled || (lost > 0 && lost >= least);
    if (supply.is_disturbed) /* no less than on its CPUs if others do not use them */
        supply.wall = fmin(fmax(process->cpu / process->most_running, process->busiest ? process->busiest->cpu : 0),
                           process->wall);
    return supply;
}

#define OPENMP_SETTING "OMP_NUM_THREADS, num_threads, no nested regions"

static const struct runtime_facts runtimes[] = {
    {"gomp", OPENMP_SETTING, true, false, "OMP_WAIT_POLICY=passive", NULL},
    {"openmp", OPENMP_SETTING, true, false, "OMP_WAIT_POLICY=passive", NULL},
    {"minicilk", "MINICILK_WORKERS", false, true, NULL, NULL},
    {"opencilk", "CILK_NWORKERS", false, true, NULL, NULL},
    {"cilk5", "--nproc", false, true, NULL, "runtime-patches/cilk5/tag-overhead.py FILE.cilkc FILE.cilkc"},
    {"tbb", "tbb::global_control", false, false, NULL, NULL},
};

/* The first runtime of the run that has workers. Libraries may bring OpenMP along that nobody uses, as ffmpeg's do. */
static const struct runtime_facts *runtime_of(const json_t *run, const struct metrics *metrics)
{
    bool has_overhead = metrics_find_measured(metrics, METRIC_OVERHEAD) < metrics->n;
    json_each (agent, json_object_get(run, "agents"))
        for (size_t r = 0; r < sizeof runtimes / sizeof *runtimes; r++)
            if (strcmp(run_text(agent, "name"), runtimes[r].agent) == 0 &&
                (has_overhead || !runtimes[r].knows_overhead))
                return &runtimes[r];
    return NULL;
}

double *facts_by_profile(const struct facts *facts, size_t metric)
{
    autofree struct value_refs refs = {0};
    if (metric != NO_METRIC && view_value_refs(facts->view, 0, INCLUSIVE, &refs) != DONE)
        refs.list.n = 0;
    return time_by_profile(facts->view, &refs, (struct time_metric){metric, NO_METRIC});
}

static void add_refs(const struct value_refs *of, struct value_refs *refs)
{
    for (size_t r = 0; r < of->list.n; r++)
        vec_push(&refs->list, of->list.at[r]);
}

/* Whether a thread sleeps there, or waits for input or output, while others wait for its lock. */
static bool keeps_lock(const struct facts *facts, struct time_place *place)
{
    if ((place->wait != WAIT_SLEEP && place->wait != WAIT_IO) || facts->lock_blame == NO_METRIC || !facts->held_in.n)
        return false;
    autofree struct value_refs refs = {0};
    add_refs(&place->refs, &refs);
    add_refs(&place->joined_refs, &refs);
    autofree double *blame = time_by_profile(facts->view, &refs, (struct time_metric){facts->lock_blame, NO_METRIC});
    uint32_t n = database_n_profiles(facts->view->db), i = 0;
    while (i < n && !(blame[i] > 0))
        i++;
    return i < n;
}

static void find_busiest(struct facts *facts)
{
    autofree struct value_refs locking = {0}, without_cpu = {0}, asleep = {0}, asleep_as_wait = {0};
    for (size_t i = 0; i < facts->cpu_places.list.n; i++) {
        const struct time_place *place = &facts->cpu_places.list.at[i];
        char buffer[NAME_SIZE];
        if (place->leaf != NOTHING &&
            is_call_of_lock(database_procedure_name(facts->view->db, place->leaf, buffer)))
            add_refs(&place->refs, &locking);
    }
    for (size_t i = 0; i < facts->off_cpu_places.list.n; i++) {
        struct time_place *place = &facts->off_cpu_places.list.at[i];
        if (place->wait == WAIT_NONE && !place->is_system_call) /* it cannot wait; a bare system call may */
            add_refs(&place->refs, &without_cpu);
        if (keeps_lock(facts, place)) {
            add_refs(&place->refs, &asleep);
            add_refs(&place->joined_refs, &asleep_as_wait);
        }
    }
    autofree double *spun_in = facts_by_profile(facts, facts->waiting);
    autofree double *locked_in = time_by_profile(facts->view, &locking, facts->cpu);
    autofree double *none_in = time_by_profile(facts->view, &without_cpu, facts->off_cpu);
    autofree double *slept_in = time_by_profile(facts->view, &asleep, facts->off_cpu);
    autofree double *waited_in = time_by_profile(facts->view, &asleep_as_wait, facts->thread_waits);
    bool is_by_wall = facts->cpu.without != NO_METRIC;
    autofree double *paid_in = facts_by_profile(facts, is_by_wall ? facts->cpu.metric : NO_METRIC);
    autofree double *off_cpu_in = facts_by_profile(facts, is_by_wall ? facts->cpu.without : NO_METRIC);
    autofree double *overhead_in = facts_by_profile(facts, is_by_wall ? facts->overhead : NO_METRIC);
    autofree double *all_waits_in = facts_by_profile(facts, facts->thread_waits.metric);
    uint32_t n = database_n_profiles(facts->view->db);
    for (size_t i = 0; i < facts->process.threads.n; i++) {
        const struct process_thread *thread = &facts->process.threads.at[i];
        uint32_t profile = thread->profile < n ? thread->profile : n; /* n: unknown, without values */
        double spun = spun_in[profile] + locked_in[profile];
        double paid = spun_in[profile] + paid_in[profile] - off_cpu_in[profile] + overhead_in[profile];
        if (is_by_wall) /* CPU time that no code has, as of sched_yield, while samples found the thread waiting */
            spun += fmin(fmax(thread->cpu - paid, 0), thread->unpaid + all_waits_in[profile]);
        facts->spun += spun;
        double busy = thread->cpu - spun - thread->idle + fmax(none_in[profile], thread->ready);
        facts->busiest = fmax(facts->busiest, busy);
        facts->longest = fmax(facts->longest, busy + slept_in[profile] + waited_in[profile]);
    }
}

/* Seconds of the initial thread in which no worker of the runtime worked: other workers may spin for some milliseconds
 * while the initial thread waits for something else. By CPUTIME, or, if that was not measured, by REALTIME, without the
 * time in which threads were blocked in the program's code: meanwhile others may wait for them. 0 if workers may have
 * waited for CPUs meanwhile, or for a part of the program. */
static double nobody_of(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    if (!facts->runtime || facts->row != 0 || facts->supply.is_disturbed || !process->is_only_one ||
        facts->view->db->has_some_threads || (double)process->most_working > process->cpus || process->threads.n == 0)
        return 0;
    double blocked = facts_cost(facts, facts->off_cpu.metric) + facts_cost(facts, facts->thread_waits.metric);
    bool is_by_wall = facts->cpu.without != NO_METRIC;
    return is_by_wall ? fmax(process->threads.at[0].nobody_by_wall - blocked, 0) : process->threads.at[0].nobody;
}

/* For how long the process's threads wanted a CPU and others had it, at most, if that was notable; else 0: all of the
 * scheduler's account, though a part of it may be what CPUs took to wake up. */
static double disturbed_for(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    bool is_known = process->is_only_one && !facts->supply.is_throttled && !isnan(process->ready);
    return !facts->supply.is_disturbed ? 0 : is_known ? run_number(process->process, "ready") : INFINITY;
}

static void find_runnable(struct facts *facts, const struct timeline *timeline)
{
    struct main_process *process = &facts->process;
    if (!timeline || facts->runtime || (double)process->most_working <= process->cpus)
        return;
    struct time_range range = {0, timeline->end};
    if (facts->view->db->slice)
        range = time_ranges_span(&facts->view->db->slice->ranges);
    process->most_runnable = main_process_runnable(process, timeline, range);
}

/* ---- All of it ---- */

struct facts facts_of(struct view *view, uint32_t row, const json_t *run, const struct timeline *timeline)
{
    struct time_metric none = {NO_METRIC, NO_METRIC};
    struct facts facts = {.view = view, .row = row, .run = run, .process = main_process_of(run)};
    facts.cpu = facts.off_cpu = facts.thread_waits = none;
    facts.wall = facts.overhead = facts.idleness = facts.waiting = NO_METRIC;
    facts.lock_blame = facts.lock_wait = facts.incomplete = NO_METRIC;
    facts.has_work_span = work_span_of(view, &facts.work_span);
    bool is_top_down = view->class == &topdown_class;
    if (is_top_down) {
        choose_metrics(&facts);
        facts.runtime = runtime_of(run, view->metrics);
        find_runnable(&facts, timeline);
        facts.supply = cpu_supply_of(&facts);
    } else {
        facts.process.ready_to_work = NAN; /* advice on other views is not about the machine */
    }
    if (!facts.has_work_span)
        facts.parallelizations = parallelization_of(view, row, run, nobody_of(&facts), disturbed_for(&facts));
    if (!is_top_down)
        return facts;
    if (view->db->has_some_threads) { /* of some threads only, so the process's numbers do not apply */
        vec_free(&facts.process.threads);
        facts.process.busiest = NULL;
        facts.process.wall = facts.process.wall_of_run = facts.supply.wall = 0;
    }
    struct time_places held = {0}, waits = {0};
    find_places(&facts, &held, &waits);
    if (timeline && facts.process.wall > 0)
        lone_waits_find(&facts.off_cpu_places, LEAST_WAIT_OF_WALL * facts.process.wall, view->db, timeline);
    find_locks(&facts, &held, &waits);
    time_places_free(&held);
    find_busiest(&facts);
    return facts;
}

void facts_drop_places(struct facts *facts)
{
    time_places_free(&facts->cpu_places);
    time_places_free(&facts->waiting_places);
    time_places_free(&facts->off_cpu_places);
    time_places_free(&facts->lock.waits);
    vec_free(&facts->hotspots);
    vec_free(&facts->held_in);
}

void facts_free(struct facts *facts)
{
    facts_drop_places(facts);
    vec_free(&facts->balance.list);
    vec_free(&facts->process.threads);
    vec_free(&facts->parallelizations.list);
}

static double factor_without(const struct facts *facts, double seconds)
{
    const struct main_process *process = &facts->process;
    double cpu = process->cpu - facts->spun - process->waited;
    double least = fmax(cpu / process->most_running, facts->busiest);
    double rest = fmax(process->wall - seconds, fmin(least, process->wall));
    return rest > 0 ? process->wall / rest : INFINITY;
}

struct gain facts_gain_without(const struct facts *facts, const struct share *seconds)
{
    return (struct gain){factor_without(facts, seconds->value), factor_without(facts, seconds->low),
                         factor_without(facts, seconds->high)};
}

static double most_gain(const struct main_process *process, double used)
{
    bool is_known = process->wall > 0 && process->cpus > 0 && used > 0;
    return is_known ? fmax(process->cpus * process->wall / used, 1) : INFINITY;
}

struct gain facts_most_gain(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    double overhead = facts->overhead == NO_METRIC ? 0 : view_cost(facts->view, 0, facts->overhead, INCLUSIVE);
    double used = process->cpu - facts->spun - overhead - process->waited;
    /* The CPU time of the whole run is that of clocks, in a piece of time that of its samples. */
    double sampled = facts->view->db->slice ? process->cpu : facts->spun + overhead;
    double error = share_error(sampled, facts->cpu_increment);
    return (struct gain){most_gain(process, used), most_gain(process, used + error), most_gain(process, used - error)};
}

/* Whether CPython began the thread: in pythread_wrapper, or in "<python3.11+0x1cc40>" if that is stripped. */
static bool is_python_thread(const struct process_thread *thread)
{
    const char *routine = thread->start_routine;
    return thread->is_initial || !*routine || strcmp(routine, "pythread_wrapper") == 0 ||
           (*routine == '<' && code_is_of_python(routine + 1));
}

double facts_python_cpu(const struct facts *facts)
{
    double seconds = 0;
    bool is_python = false;
    json_each (agent, json_object_get(facts->run, "agents"))
        is_python |= strcmp(run_text(agent, "name"), "python") == 0;
    for (size_t i = 0; i < facts->process.threads.n && is_python; i++)
        seconds += is_python_thread(&facts->process.threads.at[i]) ? facts->process.threads.at[i].work : 0;
    return seconds;
}

/* Where threads run or wait for a CPU during this share of the wall clock or more, CPU time is the time that a reader
 * thinks of. */
#define MOST_OF_THE_TIME 0.50

const char *facts_time(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    double awake = process->cpu + (isnan(process->ready_to_work) ? 0 : process->ready_to_work);
    return awake < MOST_OF_THE_TIME * process->wall ? "CPU time" : "time";
}

struct share facts_share_of_cpu(const struct facts *facts, double seconds)
{
    return share_of_samples(seconds, facts->cpu_total, facts->cpu_increment);
}
