#include "viewer-tui/threads/row-distributions.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/thread-values.h"

#include <math.h>
#include <stdlib.h>

/* A valid context has at most one value per metric id. */
#define MOST_VALUES 65536

/* Metric ids are 16 bits wide. */
#define METRIC_IDS 65536

/* Bound on the memory of number_of: this many numbers per context of the database. */
#define MOST_ROOM 8

/* Looking at this many contexts in order takes as long as one search, which misses the CPU's
 * caches. */
#define MOST_SEARCHED 256

/* Bits per pass of the radix sort by context. */
#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

/* A row after some threads; counts and sums cover only threads that have a value of the row. */
struct row_state {
    double value; /* of the current thread */
    bool is_met;  /* the current thread has a value */
    uint32_t n;   /* threads that have a value */
    double sum, mean, squares, least, largest;
};

/* A context with values to add: refs from `first` on. */
struct wanted {
    uint32_t context, first;
};

struct distribution_pass {
    const struct database *db;
    const struct row_value_refs *row_refs;
    uint8_t *scopes_of;        /* by metric id: a bit per scope whose values are added up */
    VEC(struct wanted) wanted; /* ascending; the last element marks the end */
    uint32_t *number_of;       /* by context: 1 + index in `wanted`, or 0; NULL: too large */
    uint64_t n_numbers;
    struct row_state *rows;
    VEC(uint32_t) met; /* rows of which the current thread has a value */
    uint32_t n_threads;
};

void row_value_refs_add(struct row_value_refs *row_refs, uint32_t row,
                        const struct value_refs *refs)
{
    for (size_t i = 0; i < refs->list.n; i++) {
        const struct value_ref *ref = &refs->list.at[i];
        vec_push(&row_refs->list,
                 (struct row_value_ref){.context = ref->context,
                                        .row = row,
                                        .scope = ref->scope,
                                        .is_subtracted = ref->is_subtracted});
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

static void list_wanted(struct distribution_pass *pass)
{
    const struct row_value_refs *row_refs = pass->row_refs;
    for (size_t i = 0; i < row_refs->list.n; i++)
        if (i == 0 || row_refs->list.at[i].context != row_refs->list.at[i - 1].context)
            vec_push(&pass->wanted, (struct wanted){row_refs->list.at[i].context, (uint32_t)i});
    vec_push(&pass->wanted, (struct wanted){UINT32_MAX, (uint32_t)row_refs->list.n});
}

static void add_to_row(struct distribution_pass *pass, uint32_t row, double value)
{
    struct row_state *state = &pass->rows[row];
    if (!state->is_met)
        vec_push(&pass->met, row);
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

/* Adds a thread's values of a wanted context, which are at `position`. */
static void add_context(struct distribution_pass *pass, const struct values *values,
                        uint64_t position, const struct wanted *wanted)
{
    double by_scope[METRIC_SCOPES] = {0};
    size_t n;
    const struct v4_metric_value *at = values_at(values, position, &n);
    if (n > MOST_VALUES) {
        problem_found(values->path, "corrupt: the values of context %u", wanted->context);
        return;
    }
    for (; n > 0; n--, at++)
        if (pass->scopes_of[at->metric_id])
            add_value(values, at, pass->scopes_of[at->metric_id], by_scope);
    for (uint32_t i = wanted->first; i < wanted[1].first; i++) {
        const struct row_value_ref *row_ref = &pass->row_refs->list.at[i];
        double value = by_scope[row_ref->scope];
        if (value != 0)
            add_to_row(pass, row_ref->row, row_ref->is_subtracted ? -value : value);
    }
}

/* Makes number_of, unless it would take too much memory. */
static void number_wanted(struct distribution_pass *pass)
{
    size_t n = pass->wanted.n - 1;
    uint64_t last = n ? pass->wanted.at[n - 1].context : 0;
    if (last / MOST_ROOM > pass->db->values.n_index)
        return;
    pass->n_numbers = last + 1;
    pass->number_of = mem_alloc(pass->n_numbers * sizeof *pass->number_of);
    for (size_t i = 0; i < n; i++)
        pass->number_of[pass->wanted.at[i].context] = (uint32_t)i + 1;
}

/* Finds the wanted contexts among those of the thread, in one pass over the latter. */
static void add_by_number(struct distribution_pass *pass, const struct values *values)
{
    for (uint64_t i = 0; i < values->n_index; i++) {
        uint32_t context = values->index[i].context_id;
        if (context >= pass->n_numbers)
            return;
        uint32_t number = pass->number_of[context];
        if (number)
            add_context(pass, values, i, &pass->wanted.at[number - 1]);
    }
}

/* The same in one pass over the wanted contexts, each of which is searched for. */
static void add_by_search(struct distribution_pass *pass, const struct values *values)
{
    uint64_t near = 0;
    for (size_t at = 0; at + 1 < pass->wanted.n; at++) {
        uint64_t position = values_position(values, pass->wanted.at[at].context, near);
        if (position == NO_POSITION)
            continue;
        near = position;
        add_context(pass, values, position, &pass->wanted.at[at]);
    }
}

/* Chooses the faster way. Both lists of contexts are ascending. */
static void add_thread(struct distribution_pass *pass, const struct values *values)
{
    bool are_few = pass->wanted.n < values->n_index / MOST_SEARCHED;
    if (are_few || !pass->number_of)
        add_by_search(pass, values);
    else
        add_by_number(pass, values);
}

/* Adds the current thread's values to the statistics of the rows (Welford's algorithm). */
static void end_thread(struct distribution_pass *pass)
{
    for (size_t i = 0; i < pass->met.n; i++) {
        struct row_state *row = &pass->rows[pass->met.at[i]];
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
    pass->met.n = 0;
    pass->n_threads++;
}

/* The distribution over all threads; those without a value have 0. */
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

static void add_threads(struct distribution_pass *pass)
{
    const struct database *db = pass->db;
    uint32_t n_profiles = database_n_profiles(db);
    bool goes_on = true;
    progress_begin("adding up threads", n_profiles);
    for (uint32_t number = 1; number < n_profiles && goes_on; number++) {
        struct v4_profile profile = database_profile(db, number);
        struct values values;
        if (!counts(db, number, &profile))
            continue;
        if (values_map(&values, &db->profile, &profile.values))
            add_thread(pass, &values);
        end_thread(pass);
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
    struct distribution_pass pass = {.db = db, .row_refs = row_refs};
    pass.scopes_of = scopes_of_ids(&db->metrics, metric);
    pass.rows = mem_alloc((n_rows + 1) * sizeof *pass.rows);
    sort_by_context(row_refs);
    list_wanted(&pass);
    number_wanted(&pass);
    add_threads(&pass);
    enum outcome outcome = progress_end();
    for (uint32_t row = 0; row < n_rows; row++)
        distributions[row] = distribution_of_row(&pass.rows[row], pass.n_threads);
    free(pass.scopes_of);
    free(pass.number_of);
    vec_free(&pass.wanted);
    vec_free(&pass.met);
    free(pass.rows);
    return outcome;
}
