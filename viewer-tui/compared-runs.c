#include "viewer-tui/compared-runs.h"

#include "lib/diag.h"
#include "lib/run-set.h"
#include "viewer-tui/run-hpcprof.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The range in the last part of "DB@1.2s:3.4s", which *length then leaves out; all 0 if a file has that name. The name
 * of a region can have any characters. */
static struct asked_range range_in(const char *path, size_t *length)
{
    struct asked_range range = {0};
    const char *during = strstr(path, "@during:"), *at = during ? during : strrchr(path, '@');
    *length = strlen(path);
    if (!at || (!during && strchr(at, '/')) || access(path, F_OK) == 0)
        return range;
    if (!asked_range_read(at + 1, &range))
        diag_usage("'%s': after @ comes a piece of time such as 1.2s:3.4s, 40%%:, phase2 or during:NAME", path);
    *length = (size_t)(at - path);
    return range;
}

/* Adds the run of a path, or a piece of its time. */
static bool add_path(struct session *session, size_t side, const char *path)
{
    size_t length;
    struct asked_range range = range_in(path, &length);
    autofree char *folder = mem_strndup(path, length), *database = database_for(folder);
    if (database) {
        session_add_run(session, database, side, 0);
        session->runs.at[session->runs.n - 1].asked_range = range;
    }
    return database != NULL;
}

/* Adds the runs of a set, which must have one number of workers. */
static bool add_set(struct session *session, size_t side, const char *folder)
{
    struct run_set set = {0};
    autofree char *cause = NULL;
    unsigned workers = 0;
    size_t before = session->runs.n;
    bool is_right = run_set_read(&set, folder, &cause);
    for (size_t i = 0; is_right && i < set.runs.n; i++) {
        const struct set_run *run = &set.runs.at[i];
        if (!set_run_counts(run))
            continue;
        if (workers && workers != run->workers) {
            diag_error(folder, "runs with several numbers of workers; name those to compare: %s/%s,...", folder,
                       run->directory);
            is_right = false;
        }
        workers = run->workers;
        autofree char *database = is_right ? database_of_set_run(folder, run) : NULL; /* reports a cause */
        is_right = database != NULL;
        if (database)
            session_add_run(session, database, side, 0);
    }
    if (cause)
        diag_error(folder, "%s", cause);
    else if (is_right && session->runs.n == before)
        diag_error(folder, "no run of the set has ended with status 0");
    run_set_free(&set);
    return is_right && session->runs.n > before;
}

/* Adds the runs of "A,B,...". */
static bool add_list(struct session *session, size_t side, const char *list)
{
    bool is_right = true;
    for (const char *at = list; is_right && *at;) {
        size_t length = strcspn(at, ",");
        if (length == 0)
            diag_usage("--compare: nothing between two commas of '%s'", list);
        autofree char *path = mem_strndup(at, length);
        is_right = run_set_exists(path) ? add_set(session, side, path) : add_path(session, side, path);
        at += length + (at[length] == ',');
    }
    return is_right;
}

/* Says so if the runs of a list are not of one command: their mean is of nothing then. */
static void check_side(const struct options *options, const struct session *session, size_t side)
{
    const char *first = NULL;
    for (size_t i = 0; i < session->runs.n; i++) {
        if (session->runs.at[i].group != side)
            continue;
        const char *title = run_text(session->runs.at[i].run, "title");
        first = first ? first : title;
        if (strcmp(title, first) != 0) {
            diag_note(NULL, "%s: runs of different programs: '%s' and '%s'", options->comparison.names[side], first,
                      title);
            return;
        }
    }
}

/* The session of the only database; NULL as in open_databases. */
static struct session *open_one(const struct options *options)
{
    const struct asked_range *asked = &options->range;
    autofree char *here = options->paths[0] ? NULL : only_path_here();
    const char *given = here ? here : options->paths[0];
    size_t length;
    struct asked_range range = range_in(given, &length);
    if (given[length])
        options_check_range(options, given);
    autofree char *path = mem_strndup(given, length), *folder = database_for(path);
    struct session *session = folder ? session_open(folder, options->metrics) : NULL;
    if (session)
        session->runs.at[0].asked_range = asked_range_is_given(asked) ? *asked : range;
    return session;
}

struct session *open_databases(const struct options *options)
{
    if (!options->paths[1])
        return open_one(options);
    struct session *session = session_new(options->metrics);
    for (size_t side = 0; side < SIDES; side++) {
        const char *path = options->paths[side];
        if (!(options->compares_lists ? add_list(session, side, path) : add_path(session, side, path))) {
            session_close(session);
            return NULL;
        }
    }
    for (size_t side = 0; side < SIDES; side++)
        check_side(options, session, side);
    session->comparing = &options->comparison;
    return session;
}
