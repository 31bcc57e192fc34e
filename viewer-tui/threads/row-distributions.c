#include "viewer-tui/threads/row-distributions.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/thread-values.h"

#include <math.h>
#include <stdlib.h>

/* More values than that are no sound context's: it has one for each metric id. */
#define MOST_VALUES 65536

/* Metric ids are 16 bits wide. */
#define METRIC_IDS 65536

/* Where wanted contexts stand is noted by context: in at most so many numbers for each that the
 * database has. */
#define MOST_ROOM 8

/* Searching for a context, in memory that is far away, takes as long as looking at so many. */
#define MOST_SEARCHED 256

/* Bits per pass of the radix sort by context. */
#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

/* What is known of a row after some threads; those that have nothing of it are not among them. */
struct row_state {
    double value; /* of the thread that is being looked at, */
    bool is_met;  /* which has something of it */
    uint32_t n;   /* threads that had something */
    double sum, mean, squares, least, largest;
};

/* A context with values to add: refs from `first` on. */
struct wanted {
    uint32_t context, first;
};

struct spreading {
    const struct database *db;
    const struct row_value_refs *row_refs;
    uint8_t *scopes_of;        /* by metric id: bits of the scopes whose values are added up */
    VEC(struct wanted) wanted; /* ascending, and an end behind the last */
    uint32_t *number_of;       /* by context: 1 + where it stands there, or 0; NULL: not noted */
    uint64_t n_numbers;
    struct row_state *rows;
    VEC(uint32_t) met; /* rows of the thread that is being looked at */
    uint32_t n_threads;
};

void row_value_refs_add(struct row_value_refs *row_refs, uint32_t row,
                        const struct value_refs *refs)
{
    for (size_t i = 0; i < refs->list.n; i++) {
        const struct value_ref *ref = &refs->list.at[i];
        vec_push(&row_refs->list,
                 (struct row_value_ref){.context = ref->context, .row = row, .scope = ref->scope});
    }
}

/* One pass of the radix sort: sorts stably by one digit of the contexts. */
static void sort_by_digit(const struct row_value_ref *from, struct row_value_ref *to, size_t n,
                          unsigned shift)
{
    size_t next[DIGITS] = {0}, start = 0;
    for (size_t i = 0; i < n; i++)
        next[from[i].context >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t count = next[digit];
        next[digit] = start;
        start += count;
    }
    for (size_t i = 0; i < n; i++)
        to[next[from[i].context >> shift & (DIGITS - 1)]++] = from[i];
}

static void sort_by_context(struct row_value_refs *row_refs)
{
    size_t n = row_refs->list.n;
    struct row_value_ref *other = mem_alloc((n + 1) * sizeof *other), *from = row_refs->list.at;
    for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS) {
        struct row_value_ref *to = from == other ? row_refs->list.at : other;
        sort_by_digit(from, to, n, shift);
        from = to;
    }
    if (from == other)
        for (size_t i = 0; i < n; i++)
            row_refs->list.at[i] = other[i];
    free(other);
}

static void list_wanted(struct spreading *spreading)
{
    const struct row_value_refs *row_refs = spreading->row_refs;
    for (size_t i = 0; i < row_refs->list.n; i++)
        if (i == 0 || row_refs->list.at[i].context != row_refs->list.at[i - 1].context)
            vec_push(&spreading->wanted,
                     (struct wanted){row_refs->list.at[i].context, (uint32_t)i});
    vec_push(&spreading->wanted, (struct wanted){UINT32_MAX, (uint32_t)row_refs->list.n});
}

static void add_to_row(struct spreading *spreading, uint32_t row, double value)
{
    struct row_state *state = &spreading->rows[row];
    if (!state->is_met)
        vec_push(&spreading->met, row);
    state->is_met = true;
    state->value += value;
}

static void add_value(const struct values *values, const struct v4_metric_value *at,
                      unsigned scopes, double by_scope[METRIC_SCOPES])
{
    if (!isfinite(at->value)) {
        problem_found(values->path, "corrupt: a value is not a number");
        return;
    }
    for (int scope = 0; scope < METRIC_SCOPES; scope++)
        if (scopes >> scope & 1)
            by_scope[scope] += at->value;
}

/* Adds what a thread has for a context, which stands at `position`. */
static void add_context(struct spreading *spreading, const struct values *values, uint64_t position,
                        const struct wanted *wanted)
{
    double by_scope[METRIC_SCOPES] = {0};
    size_t n;
    const struct v4_metric_value *at = values_at(values, position, &n);
    if (n > MOST_VALUES) {
        problem_found(values->path, "corrupt: the values of context %u", wanted->context);
        return;
    }
    for (; n > 0; n--, at++)
        if (spreading->scopes_of[at->metric_id])
            add_value(values, at, spreading->scopes_of[at->metric_id], by_scope);
    for (uint32_t i = wanted->first; i < wanted[1].first; i++) {
        const struct row_value_ref *row_ref = &spreading->row_refs->list.at[i];
        if (by_scope[row_ref->scope] != 0)
            add_to_row(spreading, row_ref->row, by_scope[row_ref->scope]);
    }
}

/* Notes where each wanted context stands in the list, if that needs not much more room than the
 * database's contexts. */
static void number_wanted(struct spreading *spreading)
{
    size_t n = spreading->wanted.n - 1;
    uint64_t last = n ? spreading->wanted.at[n - 1].context : 0;
    if (last / MOST_ROOM > spreading->db->values.n_index)
        return;
    spreading->n_numbers = last + 1;
    spreading->number_of = mem_alloc(spreading->n_numbers * sizeof *spreading->number_of);
    for (size_t i = 0; i < n; i++)
        spreading->number_of[spreading->wanted.at[i].context] = (uint32_t)i + 1;
}

/* One way through the contexts that the thread has. */
static void add_by_number(struct spreading *spreading, const struct values *values)
{
    for (uint64_t i = 0; i < values->n_index; i++) {
        uint32_t context = values->index[i].context_id;
        if (context >= spreading->n_numbers)
            return;
        uint32_t number = spreading->number_of[context];
        if (number)
            add_context(spreading, values, i, &spreading->wanted.at[number - 1]);
    }
}

/* One way through the contexts that are wanted. */
static void add_by_search(struct spreading *spreading, const struct values *values)
{
    uint64_t near = 0;
    for (size_t at = 0; at + 1 < spreading->wanted.n; at++) {
        uint64_t position = values_position(values, spreading->wanted.at[at].context, near);
        if (position == NO_POSITION)
            continue;
        near = position;
        add_context(spreading, values, position, &spreading->wanted.at[at]);
    }
}

/* Contexts ascend, those that the thread has and those that are wanted: few are searched for. */
static void add_thread(struct spreading *spreading, const struct values *values)
{
    bool are_few = spreading->wanted.n < values->n_index / MOST_SEARCHED;
    if (are_few || !spreading->number_of)
        add_by_search(spreading, values);
    else
        add_by_number(spreading, values);
}

/* Takes the values of a thread into account. */
static void end_thread(struct spreading *spreading)
{
    for (size_t i = 0; i < spreading->met.n; i++) {
        struct row_state *row = &spreading->rows[spreading->met.at[i]];
        double value = row->value, before = row->mean;
        row->least = row->n == 0 || value < row->least ? value : row->least;
        row->largest = row->n == 0 || value > row->largest ? value : row->largest;
        row->n++;
        row->sum += value;
        row->mean += (value - before) / row->n;
        row->squares += (value - before) * (value - row->mean);
        row->value = 0;
        row->is_met = false;
    }
    spreading->met.n = 0;
    spreading->n_threads++;
}

/* With the threads that had nothing of the row. */
static struct distribution distribution_of_row(const struct row_state *row, uint32_t n_threads)
{
    struct distribution distribution = {.sum = row->sum, .median = NAN};
    double n = n_threads, others = n - row->n;
    if (n_threads == 0)
        return distribution;
    double squares = row->squares + row->mean * row->mean * row->n * others / n;
    distribution.min = others > 0 && row->least > 0 ? 0 : row->least;
    distribution.max = others > 0 && row->largest < 0 ? 0 : row->largest;
    distribution.mean = row->sum / n;
    distribution.stddev = sqrt(squares / n);
    distribution.imbalance = distribution.mean != 0 ? distribution.max / distribution.mean : 0;
    return distribution;
}

static bool counts(const struct database *db, uint32_t number, const struct v4_profile *profile)
{
    return !profile_is_summary(profile) && (!db->has_profile || db->has_profile[number]);
}

static void add_threads(struct spreading *spreading)
{
    const struct database *db = spreading->db;
    uint32_t n_profiles = database_n_profiles(db);
    bool goes_on = true;
    progress_begin("adding up threads", n_profiles);
    for (uint32_t number = 1; number < n_profiles && goes_on; number++) {
        struct v4_profile profile = database_profile(db, number);
        struct values values;
        if (!counts(db, number, &profile))
            continue;
        if (values_map(&values, &db->profile, &profile.values))
            add_thread(spreading, &values);
        end_thread(spreading);
        goes_on = progress_at(number);
    }
}

static uint8_t *scopes_of_ids(const struct metrics *metrics, size_t metric)
{
    uint8_t *scopes = mem_alloc(METRIC_IDS);
    struct thread_ids ids = thread_ids_of(metrics, metric);
    for (int scope = 0; scope < METRIC_SCOPES; scope++)
        for (size_t i = 0; i < ids.of[scope].n; i++)
            scopes[ids.of[scope].at[i]] |= (uint8_t)(1u << scope);
    thread_ids_free(&ids);
    return scopes;
}

enum outcome row_distributions(const struct database *db, struct row_value_refs *row_refs,
                               size_t metric, uint32_t n_rows, struct distribution *distributions)
{
    struct spreading spreading = {.db = db, .row_refs = row_refs};
    spreading.scopes_of = scopes_of_ids(&db->metrics, metric);
    spreading.rows = mem_alloc((n_rows + 1) * sizeof *spreading.rows);
    sort_by_context(row_refs);
    list_wanted(&spreading);
    number_wanted(&spreading);
    add_threads(&spreading);
    enum outcome outcome = progress_end();
    for (uint32_t row = 0; row < n_rows; row++)
        distributions[row] = distribution_of_row(&spreading.rows[row], spreading.n_threads);
    free(spreading.scopes_of);
    free(spreading.number_of);
    vec_free(&spreading.wanted);
    vec_free(&spreading.met);
    free(spreading.rows);
    return outcome;
}
