#include "viewer-tui/advice/lone-waits.h"

#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/timeline/place-scopes.h"
#include "viewer-tui/timeline/time-cells.h"
#include "viewer-tui/db/time-samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Work and waits are compared in columns of equal time. A column is at least as long as LEAST_SAMPLES samples of a thread,
 * so that it has some of each. Waits at places after the first MOST_PLACES are short. */
#define MOST_COLUMNS 500
#define LEAST_SAMPLES 4
#define MOST_PLACES 32

/* What a thread did in a column, and the most that any thread did, in ns. */
struct busy_column {
    double its, most; /* it worked or was ready */
    double its_events; /* it waited for events */
};

/* Waits at one place, in ns. */
struct place_waits {
    double its, saved; /* of one thread; by the own work of all so far */
    double *columns;   /* of all threads */
    bool is_for_event; /* no cause: its time is not here */
};

struct lone_waits {
    struct time_window window;
    size_t n_places;
    double unit; /* ns of an amount */
    const struct time_samples *sample; /* that is being added */
    uint32_t *owners;   /* by place of the time line: index in `places`, or NOTHING */
    struct busy_column *columns;
    struct place_waits *places;
    double work; /* ns of one thread */
};

/* Adds a part of the sample to a column. `part`: times the ns of an amount. */
static void add_sample(void *context, unsigned column, double part)
{
    struct lone_waits *all = context;
    for (uint64_t i = all->sample->first; i < all->sample->next; i++) {
        enum trace_state state = time_sample_state(all->sample, i);
        bool works = state == TRACE_WORK || state == TRACE_OVERHEAD;
        bool waits = state == TRACE_WAITING || state == TRACE_OFF_CPU;
        uint32_t owner = waits ? all->owners[all->sample->records[i].place] : NOTHING;
        double ns = (double)trace_amount(all->sample->records[i].amount) * part;
        all->work += works ? ns : 0;
        if (owner != NOTHING && all->places[owner].is_for_event) {
            all->columns[column].its_events += ns;
        } else if (owner != NOTHING) {
            all->places[owner].its += ns;
            all->places[owner].columns[column] += ns;
        } else if (works || state == TRACE_READY) {
            all->columns[column].its += ns;
        }
    }
}

static void add_thread(struct lone_waits *all, const struct timeline *timeline, const struct timeline_thread *thread,
                       const uint64_t *bounds)
{
    const struct time_window *window = &all->window;
    struct time_samples samples = time_samples_from(timeline, thread, window->begin);
    unsigned at = 0;
    all->sample = &samples;
    while (time_samples_next(&samples) && samples.begin < window->end)
        time_window_divide(bounds, window->n, &at, samples.begin, samples.end, all->unit, add_sample, all);
    for (unsigned column = 0; column < window->n; column++) {
        struct busy_column *busy = &all->columns[column];
        double its = busy->its + (all->work > 0 ? busy->its_events : 0);
        *busy = (struct busy_column){0, fmax(its, busy->most), 0};
    }
    for (size_t i = 0; i < all->n_places; i++) {
        all->places[i].saved += fmin(all->work, all->places[i].its);
        all->places[i].its = 0;
    }
    all->work = 0;
}

static unsigned number_of_columns(const struct timeline *timeline, struct time_range range)
{
    uint64_t most = 0;
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        most = timeline->threads[t].n_records > most ? timeline->threads[t].n_records : most;
    double records = (double)most * (double)(range.to - range.from) / (double)timeline->end;
    return (unsigned)fmax(1, fmin(records / LEAST_SAMPLES, MOST_COLUMNS));
}

static bool matters(const struct time_place *place, double least)
{
    return place->wait >= WAIT_LOCK && place->wait < WAIT_CONDITION && place->seconds >= least;
}

static bool is_for_event(const struct time_place *place)
{
    return place->wait == WAIT_POLL;
}

/* The owners of the places that matter, and of waits for events; NULL: none matters. */
static uint32_t *owners_of(const struct time_places *places, size_t n, double least, struct database *db,
                           const struct timeline *timeline)
{
    bool any = false;
    for (size_t i = 0; i < n && !any; i++)
        any = matters(&places->list.at[i], least);
    if (!any)
        return NULL;
    struct place_scopes scopes = place_scopes_of(db, timeline, false);
    autofree uint32_t *of_node = mem_alloc((scopes.nodes->n + 1) * sizeof *of_node);
    uint32_t *owners = mem_alloc((scopes.n + 1) * sizeof *owners);
    memset(of_node, 0xff, (scopes.nodes->n + 1) * sizeof *of_node); /* NOTHING */
    for (uint32_t i = 0; i < n; i++)
        if (matters(&places->list.at[i], least) || is_for_event(&places->list.at[i])) {
            place_owners_add(&scopes, &places->list.at[i].refs, i, of_node);
            place_owners_add(&scopes, &places->list.at[i].joined_refs, i, of_node);
        }
    for (uint64_t place = 0; place < scopes.n; place++)
        owners[place] = scopes.node[place] ? of_node[scopes.node[place]] : NOTHING;
    place_scopes_free(&scopes);
    return owners;
}

void lone_waits_find(struct time_places *places, double least, struct database *db, const struct timeline *timeline)
{
    size_t n = places->list.n < MOST_PLACES ? places->list.n : MOST_PLACES;
    struct lone_waits all = {.n_places = n};
    struct time_range range = {0, timeline->end};
    if (db->slice) /* of several pieces of time their span: what is between them only makes the result larger */
        range = time_ranges_span(&db->slice->ranges);
    if (!timeline_has_waits(timeline) || range.to <= range.from ||
        !(all.owners = owners_of(places, n, least, db, timeline)))
        return;
    all.window = (struct time_window){range.from, range.to, number_of_columns(timeline, range)};
    autofree uint64_t *bounds = time_window_bounds(&all.window);
    all.unit = timeline_amount(timeline, 1e9);
    all.columns = mem_alloc(all.window.n * sizeof *all.columns);
    all.places = mem_alloc(n * sizeof *all.places);
    for (size_t i = 0; i < n; i++)
        all.places[i] = (struct place_waits){.columns = mem_alloc(all.window.n * sizeof(double)),
                                             .is_for_event = is_for_event(&places->list.at[i])};
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        add_thread(&all, timeline, &timeline->threads[t], bounds);
    for (size_t i = 0; i < n; i++) {
        double saved = all.places[i].saved; /* and what is left of the waits when other threads work */
        for (unsigned column = 0; column < all.window.n; column++)
            saved += fmin(all.places[i].columns[column],
                          fmax((double)(bounds[column + 1] - bounds[column]) - all.columns[column].most, 0));
        if (matters(&places->list.at[i], least))
            places->list.at[i].saved = saved * 1e-9;
        free(all.places[i].columns);
    }
    free(all.owners);
    free(all.columns);
    free(all.places);
}
