#include "viewer-tui/compare/session-restriction.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/threads/run-slice.h"

#include <math.h>
#include <stdlib.h>

/* What can be restricted. */
struct restriction {
    struct thread_set *threads;
    struct time_range range;
    bool has_range;
    char *range_name;
    json_t *run;
};

static struct restriction restriction_of(const struct session *session, const struct session_run *run)
{
    return (struct restriction){session->threads, run->range, run->has_range, run->range_name, run->run};
}

static void put(struct session *session, struct session_run *run, const struct restriction *restriction)
{
    session->threads = restriction->threads;
    run->range = restriction->range;
    run->has_range = restriction->has_range;
    run->range_name = restriction->range_name;
    run->run = restriction->run;
    if (!session_is_merged(session))
        session->run = run->run;
}

/* Unless that is DONE, the restriction is as before. */
static enum outcome change_restriction(struct session *session, struct session_run *run, enum projection projection,
                                       const struct restriction *restriction)
{
    struct restriction before = restriction_of(session, run);
    put(session, run, restriction);
    run->restriction++;
    const struct database *db = session_run_database(session, run, projection);
    if (!db) {
        put(session, run, &before);
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
    struct restriction restriction = restriction_of(session, run);
    struct thread_set *before = restriction.threads;
    restriction.threads = set;
    enum outcome outcome = change_restriction(session, run, projection, &restriction);
    thread_set_free(outcome == DONE ? before : set);
    return outcome;
}

struct thread_set *session_choose_threads(struct session *session, enum projection projection, thread_chooser *choose,
                                          const char *wanted, char **cause)
{
    const struct database *db = session_database(session, projection);
    if (!db)
        return NULL;
    struct threads threads;
    threads_read(&threads, db, session->run);
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

static enum outcome set_range(struct session *session, struct session_run *run, enum projection projection,
                              const struct time_range *range, const char *name)
{
    const struct timeline *timeline = timeline_of(run);
    if (range && (!timeline || !run->runs_read.at[0])) {
        lacks_timeline(run);
        return FAILED;
    }
    struct restriction restriction = restriction_of(session, run);
    char *before = restriction.range_name;
    restriction.has_range = range != NULL;
    restriction.range = range ? *range : (struct time_range){0};
    restriction.range_name = !range ? NULL : name ? mem_strdup(name) : name_of_range(*range);
    restriction.run = range ? run_slice(run->runs_read.at[0], timeline, *range) : run->runs_read.at[0];
    if (range)
        vec_push(&run->runs_read, restriction.run);
    enum outcome outcome = change_restriction(session, run, projection, &restriction);
    free(outcome == DONE ? before : restriction.range_name);
    return outcome;
}

enum outcome session_set_range(struct session *session, enum projection projection, const struct time_range *range,
                               const char *name)
{
    return set_range(session, &session->runs.at[0], projection, range, name);
}

/* Restricts a run to one of its phases. */
static bool take_phase(struct session *session, struct session_run *run, enum projection projection, unsigned number,
                       char **cause)
{
    const struct phases *phases = phases_of(session, run);
    if (phases && number > phases->n)
        *cause = mem_printf("there %s %zu phase%s, no phase %u", phases->n == 1 ? "is" : "are", phases->n,
                            phases->n == 1 ? "" : "s", number);
    if (!phases || number > phases->n)
        return false;
    struct time_range range = phases->at[number - 1].range;
    char *of_range = name_of_range(range), *name = mem_printf("%s, phase %u of %zu", of_range, number, phases->n);
    enum outcome outcome = set_range(session, run, projection, &range, name);
    free(of_range);
    free(name);
    return outcome == DONE;
}

/* Restricts a run to the piece of time that the user asked for, if any. */
static bool take_range(struct session *session, struct session_run *run, enum projection projection, char **cause)
{
    const struct asked_range *asked = &run->asked_range;
    struct time_range range = {0};
    if (asked->phase)
        return take_phase(session, run, projection, asked->phase, cause);
    if (!asked->from.is_given && !asked->to.is_given)
        return true;
    const struct timeline *timeline = timeline_of(run);
    if (timeline && (*cause = asked_range_in(asked, timeline, &range)))
        return false;
    return set_range(session, run, projection, &range, NULL) == DONE;
}

bool session_take_ranges(struct session *session, enum projection projection, char **cause)
{
    for (size_t i = 0; i < session->runs.n; i++)
        if (!take_range(session, &session->runs.at[i], projection, cause))
            return false;
    return true;
}
