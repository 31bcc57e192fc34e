#include "viewer-tui/compare/hotspot-pairs.h"

#include "viewer-tui/base/text.h"

#include <stdlib.h>
#include <string.h>

static struct hotspot_pair alone(const struct merged_runs *merged, size_t run, const struct hotspot *hotspot)
{
    const struct database *db = merged->runs.at[run].db;
    size_t side = merged->runs.at[run].group;
    char buffer[NAME_SIZE];
    bool has_name = hotspot->procedure != NOTHING;
    const char *path = database_file_path(db, hotspot->at.file);
    struct hotspot_pair pair = {.file = path ? path_name(path) : ""};
    pair.name = mem_strdup(has_name ? database_procedure_name(db, hotspot->procedure, buffer) : "");
    pair.is_in[side] = true;
    pair.sides[side] = *hotspot;
    pair.costs = mem_alloc(merged->runs.n * sizeof *pair.costs);
    pair.costs[run] = hotspot->cost;
    return pair;
}

/* By name and file; then the left side first; then by cost, the largest first. */
static int compare(const void *left, const void *right)
{
    const struct hotspot_pair *a = left, *b = right;
    int result = strcmp(a->name, b->name);
    if (result == 0)
        result = strcmp(a->file, b->file);
    if (result == 0)
        result = b->is_in[0] - a->is_in[0];
    for (int side = 0; side < SIDES && result == 0; side++)
        result = (a->sides[side].cost < b->sides[side].cost) -
                 (a->sides[side].cost > b->sides[side].cost);
    for (int side = 0; side < SIDES && result == 0; side++)
        result = (a->sides[side].at.line > b->sides[side].at.line) -
                 (a->sides[side].at.line < b->sides[side].at.line);
    return result;
}

/* Adds the costs of one to another. */
static void take_in(struct hotspot_pair *into, struct hotspot_pair *from, size_t n_runs)
{
    for (int side = 0; side < SIDES; side++) {
        if (!into->is_in[side])
            into->sides[side] = from->sides[side];
        into->is_in[side] |= from->is_in[side];
    }
    for (size_t run = 0; run < n_runs; run++)
        into->costs[run] += from->costs[run];
    free(from->name);
    free(from->costs);
}

/* Joins hotspots with the same name and file. */
static void join_by_file(struct hotspot_pairs *pairs, size_t n_runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        struct hotspot_pair *last = kept ? &pairs->at[kept - 1] : NULL, *pair = &pairs->at[i];
        if (last && strcmp(last->name, pair->name) == 0 && strcmp(last->file, pair->file) == 0)
            take_in(last, pair, n_runs);
        else
            pairs->at[kept++] = *pair;
    }
    pairs->n = kept;
}

/* The only one among pairs[first .. end-1] that is in that side alone; `end` if there are none or
 * several. */
static size_t only_one_in(const struct hotspot_pairs *pairs, size_t first, size_t end, int side)
{
    size_t found = end;
    for (size_t i = first; i < end; i++)
        if (pairs->at[i].is_in[side] && !pairs->at[i].is_in[1 - side]) {
            if (found < end)
                return end;
            found = i;
        }
    return found;
}

/* Joins the two of a name that remain, if each side has one. */
static void join_by_name(struct hotspot_pairs *pairs, size_t n_runs)
{
    size_t kept = 0, end;
    for (size_t first = 0; first < pairs->n; first = end) {
        for (end = first;
             end < pairs->n && strcmp(pairs->at[end].name, pairs->at[first].name) == 0;)
            end++;
        size_t left = only_one_in(pairs, first, end, 0), right = only_one_in(pairs, first, end, 1);
        bool are_joined = left < end && right < end;
        if (are_joined)
            take_in(&pairs->at[left], &pairs->at[right], n_runs);
        for (size_t i = first; i < end; i++)
            if (!are_joined || i != right)
                pairs->at[kept++] = pairs->at[i];
    }
    pairs->n = kept;
}

struct hotspot_pairs hotspot_pairs_find(const struct comparison *comparison, const struct view *view, uint32_t row,
                                        size_t quantity)
{
    const struct merged_runs *merged = &comparison->merged;
    const uint32_t *rows = merged_rows(view, row);
    struct hotspot_pairs pairs = {0};
    size_t n_runs = merged->runs.n;
    for (size_t run = 0; run < n_runs; run++) {
        size_t metric = merged->sources.at[quantity * n_runs + run];
        if (rows[run] == NOTHING || metric == SIZE_MAX)
            continue;
        struct hotspot_list all = hotspots_all(merged_view_of(view, run), rows[run], metric, false);
        for (size_t i = 0; i < all.n; i++)
            vec_push(&pairs, alone(merged, run, &all.at[i]));
        vec_free(&all);
    }
    if (pairs.n)
        qsort(pairs.at, pairs.n, sizeof *pairs.at, compare);
    join_by_file(&pairs, n_runs);
    join_by_name(&pairs, n_runs);
    for (size_t i = 0; i < pairs.n; i++)
        for (int side = 0; side < SIDES; side++)
            pairs.at[i].sides[side].cost = merged_mean(merged, (size_t)side, pairs.at[i].costs);
    return pairs;
}

void hotspot_pairs_free(struct hotspot_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++) {
        free(pairs->at[i].name);
        free(pairs->at[i].costs);
    }
    vec_free(pairs);
}
