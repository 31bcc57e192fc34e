#include "viewer-tui/compare/session-restriction.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/threads/run-slice.h"
#include "viewer-tui/timeline/named-times.h"

#include <math.h>
#include <stdlib.h>

/* What can be restricted. */
struct restriction {
    struct thread_set *threads;
    time_ranges ranges;
    char *range_name;
    json_t *run;
};

static struct restriction restriction_of(const struct session *session, const struct session_run *run)
{
    return (struct restriction){session->threads, run->ranges, run->range_name, run->run};
}

static void exchange(struct session *session, struct session_run *run, struct restriction *other)
{
    struct restriction before = restriction_of(session, run);
    session->threads = other->threads;
    run->ranges = other->ranges;
    run->range_name = other->range_name;
    run->run = other->run;
    if (!session_is_merged(session))
        session->run = run->run;
    *other = before;
}

/* Puts a restriction in force. Afterwards `other` is the one that is not: the one before, or the new one if the outcome
 * is not DONE. */
static enum outcome change_restriction(struct session *session, struct session_run *run, enum projection projection,
                                       struct restriction *other)
{
    exchange(session, run, other);
    run->restriction++;
    const struct database *db = session_run_database(session, run, projection);
    if (!db) {
        exchange(session, run, other);
        run->restriction--;
        return session->outcome;
    }
    run->times = run_times_of(run->run);
    session_name_restriction(session, run, db);
    return DONE;
}

enum outcome session_restrict(struct session *session, enum projection projection,
                              struct thread_set *set)
{
    struct session_run *run = &session->runs.at[0];
    struct restriction other = restriction_of(session, run);
    other.threads = set;
    enum outcome outcome = change_restriction(session, run, projection, &other);
    thread_set_free(other.threads);
    return outcome;
}

struct thread_set *session_choose_threads(struct session *session, enum projection projection, thread_chooser *choose,
                                          const char *wanted, char **cause)
{
    const struct database *db = session_database(session, projection);
    if (!db)
        return NULL;
    struct threads threads;
    threads_read(&threads, db, session->run, false);
    struct thread_set *set = choose(&threads, session->run, wanted, cause);
    threads_free(&threads);
    return set;
}

static const struct timeline *timeline_of(struct session_run *run)
{
    if (!run->timeline)
        run->timeline = timeline_open(run->folder, run->runs_read.at[0]);
    return run->timeline;
}

const struct timeline *session_timeline(struct session *session)
{
    return session_is_merged(session) ? NULL : timeline_of(&session->runs.at[0]);
}

static void lacks_timeline(const struct session_run *run)
{
    problem_found(run->folder, "has no time line: measure and analyze the program again (without --trace off)");
}

static const struct phases *phases_of(struct session *session, struct session_run *run)
{
    struct database *db = run->phases ? NULL : session_run_database(session, run, LOGICAL);
    const struct timeline *timeline = db ? timeline_of(run) : NULL;
    if (timeline) {
        run->phases = mem_alloc(sizeof *run->phases);
        *run->phases = phases_find(db, timeline);
    } else if (db) {
        lacks_timeline(run);
    }
    return run->phases;
}

const struct phases *session_phases(struct session *session)
{
    return phases_of(session, &session->runs.at[0]);
}

/* "1.2 s to 3.4 s": in steps of at most a thousandth of the range; the caller frees. */
static char *name_of_range(struct time_range range)
{
    double length = (double)(range.to - range.from), step = pow(10, floor(log10(fmax(length, 1))) - 3);
    return mem_printf("%.12g s to %.12g s", round((double)range.from / step) * step * 1e-9,
                      round((double)range.to / step) * step * 1e-9);
}

/* Takes ownership of the ranges, of which none are the whole run, and of their name. */
static enum outcome set_ranges(struct session *session, struct session_run *run, enum projection projection,
                               time_ranges ranges, char *name)
{
    const struct timeline *timeline = timeline_of(run);
    enum outcome outcome = FAILED;
    struct restriction other = {session->threads, ranges, name, run->runs_read.at[0]};
    if (ranges.n && (!timeline || !other.run)) {
        lacks_timeline(run);
    } else {
        if (ranges.n)
            other.run = run_slice(other.run, timeline, &ranges);
        if (ranges.n)
            vec_push(&run->runs_read, other.run);
        outcome = change_restriction(session, run, projection, &other);
    }
    vec_free(&other.ranges);
    free(other.range_name);
    return outcome;
}

enum outcome session_set_range(struct session *session, enum projection projection, const struct time_range *range,
                               const char *name)
{
    time_ranges ranges = {0};
    if (range)
        vec_push(&ranges, *range);
    char *of_range = !range ? NULL : name ? mem_strdup(name) : name_of_range(*range);
    return set_ranges(session, &session->runs.at[0], projection, ranges, of_range);
}

/* ---- what the user asked for ---- */

/* One of the phases of a run, and its name, which the caller frees. False, with the reason, if there is none. */
static bool phase_asked(struct session *session, struct session_run *run, struct time_range *range, char **name,
                        char **cause)
{
    const struct phases *phases = phases_of(session, run);
    unsigned number = run->asked_range.phase;
    if (phases && number > phases->n)
        *cause = mem_printf("there %s %zu phase%s, no phase %u", phases->n == 1 ? "is" : "are", phases->n,
                            phases->n == 1 ? "" : "s", number);
    if (!phases || number > phases->n)
        return false;
    *range = phases->at[number - 1].range;
    autofree char *of_range = name_of_range(*range);
    *name = mem_printf("%s, phase %u of %zu", of_range, number, phases->n);
    return true;
}

/* The part of the range in which what the user named ran, with its name. */
static bool during_asked(struct session *session, struct session_run *run, struct time_range range,
                         time_ranges *ranges, char **name, char **cause)
{
    const char *during = run->asked_range.during;
    const struct timeline *timeline = timeline_of(run);
    struct database *db = session_run_database(session, run, LOGICAL);
    if (!db || !timeline)
        return false;
    struct threads threads;
    threads_read(&threads, db, run->runs_read.at[0], true);
    autofree thread_regions regions = thread_regions_of(&threads, timeline);
    struct place_scopes scopes = place_scopes_of(db, timeline, false);
    *ranges = named_times_find(&regions, timeline, &scopes, during, cause);
    time_ranges_cut(ranges, range);
    if (ranges->n == 0 && !*cause)
        *cause = mem_printf("'%s' did not run in that time", during);
    autofree char *within = *name;
    autofree char *pieces = ranges->n == 1 ? mem_strdup("") : mem_printf(" in %zu pieces", ranges->n);
    *name = mem_printf("%s%s'%s', %.4g s%s", within ? within : "", within ? ": " : "", during,
                       time_ranges_seconds(ranges), pieces);
    place_scopes_free(&scopes);
    threads_free(&threads);
    return ranges->n > 0;
}

/* Restricts a run to the pieces of time that the user asked for, if any. */
static bool take_ranges(struct session *session, struct session_run *run, enum projection projection, char **cause)
{
    const struct asked_range *asked = &run->asked_range;
    if (!asked_range_is_given(asked))
        return true;
    const struct timeline *timeline = timeline_of(run);
    struct time_range range = {0, timeline ? timeline->end : 0};
    time_ranges ranges = {0};
    char *name = NULL;
    bool has_range = asked->from.is_given || asked->to.is_given, is_right = true;
    if (!timeline) {
        lacks_timeline(run);
        return false;
    }
    if (asked->phase)
        is_right = phase_asked(session, run, &range, &name, cause);
    else if (has_range)
        is_right = !(*cause = asked_range_in(asked, timeline, &range));
    if (is_right && has_range)
        name = name_of_range(range);
    if (is_right && *asked->during)
        is_right = during_asked(session, run, range, &ranges, &name, cause);
    else
        vec_push(&ranges, range);
    if (is_right)
        return set_ranges(session, run, projection, ranges, name) == DONE;
    vec_free(&ranges);
    free(name);
    return false;
}

bool session_take_ranges(struct session *session, enum projection projection, char **cause)
{
    for (size_t i = 0; i < session->runs.n; i++) {
        autofree char *why = NULL;
        if (take_ranges(session, &session->runs.at[i], projection, &why))
            continue;
        *cause = why ? mem_printf("%s: %s", session->runs.at[i].folder, why) : NULL;
        return false;
    }
    return true;
}
