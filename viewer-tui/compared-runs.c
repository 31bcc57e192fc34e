#include "viewer-tui/compared-runs.h"

#include "lib/diag.h"
#include "lib/run-set.h"
#include "viewer-tui/run-hpcprof.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef VEC(struct session *) session_list;

/* Appends the session of a database, of which it takes the path; false if there is none. */
static bool add_database(session_list *sessions, const struct options *options, char *folder)
{
    struct session *session = folder ? session_open(folder, options->metrics) : NULL;
    free(folder);
    if (session)
        vec_push(sessions, session);
    return session != NULL;
}

/* The range in the last part of "DB@1.2s:3.4s", which *length then leaves out; all 0 if a file has that name. */
static struct asked_range range_in(const char *path, size_t *length)
{
    struct asked_range range = {0};
    const char *at = strrchr(path, '@');
    *length = strlen(path);
    if (!at || strchr(at, '/') || access(path, F_OK) == 0)
        return range;
    if (!asked_range_read(at + 1, &range))
        diag_usage("'%s': after @ comes a piece of time such as 1.2s:3.4s, 40%%: or phase2", path);
    *length = (size_t)(at - path);
    return range;
}

/* Appends the database of a path, or a piece of its time. */
static bool add_path(session_list *sessions, const struct options *options, const char *path)
{
    size_t length;
    struct asked_range range = range_in(path, &length);
    char *folder = mem_strndup(path, length);
    bool is_open = add_database(sessions, options, database_for(folder));
    if (is_open)
        sessions->at[sessions->n - 1]->asked_range = range;
    free(folder);
    return is_open;
}

/* Appends the runs of a set, which must have one number of workers. */
static bool add_set(session_list *sessions, const struct options *options, const char *folder)
{
    struct run_set set = {0};
    char *cause = NULL;
    unsigned workers = 0;
    size_t before = sessions->n;
    bool is_right = run_set_read(&set, folder, &cause);
    for (size_t i = 0; is_right && i < set.runs.n; i++) {
        const struct set_run *run = &set.runs.at[i];
        if (run->status || !run->workers || run->repeat == WORK_SPAN_REPEAT)
            continue;
        if (workers && workers != run->workers) {
            diag_error(folder, "runs with several numbers of workers; name those to compare: %s/%s,...", folder,
                       run->directory);
            is_right = false;
        }
        workers = run->workers;
        char *path = mem_printf("%s/%s", folder, run->directory);
        is_right = is_right && add_database(sessions, options, database_beside(path)); /* which reports a cause */
        free(path);
    }
    if (cause)
        diag_error(folder, "%s", cause);
    else if (is_right && sessions->n == before)
        diag_error(folder, "no run of the set has ended with status 0");
    free(cause);
    run_set_free(&set);
    return is_right && sessions->n > before;
}

/* Appends the runs of "A,B,...". */
static bool add_list(session_list *sessions, const struct options *options, const char *list)
{
    bool is_right = true;
    for (const char *at = list; is_right && *at;) {
        size_t length = strcspn(at, ",");
        if (length == 0)
            diag_usage("--compare: nothing between two commas of '%s'", list);
        char *path = mem_strndup(at, length);
        is_right = run_set_exists(path) ? add_set(sessions, options, path) : add_path(sessions, options, path);
        at += length + (at[length] == ',');
        free(path);
    }
    return is_right;
}

static bool add_side(session_list *sessions, const struct options *options, int side)
{
    if (options->compares_lists)
        return add_list(sessions, options, options->paths[side]);
    char *here = options->paths[side] ? NULL : only_path_here();
    bool is_open = add_path(sessions, options, here ? here : options->paths[side]);
    struct session *session = is_open ? sessions->at[sessions->n - 1] : NULL;
    if (is_open && !options->paths[1] && (options->range.phase || options->range.from.is_given || options->range.to.is_given))
        session->asked_range = options->range;
    free(here);
    return is_open;
}

/* Says so if the runs of a list are not of one command: their mean is of nothing then. */
static void check_side(const struct options *options, int side, struct session *const *runs, size_t n)
{
    const char *first = run_text(runs[0]->run, "title");
    for (size_t i = 1; i < n; i++)
        if (strcmp(run_text(runs[i]->run, "title"), first) != 0) {
            diag_note(NULL, "%s: runs of different programs: '%s' and '%s'", options->comparison.names[side], first,
                      run_text(runs[i]->run, "title"));
            return;
        }
}

struct session *open_databases(const struct options *options)
{
    session_list sessions = {0};
    struct session *session = NULL;
    bool is_open = add_side(&sessions, options, 0);
    size_t n_left = sessions.n;
    if (is_open && options->paths[1])
        is_open = add_side(&sessions, options, 1);
    if (is_open && options->paths[1]) {
        check_side(options, 0, sessions.at, n_left);
        check_side(options, 1, sessions.at + n_left, sessions.n - n_left);
        session = session_compare(sessions.at, n_left, sessions.n - n_left, &options->comparison);
    }
    else if (is_open)
        session = sessions.at[0];
    for (size_t i = 0; !is_open && i < sessions.n; i++)
        session_close(sessions.at[i]);
    vec_free(&sessions);
    return session;
}
