#include "viewer-tui/compare/loss-session.h"

#include "viewer-tui/compare/losses.h"

#include <stdlib.h>
#include <string.h>

/* The databases of the runs in a projection, with their losses; false if one cannot be read. */
static bool open_losses(struct session *session, enum projection projection)
{
    struct loss_run *runs = mem_alloc(session->n_runs * sizeof *runs);
    bool is_open = true;
    for (size_t i = 0; is_open && i < session->n_runs; i++) {
        runs[i].workers = session->run_workers[i];
        runs[i].cpus = run_most_cpus(session->runs[i]->run);
        runs[i].db = session_database(session->runs[i], projection);
        is_open = runs[i].db != NULL;
        session->outcome = session->runs[i]->outcome;
    }
    if (is_open)
        session->opened[projection].losses = losses_new(runs, session->n_runs);
    free(runs);
    return is_open;
}

static struct view *open_losses_view(struct session *session, enum projection projection,
                                     enum view_id id)
{
    struct opened *opened = &session->opened[projection];
    if (!opened->losses && (!open_losses(session, projection) ||
                            !session_define_in(session, &opened->losses->metrics)))
        return NULL;
    struct view **views = mem_alloc(session->n_runs * sizeof(struct view *)), *view = NULL;
    size_t n = 0;
    while (n < session->n_runs &&
           (views[n] = session_take_view(session->runs[n], projection, id)) != NULL)
        n++;
    if (n == session->n_runs)
        view = losses_view(opened->losses, views);
    else
        session->outcome = session->runs[n]->outcome;
    while (!view && n > 0)
        view_close(views[--n]);
    free(views);
    return view;
}

struct session *session_of_losses(struct session *const *runs, const unsigned *workers, size_t n,
                                  const char *title)
{
    struct session *session = mem_alloc(sizeof *session);
    session->runs = mem_alloc(n * sizeof(struct session *));
    session->run_workers = mem_alloc(n * sizeof *session->run_workers);
    memcpy(session->runs, runs, n * sizeof(struct session *));
    memcpy(session->run_workers, workers, n * sizeof *session->run_workers);
    session->n_runs = n;
    session->open_losses = open_losses_view;
    session->title = mem_strdup(title);
    return session;
}
