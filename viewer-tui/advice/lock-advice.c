/* Locks of plain threads: the lock for which others wait longest, and the line that holds a lock
 * while they wait. By CPUTIME the time is a lower bound: a holder that is off the CPU has no
 * samples. */
#include "viewer-tui/advice/situation.h"

#include <math.h>
#include <string.h>

/* Less waiting, as a share of the wall clock, is not reported. */
#define LEAST_SHARE_OF_WALL 0.05

#define LOCK_PREFIX "<lock "

/* The lock with most of the delay, "<lock queue_lock>", copied to `name`; its share of it. */
static double main_lock(const struct situation *situation, const struct time_places *delays,
                        char *name)
{
    const struct database *db = situation->view->db;
    double most = 0;
    for (size_t i = 0; i < delays->list.n; i++) {
        uint32_t lock = delays->list.at[i].leaf;
        double seconds = 0;
        for (size_t k = 0; k < delays->list.n; k++)
            seconds += delays->list.at[k].leaf == lock ? delays->list.at[k].seconds : 0;
        if (lock == NOTHING || seconds <= most)
            continue;
        char buffer[NAME_SIZE];
        const char *found = database_procedure_name(db, lock, buffer);
        if (strncmp(found, LOCK_PREFIX, strlen(LOCK_PREFIX)) != 0)
            continue;
        snprintf(name, NAME_SIZE, "%.*s", (int)strlen(found) - 2, found + 1);
        most = seconds;
    }
    return delays->total > 0 ? most / delays->total : 0;
}

/* Lower end of the 95 % interval of a sum of lock waits. A sample may stand for the waiting of all
 * threads. */
static double lower_limit(const struct situation *situation, double seconds)
{
    double largest = situation->cpu_increment * (double)situation->process.threads.n;
    return seconds - 1.96 * sqrt(largest * seconds);
}

/* Adds "Threads wait at least 4.99 s for lock queue_lock. 100% of that time the holder is at worker,
 * convoy.c:17." */
static void add_locks(const struct situation *situation, const struct time_places *held,
                      const struct time_places *delays, struct findings *findings)
{
    char name[NAME_SIZE] = "locks";
    double share = main_lock(situation, delays, name);
    struct text text = {0};
    bool is_lower_bound = situation->cpu.without == NO_METRIC;
    text_add(&text, is_lower_bound ? "Threads wait at least " : "Threads wait ");
    add_seconds(&text, held->total);
    text_printf(&text, " for %s", share > 0 ? name : "locks");
    if (share > 0 && share < 0.95)
        text_printf(&text, " (%.0f%%) and other locks", 100 * share);
    text_printf(&text, ". %.0f%% of that time the holder is at ",
                100 * held->list.at[0].seconds / held->total);
    situation_add_place(situation, &held->list.at[0], &text);
    text_add(&text, ".");
    struct finding *finding = findings_add(findings, FINDING_LOCK, &text);
    finding_set_place(finding, &held->list.at[0]);
    vec_free(&text);
}

void find_locks(const struct situation *situation, struct findings *findings)
{
    if (situation->lock_blame.metric == NO_METRIC || situation->lock_wait.metric == NO_METRIC)
        return;
    struct time_places held =
        time_places_find(situation->view, situation->row, situation->lock_blame, situation->run);
    struct time_places delays =
        time_places_find(situation->view, situation->row, situation->lock_wait, situation->run);
    double wall = situation->process.wall;
    if (held.list.n && wall > 0 && lower_limit(situation, held.total) > LEAST_SHARE_OF_WALL * wall)
        add_locks(situation, &held, &delays, findings);
    time_places_free(&held);
    time_places_free(&delays);
}
