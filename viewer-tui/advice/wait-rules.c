/* Rules about waiting: for locks, input and output, sleeps, in runtimes. */
#include "viewer-tui/advice/advice-rules.h"
#include "viewer-tui/advice/lone-waits.h"

#include <math.h>
#include <stdlib.h>

/* ---- Locks ---- */

/* The number of threads that hold locks or wait for them. By CPUTIME they may have no sample: then all. */
static uint32_t threads_at_locks(const struct facts *facts)
{
    autofree double *held = facts_by_profile(facts, facts->lock_blame);
    autofree double *waited = facts_by_profile(facts, facts->lock_wait);
    uint32_t n = database_n_profiles(facts->view->db), count = 0;
    for (size_t i = 0; i < facts->process.threads.n; i++) {
        uint32_t profile = facts->process.threads.at[i].profile;
        bool takes_part = profile < n && (held[profile] > 0 || waited[profile] > 0);
        count += facts->lock.is_lower_bound || takes_part;
    }
    return count;
}

/* Without locks, n threads do at once what they did one after the other, if they were always kept waiting by one of
 * them. What waits cost goes with the locks; what a thread does, or sleeps, while it has one remains. */
static void limit_gain(const struct facts *facts, struct gain *gain)
{
    double wall = facts->process.wall, rest = wall - facts->spun;
    uint32_t n = threads_at_locks(facts);
    double most = n > 0 && rest > 0 ? fmin(n * wall / rest, fmax(wall / facts->longest, 1)) : INFINITY;
    gain_limit(gain, &(struct gain){most, most, most});
}

bool wait_for_locks(const struct facts *facts, struct subject *subject)
{
    if (facts->held_in.n == 0)
        return false;
    struct hotspot section = {.cost = 0};
    if (facts->row == 0)
        section = lock_facts_section(&facts->lock, facts->view, facts->lock_blame);
    subject->place = section.cost > 0 ? section : facts->held_in.at[0];
    if (facts->row == 0 && !(section.cost > 0))
        hotspot_find_caller(facts->view, &facts->held_in.at[0], facts->lock_blame, facts->cpu.metric, &subject->place);
    double total = section.cost > 0 ? facts_cost(facts, facts->lock_blame) : facts->lock.seconds.value;
    subject->share.value = subject->place.cost / total;
    subject->is_section = section.cost > 0;
    if (facts->lock.is_much)
        subject->order = ORDER_FIRST;
    /* By CPUTIME the waiting is only a lower bound: then the rest of the wall clock bounds nothing. */
    struct share seconds = facts->lock.seconds;
    if (facts->lock.is_lower_bound)
        seconds.value = seconds.high = INFINITY;
    subject->gain = facts_gain_without(facts, &seconds);
    limit_gain(facts, &subject->gain);
    return true;
}

/* Adds "; qsort (libc), called in tokenize, nlp.py:40, keeps it for more than 20 ms at a stretch". */
static void add_kept(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct hotspot *kept = &facts->lock.kept;
    bool is_there = kept->procedure == subject->place.procedure && kept->at.file == subject->place.at.file &&
                    kept->at.line == subject->place.at.line;
    text_add(text, "; ");
    if (kept->callee != NOTHING) {
        callee_describe(facts->view->db, kept->callee, kept->callee_module, text);
        text_add(text, is_there ? " keeps it" : ", called in ");
    } else if (is_there) {
        text_add(text, "it is kept there");
    }
    if (!is_there) {
        hotspot_describe(facts->view->db, kept, false, text);
        text_add(text, ", keeps it");
    }
    text_add(text, " for more than 20 ms at a stretch");
}

/* Samples may have counted more than there was: "at least" is said of the lower end of the interval. */
static double known_wait(const struct lock_facts *lock)
{
    return lock->is_lower_bound ? lock->seconds.low : lock->seconds.value;
}

/* Less of the waiting is not named. */
#define LEAST_SHARE_WITHOUT_CPU 0.1

/* Adds ", and 11 s more while threads that hold it have no CPU". */
static void add_without_cpu(const struct lock_facts *lock, struct text *text)
{
    if (lock->without_cpu >= LEAST_SHARE_WITHOUT_CPU * (lock->seconds.value + lock->without_cpu))
        text_printf(text, ", and %s more while threads that hold it have no CPU", as_seconds(lock->without_cpu).text);
}

/* "8 threads, 1.1 run: the GIL is held 93 % in tokenize, nlp.py:40, while others wait for 3.4 s in all; ..." */
static void say_lock_of_runtime(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct lock_facts *lock = &facts->lock;
    const struct main_process *process = &facts->process;
    bool tells_threads = process->most_working > 1 && !facts->supply.is_disturbed && process->wall > 0;
    if (tells_threads) {
        add_threads(process, text);
        text_printf(text, ", %.1f run: ", process->cpu / process->wall);
    }
    text_add(text, tells_threads ? "the " : "The ");
    text_printf(text, "%s is held %s in %s, while others wait for %s%s in all", lock->name,
                as_percent(subject->share.value).text, subject->where, lock->is_lower_bound ? "at least " : "",
                as_seconds(known_wait(lock)).text);
    add_without_cpu(lock, text);
    if (lock->kept.cost > 0)
        add_kept(facts, subject, text);
    add_gain(subject, "; could win ", " without it", text);
    text_printf(text, ": %s.", lock->remedy);
}

/* With less of the waiting, who holds the main lock is not known: `lock blame` is that of all locks. */
#define MAIN_LOCK_SHARE 0.95

void say_locks(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct lock_facts *lock = &facts->lock;
    if (lock->remedy && lock->share >= MAIN_LOCK_SHARE) {
        say_lock_of_runtime(facts, subject, text);
        return;
    }
    text_printf(text, *lock->name ? "Lock %s" : "Locks%s", lock->name);
    if (*lock->name && lock->share < MAIN_LOCK_SHARE)
        text_printf(text, " (%.0f %%) and others", 100 * lock->share);
    text_printf(text, ": threads wait %s%s, %s of that while ", lock->is_lower_bound ? "at least " : "",
                as_seconds(known_wait(lock)).text, as_percent(subject->share.value).text);
    text_printf(text, subject->is_section ? "a thread is in the section at %s" : "%s holds it", subject->where);
    add_without_cpu(lock, text);
    add_gain(subject, "; could win ", " without it", text);
    text_add(text, ".");
}

/* ---- Threads that are blocked, by REALTIME ----
 *
 * Waiting for another thread, a child or an event is no cause: what they do meanwhile is. A condition may be a
 * cause, but nobody knows what a shorter wait would gain. */

/* Whether the main process's own threads have this share of a place's waiting. Only they keep the main process waiting for
 * sure; whether it waits for a child that waits is not known. Half is a judgement: with less, the gain says more about others. */
#define SHARE_OF_MAIN_PROCESS 0.5

static bool is_of_main_process(const struct facts *facts, struct time_place *place)
{
    const struct main_process *process = &facts->process;
    if (json_array_size(json_object_get(facts->run, "processes")) < 2)
        return true; /* without reading the values of all threads */
    double own = 0, all = 0, *waits[] = {
        time_by_profile(facts->view, &place->refs, facts->off_cpu),
        time_by_profile(facts->view, &place->joined_refs, facts->thread_waits)};
    uint32_t n = database_n_profiles(facts->view->db);
    for (size_t w = 0; w < sizeof waits / sizeof *waits; w++) {
        for (uint32_t p = 0; p < n; p++)
            all += waits[w][p];
        for (size_t i = 0; i < process->threads.n; i++)
            own += waits[w][process->threads.at[i].profile < n ? process->threads.at[i].profile : 0];
        free(waits[w]);
    }
    return own >= SHARE_OF_MAIN_PROCESS * all;
}

/* The gain without `seconds` of a wait if others had not had the CPUs, so that no thread was ready. */
static double gain_without_load(const struct facts *facts, double seconds)
{
    double wall = fmax(facts->process.wall - facts->process.ready_to_work, facts->supply.wall);
    double rest = fmax(wall - seconds, facts->supply.wall);
    return rest > 0 ? wall / rest : INFINITY;
}

bool is_blocked(const struct facts *facts, struct subject *subject)
{
    struct time_place *place = &facts->off_cpu_places.list.at[subject->entry];
    double total = facts->wall_total, saved = place->saved;
    struct share share = share_of_samples(place->seconds, total, facts->off_cpu_increment);
    bool is_cause = place->wait >= WAIT_LOCK && place->wait <= WAIT_CONDITION;
    subject->share = (struct share){place->seconds, share.low * total, share.high * total}; /* in seconds */
    subject->of = place;
    bool is_loaded = facts->supply.is_disturbed; /* a sleep is as long as without load; a quota is refilled meanwhile */
    if (is_loaded && (place->wait != WAIT_SLEEP || facts->supply.is_throttled))
        return false;
    if (!(facts->process.wall > 0) || !is_cause || lock_facts_wait_at(&facts->lock, place) ||
        subject->share.low < LEAST_WAIT_OF_WALL * facts->process.wall_of_run)
        return false;
    bool is_known = place->wait != WAIT_CONDITION && facts->process.is_only_one && is_of_main_process(facts, place);
    subject->order = is_known ? ORDER_GAIN : ORDER_FACT;
    share = subject->share;
    if (is_known)
        subject->gain = facts_gain_without(
            facts, &(struct share){fmin(share.value, saved), fmin(share.low, saved), fmin(share.high, saved)});
    if (is_known && is_loaded) {
        subject->gain.low = fmin(subject->gain.low, gain_without_load(facts, fmin(share.low, saved)));
        subject->gain.high = fmax(subject->gain.high, gain_without_load(facts, fmin(share.high, saved)));
    }
    /* How long Python's threads hold the GIL is not known: for none of their CPU time up to all of it. */
    double wall = facts->process.wall, python = facts_python_cpu(facts);
    if (is_known && python > 0)
        subject->gain.low = fmin(subject->gain.low, wall / fmin(wall, python));
    subject->place = hotspot_of_place(facts->view->db, place);
    return !is_known || subject->gain.low >= LEAST_GAIN;
}

/* "31 of 33 threads wait", "A thread waits 60 % of the time", or "4 of 5 threads in 5 processes wait". If processes lived
 * one after the other, "On average, 4 of 5 threads wait". */
void say_blocked(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct time_place *place = subject->of;
    size_t processes = run_times_of(facts->run).processes;
    double wall = facts->process.wall_of_run, alive = 0; /* threads, in the mean */
    json_each (process, json_object_get(facts->run, "processes"))
        json_each (thread, json_object_get(process, "threads"))
            alive += run_number(thread, "wall") / wall;
    double waiting = fmin(subject->share.value / wall, alive);
    bool are_at_once = round(alive) >= (double)processes;
    if (waiting < 1.5)
        text_printf(text, "A thread waits %s of the time", as_percent(fmin(waiting, 1)).text);
    else
        text_printf(text, "%s%.0f of %.0f threads", are_at_once ? "" : "On average, ", waiting, alive);
    if (waiting >= 1.5 && processes > 1 && are_at_once)
        text_printf(text, " in %zu processes", processes);
    text_printf(text, "%s %s at %s", waiting < 1.5 ? "" : " wait", wait_name(place->wait), subject->where);
    if (place->callee != NOTHING) {
        text_add(text, " (");
        callee_describe(facts->view->db, place->callee, NOTHING, text);
        text_add(text, ")");
    }
    add_gain(subject, "; could win ", " without it", text);
    text_add(text, ".");
}

/* ---- Time in which no thread wants a CPU, which CPUTIME does not sample ----
 *
 * This is the wall clock without the CPU time of all threads and the time in which they waited for a CPU, also if no
 * two threads ever did so at once. The sums of the processes also have short-lived threads and the wake-ups of idle
 * CPUs. Before its sampling begins a process is taken to wait for a CPU as much, for its CPU time, as all do after that. */

/* Less of the wall clock is not named: most programs wait a little for their input. */
#define LEAST_ASLEEP_SHARE 0.50

bool are_asleep(const struct facts *facts, struct subject *subject)
{
    const struct main_process *process = &facts->process;
    if (facts->off_cpu.metric != NO_METRIC || isnan(process->ready) || !(process->wall > 0))
        return false;
    struct run_times times = run_times_of(facts->run);
    double wanted = 0;
    json_each (one, json_object_get(facts->run, "processes"))
        wanted += run_number(one, "cpu") + run_number(one, "ready");
    wanted *= times.cpu > 0 ? 1 + times.startup / times.cpu : 1;
    subject->seconds = process->wall - process->throttled - wanted;
    double share = subject->seconds / process->wall;
    /* It only orders: a server may have no requests. */
    subject->gain = gain_without(&(struct share){share, share, share});
    return share >= LEAST_ASLEEP_SHARE;
}

void say_asleep(const struct facts *facts, const struct subject *subject, struct text *text)
{
    text_printf(text,
                "No thread ran or waited for a CPU for at least %s of %s: hpcrun -e REALTIME shows what they wait for.",
                as_seconds(subject->seconds).text, as_seconds(facts->process.wall).text);
}

/* ---- CPU time of waiting, in a runtime or in libc, but for locks that another finding names ---- */

/* Smaller shares are not reported. */
#define LEAST_WAITING_SHARE 0.10

bool wait_in_runtime(const struct facts *facts, struct subject *subject)
{
    const struct time_places *places = &facts->waiting_places;
    size_t first = places->list.n;
    for (size_t i = places->list.n; i-- > 0;)
        if (!lock_facts_wait_at(&facts->lock, &places->list.at[i])) {
            subject->seconds += places->list.at[i].seconds;
            first = i;
        }
    if (first == places->list.n || facts->balance.ranks.parts.n >= 2)
        return false;
    subject->share = facts_share_of_cpu(facts, subject->seconds);
    subject->place = hotspot_of_place(facts->view->db, &places->list.at[first]);
    return subject->share.low >= LEAST_WAITING_SHARE;
}

void say_waiting(const struct facts *facts, const struct subject *subject, struct text *text)
{
    text_printf(text, "Threads wait %s of their %s for others in ", as_percent(subject->share.value).text,
                facts_time(facts));
    add_call(facts, subject, text);
    text_add(text, ".");
}
