#include "viewer-tui/advice/lone-waits.h"

#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/timeline/place-scopes.h"
#include "viewer-tui/db/time-samples.h"

#include <math.h>
#include <stdlib.h>

/* Work and waits are compared in columns of equal time. A column is at least as long as LEAST_SAMPLES samples of a thread,
 * so that it has some of each. Waits at places after the first MOST_PLACES are short. */
#define MOST_COLUMNS 500
#define LEAST_SAMPLES 4
#define MOST_PLACES 32

/* What a thread did in a column, and the most that any thread did, in ns. */
struct busy_column {
    double its, most; /* it worked or was ready */
};

/* Waits at one place, in ns. */
struct place_waits {
    double its, saved; /* of one thread; by the own work of all so far */
    double *columns;   /* of all threads */
};

struct lone_waits {
    const struct timeline *timeline;
    struct time_range range;
    size_t n_columns, n_places;
    double width, unit; /* ns of a column, and of an amount */
    uint32_t *owners;   /* by place of the time line: index in `places`, or NOTHING */
    struct busy_column *columns;
    struct place_waits *places;
    double work; /* ns of one thread */
};

static double column_begin(const struct lone_waits *all, size_t column)
{
    return (double)all->range.from + (double)column * all->width;
}

static size_t column_of(const struct lone_waits *all, uint64_t time)
{
    double column = ((double)time - (double)all->range.from) / all->width, last = (double)(all->n_columns - 1);
    return column <= 0 ? 0 : (size_t)(column < last ? column : last);
}

/* The part of a sample that lies in a column. */
static double part_in(const struct lone_waits *all, const struct time_samples *sample, size_t column)
{
    double begin = (double)sample->begin, end = (double)sample->end;
    double from = fmax(column_begin(all, column), begin), to = fmin(column_begin(all, column + 1), end);
    return end > begin ? fmax(to - from, 0) / (end - begin) : 1;
}

static void add_record(struct lone_waits *all, const struct time_samples *sample, uint64_t record)
{
    enum trace_state state = time_sample_state(sample, record);
    bool works = state == TRACE_WORK || state == TRACE_OVERHEAD;
    bool waits = state == TRACE_WAITING || state == TRACE_OFF_CPU;
    uint32_t owner = waits ? all->owners[sample->records[record].place] : NOTHING;
    struct place_waits *place = owner == NOTHING ? NULL : &all->places[owner];
    if (!works && !place && state != TRACE_READY)
        return;
    double ns = (double)trace_amount(sample->records[record].amount) * all->unit;
    size_t first = column_of(all, sample->begin), last = column_of(all, sample->end);
    for (size_t column = first; column <= last; column++) {
        double amount = first == last && sample->end <= all->range.to ? ns : ns * part_in(all, sample, column);
        all->work += works ? amount : 0;
        if (place) {
            place->its += amount;
            place->columns[column] += amount;
        } else {
            all->columns[column].its += amount;
        }
    }
}

static void add_thread(struct lone_waits *all, const struct timeline_thread *thread)
{
    struct time_samples samples = time_samples_from(all->timeline, thread, all->range.from);
    while (time_samples_next(&samples) && samples.begin < all->range.to)
        for (uint64_t i = samples.first; i < samples.next && samples.end > all->range.from; i++)
            add_record(all, &samples, i);
    for (size_t column = 0; column < all->n_columns; column++) {
        struct busy_column *busy = &all->columns[column];
        *busy = (struct busy_column){0, fmax(busy->its, busy->most)};
    }
    for (size_t i = 0; i < all->n_places; i++) {
        all->places[i].saved += fmin(all->work, all->places[i].its);
        all->places[i].its = 0;
    }
    all->work = 0;
}

static size_t number_of_columns(const struct timeline *timeline, struct time_range range)
{
    uint64_t most = 0;
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        most = timeline->threads[t].n_records > most ? timeline->threads[t].n_records : most;
    double records = (double)most * (double)(range.to - range.from) / (double)timeline->end;
    return (size_t)fmax(1, fmin(records / LEAST_SAMPLES, MOST_COLUMNS));
}

static void add_refs(const struct value_refs *refs, uint32_t row, struct value_refs *all)
{
    for (size_t r = 0; r < refs->list.n; r++) {
        vec_push(&all->list, refs->list.at[r]);
        all->list.at[all->list.n - 1].row = row & 0x1fffffff;
    }
}

static bool matters(const struct time_place *place, double least)
{
    return place->wait >= WAIT_LOCK && place->wait < WAIT_CONDITION && place->seconds >= least;
}

/* Owners of the places that matter; NULL: none does. */
static uint32_t *owners_of(const struct time_places *places, size_t n, double least, struct database *db,
                           const struct timeline *timeline)
{
    struct value_refs values = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (!matters(&places->list.at[i], least))
            continue;
        add_refs(&places->list.at[i].refs, i, &values);
        add_refs(&places->list.at[i].joined_refs, i, &values);
    }
    if (values.list.n == 0)
        return NULL;
    struct place_scopes scopes = place_scopes_of(db, timeline, false);
    uint32_t *owners = place_owners(&scopes, &values);
    place_scopes_free(&scopes);
    vec_free(&values.list);
    return owners;
}

void lone_waits_find(struct time_places *places, double least, struct database *db, const struct timeline *timeline)
{
    size_t n = places->list.n < MOST_PLACES ? places->list.n : MOST_PLACES;
    struct lone_waits all = {.timeline = timeline, .range = {0, timeline->end}, .n_places = n};
    if (db->slice) /* of several pieces of time their span: what is between them only makes the result larger */
        all.range = time_ranges_span(&db->slice->ranges);
    if (!timeline_has_waits(timeline) || all.range.to <= all.range.from ||
        !(all.owners = owners_of(places, n, least, db, timeline)))
        return;
    all.n_columns = number_of_columns(timeline, all.range);
    all.width = (double)(all.range.to - all.range.from) / (double)all.n_columns;
    all.unit = timeline_amount(timeline, 1e9);
    all.columns = mem_alloc(all.n_columns * sizeof *all.columns);
    all.places = mem_alloc(n * sizeof *all.places);
    for (size_t i = 0; i < n; i++)
        all.places[i].columns = mem_alloc(all.n_columns * sizeof(double));
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        add_thread(&all, &timeline->threads[t]);
    for (size_t i = 0; i < n; i++) {
        double saved = all.places[i].saved; /* and what is left of the waits when other threads work */
        for (size_t column = 0; column < all.n_columns; column++)
            saved += fmin(all.places[i].columns[column], fmax(all.width - all.columns[column].most, 0));
        if (matters(&places->list.at[i], least))
            places->list.at[i].saved = saved * 1e-9;
        free(all.places[i].columns);
    }
    free(all.owners);
    free(all.columns);
    free(all.places);
}
