/* Rules about waiting: for locks, input and output, sleeps, in runtimes. */
#include "viewer-tui/advice/advice-rules.h"

#include <math.h>

/* ---- Locks ---- */

static bool wait_for_locks(const struct facts *facts, size_t *from, struct subject *subject)
{
    if (!is_first(from) || facts->held_in.n == 0)
        return false;
    subject->place = facts->held_in.at[0];
    subject->share.value = subject->place.cost / facts->lock.seconds;
    if (facts->lock.is_much)
        subject->order = ORDER_FIRST;
    return true;
}

/* By CPUTIME the waiting is only a lower bound: then the rest of the wall clock bounds nothing. */
static struct gain gain_without_lock(const struct facts *facts, const struct subject *subject)
{
    (void)subject;
    double seconds = facts->lock.is_lower_bound ? INFINITY : facts->lock.seconds;
    struct share waits = {seconds, seconds, seconds};
    return facts_gain_without(facts, &waits);
}

static void say_locks(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct lock_facts *lock = &facts->lock;
    text_printf(text, *lock->name ? "Lock %s" : "Locks%s", lock->name);
    if (*lock->name && lock->share < 0.95)
        text_printf(text, " (%.0f %%) and others", 100 * lock->share);
    text_printf(text, ": threads wait %s", lock->is_lower_bound ? "at least " : "");
    add_seconds(text, lock->seconds);
    text_add(text, ", ");
    add_percent(text, subject->share.value);
    text_add(text, " of that while ");
    add_place(facts, &subject->place, text);
    text_add(text, " holds it");
    add_gain_without_it(subject, text);
    text_add(text, ".");
}

const struct rule lock_rule = {.kind = FINDING_LOCK,
                               .order = ORDER_GAIN,
                               .claims_gain = true,
                               .condition = wait_for_locks,
                               .gain = gain_without_lock,
                               .words = say_locks};

/* ---- Threads that are blocked, by REALTIME ----
 *
 * Waiting for another thread, a child or an event is no cause: what they do meanwhile is. A condition may be a
 * cause, but nobody knows what a shorter wait would gain. */

/* Less waiting, as a share of the wall clock, is not reported. */
#define LEAST_SHARE_OF_WALL 0.05

/* Whether the waiting can be shortened where it happens. */
static bool is_cause(enum wait wait)
{
    return wait >= WAIT_LOCK && wait <= WAIT_CONDITION;
}

/* Seconds, with an interval that follows from the share of all samples of the metric. */
static struct share seconds_of(const struct facts *facts, double seconds)
{
    double total = facts->off_cpu_places.total;
    struct share share = share_of_samples(seconds, total, facts->off_cpu_increment);
    return (struct share){seconds, share.low * total, share.high * total};
}

static bool has_gain(const struct facts *facts, const struct time_place *place)
{
    return place->wait != WAIT_CONDITION && facts->process.is_only_one;
}

static bool are_blocked(const struct facts *facts, size_t *from, struct subject *subject)
{
    const struct time_places *places = &facts->off_cpu_places;
    while (facts->process.wall > 0 && *from < places->list.n) {
        const struct time_place *place = &places->list.at[(*from)++];
        subject->share = seconds_of(facts, place->seconds);
        bool is_known = has_gain(facts, place);
        bool is_idle = is_known && facts_gain_without(facts, &subject->share).low < LEAST_GAIN;
        if (!is_cause(place->wait) || is_idle || subject->share.low < LEAST_SHARE_OF_WALL * facts->process.wall)
            continue;
        subject->order = is_known ? ORDER_GAIN : ORDER_FACT;
        subject->place = hotspot_of_place(facts->view->db, place);
        subject->of = place;
        return true;
    }
    return false;
}

static struct gain gain_without_waiting(const struct facts *facts, const struct subject *subject)
{
    return has_gain(facts, subject->of) ? facts_gain_without(facts, &subject->share) : (struct gain){1, 1, 1};
}

/* The seconds that the threads of all processes lived. */
static double seconds_of_threads(const json_t *run)
{
    size_t p, t;
    json_t *process, *thread;
    double seconds = 0;
    json_array_foreach(json_object_get(run, "processes"), p, process)
    {
        json_array_foreach(json_object_get(process, "threads"), t, thread)
        {
            seconds += run_number(thread, "wall");
        }
    }
    return seconds;
}

/* Adds "31 of 33 threads wait", "A thread waits 60 % of the time", or "4 of 5 threads in 5 processes wait". */
static void add_waiters(const struct facts *facts, double seconds, struct text *text)
{
    size_t processes = json_array_size(json_object_get(facts->run, "processes"));
    double wall = facts->process.wall, alive = seconds_of_threads(facts->run) / wall;
    double waiting = fmin(seconds / wall, alive);
    if (waiting < 1.5) {
        text_add(text, "A thread waits ");
        add_percent(text, fmin(waiting, 1));
        text_add(text, " of the time");
        return;
    }
    text_printf(text, "%.0f of %.0f threads", waiting, alive);
    if (processes > 1)
        text_printf(text, " in %zu processes", processes);
    text_add(text, " wait");
}

static void say_blocked(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct time_place *place = subject->of;
    add_waiters(facts, subject->share.value, text);
    text_printf(text, " %s at ", wait_name(place->wait));
    add_place(facts, &subject->place, text);
    if (place->callee != NOTHING) {
        text_add(text, " (");
        callee_describe(facts->view->db, place->callee, NOTHING, text);
        text_add(text, ")");
    }
    add_gain_without_it(subject, text);
    text_add(text, ".");
}

const struct rule blocked_rule = {.kind = FINDING_BLOCKED,
                                  .order = ORDER_GAIN,
                                  .needs_quiet = true,
                                  .claims_gain = true,
                                  .condition = are_blocked,
                                  .gain = gain_without_waiting,
                                  .words = say_blocked};

/* ---- Waiting in a runtime ---- */

/* Smaller shares are not reported. */
#define LEAST_WAITING_SHARE 0.10

static bool wait_in_runtime(const struct facts *facts, size_t *from, struct subject *subject)
{
    const struct time_places *places = &facts->waiting_places;
    if (!is_first(from) || places->list.n == 0 || facts->balance.ranks.n >= 2)
        return false;
    subject->share = facts_share_of_cpu(facts, places->total);
    subject->place = hotspot_of_place(facts->view->db, &places->list.at[0]);
    return subject->share.low >= LEAST_WAITING_SHARE;
}

static void say_waiting(const struct facts *facts, const struct subject *subject, struct text *text)
{
    text_add(text, "Threads wait ");
    add_percent(text, subject->share.value);
    text_add(text, " of their time for others in ");
    add_call(facts, &subject->place, text);
    text_add(text, ".");
}

const struct rule waiting_rule = {.kind = FINDING_WAITING,
                                  .order = ORDER_FACT,
                                  .needs_quiet = true,
                                  .condition = wait_in_runtime,
                                  .words = say_waiting};
