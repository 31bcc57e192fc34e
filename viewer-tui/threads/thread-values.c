#include "viewer-tui/threads/thread-values.h"

#include "viewer-tui/threads/thread-profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bound on the memory of number_of: this many numbers per context of the database. */
#define MOST_ROOM 8

/* Looking at this many contexts in order takes as long as one search, which misses the CPU's caches. */
#define MOST_SEARCHED 256

/* Bits per pass of the radix sort by context. */
#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

/* ---- ids of values ---- */

/* The ids of a metric's values in the threads, by scope; with several, it is a sum. */
struct thread_ids {
    size_t n;
    const struct metric_ids **of;
};

static struct thread_ids ids_of(const struct metrics *metrics, size_t metric)
{
    size_t n = metrics->n + metrics->n_hidden;
    struct thread_ids ids = {.of = mem_alloc((n + 1) * sizeof *ids.of)};
    bool is_sum = metric_is_sum(&metrics->at[metric]);
    for (size_t m = 0; m < n; m++) {
        const struct metric *from = &metrics->at[m];
        bool is_part = is_sum ? metric_is_added(from) && (size_t)from->sum == metric : m == metric;
        if (is_part && metric_is_measured(from))
            ids.of[ids.n++] = metric_ids(from);
    }
    return ids;
}

bool thread_values_exist(const struct database *db, size_t metric, enum metric_scope scope)
{
    struct thread_ids ids = ids_of(&db->metrics, metric);
    bool exist = ids.n > 0;
    for (size_t m = 0; m < ids.n; m++)
        exist &= ids.of[m]->thread[scope] != METRIC_ABSENT;
    free(ids.of);
    return exist;
}

/* By metric id: a bit for each scope whose values have it. */
static uint8_t *scopes_of_ids(const struct database *db, size_t metric)
{
    uint8_t *scopes = mem_alloc(METRIC_IDS);
    struct thread_ids ids = ids_of(&db->metrics, metric);
    for (size_t m = 0; m < ids.n; m++)
        for (int scope = 0; scope < METRIC_SCOPES; scope++)
            if (ids.of[m]->thread[scope] != METRIC_ABSENT)
                scopes[ids.of[m]->thread[scope]] |= (uint8_t)(1u << scope);
    free(ids.of);
    return scopes;
}

/* ---- refs by context ---- */

/* One pass of the radix sort: sorts stably by one digit of the contexts. */
static void sort_by_digit(const struct value_ref *from, struct value_ref *to, size_t n, unsigned shift)
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

static void sort_by_context(struct value_refs *refs)
{
    size_t n = refs->list.n;
    struct value_ref *other = mem_alloc((n + 1) * sizeof *other), *from = refs->list.at;
    for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS) {
        struct value_ref *to = from == other ? refs->list.at : other;
        sort_by_digit(from, to, n, shift);
        from = to;
    }
    if (n && from == other)
        memcpy(refs->list.at, other, n * sizeof *other);
    free(other);
}

/* A context with values to add: refs from `first` on. */
struct wanted {
    uint32_t context, first;
};

/* ---- a pass over the threads ---- */

/* The value of a row in the current thread. */
struct row_value {
    double value;
    bool is_met; /* the thread has one */
};

struct thread_pass {
    const struct database *db;
    const struct value_refs *refs;
    uint8_t *scopes_of;        /* by metric id: a bit per scope whose values are added up */
    VEC(struct wanted) wanted; /* ascending; the last element marks the end */
    uint32_t *number_of;       /* by context: 1 + index in `wanted`, or 0; NULL: too large */
    uint64_t n_numbers;
    struct row_value *rows;
    VEC(uint32_t) met; /* rows of which the current thread has a value */
    void (*take)(void *context, uint32_t profile, uint32_t row, double value);
    void *context; /* of `take` */
};

static void list_wanted(struct thread_pass *pass)
{
    const struct value_refs *refs = pass->refs;
    for (size_t i = 0; i < refs->list.n; i++)
        if (i == 0 || refs->list.at[i].context != refs->list.at[i - 1].context)
            vec_push(&pass->wanted, ((struct wanted){refs->list.at[i].context, (uint32_t)i}));
    size_t n = pass->wanted.n;
    uint64_t last = n ? pass->wanted.at[n - 1].context : 0;
    vec_push(&pass->wanted, ((struct wanted){UINT32_MAX, (uint32_t)refs->list.n}));
    if (last / MOST_ROOM > pass->db->values.n_index)
        return;
    pass->n_numbers = last + 1;
    pass->number_of = mem_alloc(pass->n_numbers * sizeof *pass->number_of);
    for (size_t i = 0; i < n; i++)
        pass->number_of[pass->wanted.at[i].context] = (uint32_t)i + 1;
}

/* Adds a thread's values of a wanted context, which are at `position`. */
static void add_context(struct thread_pass *pass, const struct values *values, uint64_t position,
                        const struct wanted *wanted)
{
    double by_scope[METRIC_SCOPES] = {0};
    size_t n;
    const struct v4_metric_value *at = values_at(values, position, &n);
    if (n > METRIC_IDS) {
        problem_found(values->path, "corrupt: the values of context %u", wanted->context);
        return;
    }
    for (; n > 0; n--, at++) {
        unsigned scopes = pass->scopes_of[at->metric_id];
        if (scopes && !isfinite(at->value))
            problem_found(values->path, "corrupt: a value is not a number");
        for (int scope = 0; scopes && scope < METRIC_SCOPES && isfinite(at->value); scope++)
            if (scopes >> scope & 1)
                by_scope[scope] += at->value;
    }
    for (uint32_t i = wanted->first; i < wanted[1].first; i++) {
        const struct value_ref *ref = &pass->refs->list.at[i];
        double value = by_scope[ref->scope];
        struct row_value *of_row = &pass->rows[ref->row];
        if (value == 0)
            continue;
        if (!of_row->is_met)
            vec_push(&pass->met, ref->row);
        of_row->is_met = true;
        of_row->value += ref->is_subtracted ? -value : value;
    }
}

/* Finds the wanted contexts in one pass over those of the thread, or over the wanted ones, each of which is searched
 * for: whatever is faster. Both lists are ascending. */
static void add_thread(struct thread_pass *pass, const struct values *values)
{
    bool are_few = pass->wanted.n < values->n_index / MOST_SEARCHED;
    uint64_t near = 0;
    for (size_t at = 0; (are_few || !pass->number_of) && at + 1 < pass->wanted.n; at++) {
        uint64_t position = values_position(values, pass->wanted.at[at].context, near);
        if (position == NO_POSITION)
            continue;
        near = position;
        add_context(pass, values, position, &pass->wanted.at[at]);
    }
    for (uint64_t i = 0; !are_few && pass->number_of && i < values->n_index; i++) {
        uint32_t context = values->index[i].context_id;
        if (context >= pass->n_numbers)
            return;
        uint32_t number = pass->number_of[context];
        if (number)
            add_context(pass, values, i, &pass->wanted.at[number - 1]);
    }
}

/* Hands the value of each row in each thread that has one to pass->take. */
static enum outcome pass_over_threads(struct thread_pass *pass, size_t metric, uint32_t n_rows)
{
    const struct database *db = pass->db;
    uint32_t n = database_n_profiles(db);
    pass->scopes_of = scopes_of_ids(db, metric);
    pass->rows = mem_alloc((n_rows + 1) * sizeof *pass->rows);
    list_wanted(pass);
    progress_begin("adding up threads", n);
    for (uint32_t number = 1; number < n && progress_at(number); number++) {
        struct values values;
        if (!thread_profile(db, number, &values))
            continue;
        add_thread(pass, &values);
        for (size_t i = 0; i < pass->met.n; i++) {
            uint32_t row = pass->met.at[i];
            pass->take(pass->context, number, row, pass->rows[row].value);
            pass->rows[row] = (struct row_value){0};
        }
        pass->met.n = 0;
    }
    free(pass->scopes_of);
    free(pass->number_of);
    vec_free(&pass->wanted);
    vec_free(&pass->met);
    free(pass->rows);
    return progress_end();
}

/* ---- the values of a row ---- */

static void take_value(void *context, uint32_t profile, uint32_t row, double value)
{
    double *by_profile = context;
    (void)row;
    by_profile[profile] = value;
}

enum outcome thread_values(const struct database *db, struct value_refs *refs, size_t metric, double *by_profile)
{
    struct thread_pass pass = {.db = db, .refs = refs, .take = take_value, .context = by_profile};
    memset(by_profile, 0, database_n_profiles(db) * sizeof *by_profile);
    sort_by_context(refs);
    return pass_over_threads(&pass, metric, 1);
}

/* ---- distributions of many rows ---- */

/* A row after some threads, of which counts and sums cover only those that have a value. */
struct row_state {
    uint32_t n; /* threads that have a value */
    double sum, mean, squares, least, largest;
};

struct distributing {
    const struct database *db;
    struct row_state *rows;
};

static bool counts(const struct database *db, uint32_t profile)
{
    return !db->has_profile || db->has_profile[profile];
}

/* Adds a value to the statistics of a row (Welford's algorithm). */
static void take_for_distribution(void *context, uint32_t profile, uint32_t number, double value)
{
    const struct distributing *distributing = context;
    struct row_state *row = &distributing->rows[number];
    double before = row->mean;
    if (!counts(distributing->db, profile))
        return;
    row->least = row->n == 0 || value < row->least ? value : row->least;
    row->largest = row->n == 0 || value > row->largest ? value : row->largest;
    row->n++;
    row->sum += value;
    row->mean += (value - before) / row->n;
    row->squares += (value - before) * (value - row->mean);
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

enum outcome thread_distributions(const struct database *db, struct value_refs *refs, size_t metric, uint32_t n_rows,
                                  struct distribution *distributions)
{
    struct distributing distributing = {db, mem_alloc((n_rows + 1) * sizeof *distributing.rows)};
    struct thread_pass pass = {.db = db, .refs = refs, .take = take_for_distribution, .context = &distributing};
    uint32_t n_threads = 0, n = database_n_profiles(db);
    for (uint32_t number = 1; number < n; number++) {
        struct v4_profile profile = database_profile(db, number);
        n_threads += !profile_is_summary(&profile) && counts(db, number);
    }
    sort_by_context(refs);
    enum outcome outcome = pass_over_threads(&pass, metric, n_rows);
    for (uint32_t row = 0; row < n_rows; row++)
        distributions[row] = distribution_of_row(&distributing.rows[row], n_threads);
    free(distributing.rows);
    return outcome;
}
