#include "viewer-tui/compared-runs.h"

#include "lib/diag.h"
#include "lib/run-set.h"
#include "viewer-tui/run-hpcprof.h"

#include <stdlib.h>
#include <string.h>

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
        is_right = run_set_exists(path) ? add_set(sessions, options, path)
                                        : add_database(sessions, options, database_for(path));
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
    bool is_open = add_database(sessions, options, database_for(here ? here : options->paths[side]));
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
