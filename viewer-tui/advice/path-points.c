#include "viewer-tui/advice/path-points.h"

#include "lib/hash-tables.h"
#include "viewer-tui/tree/code-owner.h"

#include <math.h>
#include <stdlib.h>

#define MOST_POINTS 4096

/* A kind of paths has this share of all points at least. */
#define LEAST_KIND 0.02

/* A procedure may name a piece if it has this share of it. */
#define LEAST_NAMED 0.4

/* Procedures whose difference is this part of the largest one differ too little to prefer one for it. */
#define NEARLY_LARGEST 0.9

/* Where the point is in a part of the time: 0 .. 1, the same in each run. At the same place in all parts, points would
 * miss paths that come in turns. */
static double random_in_part(uint32_t part)
{
    return (double)(hash_pair(part, 0) >> 11) * 0x1p-53;
}

struct path_points path_points_of(const struct record_sums *sums, const uint32_t *node_of,
                                  bool (*counts)(enum trace_state state))
{
    struct path_points points = {0};
    for (size_t i = 0; i < sums->list.n; i++) {
        const struct record_sum *sum = &sums->list.at[i];
        points.amount += counts(sum->state) && node_of[sum->place] ? (double)sum->amount : 0;
    }
    double reached = 0, next = random_in_part(0);
    for (size_t i = 0; i < sums->list.n; i++) {
        const struct record_sum *sum = &sums->list.at[i];
        if (!counts(sum->state) || !node_of[sum->place] || sum->amount == 0)
            continue;
        uint32_t before = points.n;
        reached += (double)sum->amount / points.amount * MOST_POINTS;
        while (next < reached && points.n < MOST_POINTS) {
            points.n++;
            next = points.n + random_in_part(points.n);
        }
        if (points.n > before)
            vec_push(&points.list, (struct path_point){node_of[sum->place], points.n - before});
    }
    return points;
}

/* ---- procedures on paths ---- */

/* Points by procedure. */
struct path_counts {
    uint32_t *of;      /* those whose path has it, however often */
    uint32_t *seen;    /* 1 + index of the point that was counted last */
    uint32_t *example; /* a node of the procedure: the innermost one of its first path */
};

static void path_counts_begin(struct path_counts *counts, uint32_t n_procedures)
{
    counts->of = mem_alloc((n_procedures + (size_t)1) * sizeof *counts->of);
    counts->seen = mem_alloc((n_procedures + (size_t)1) * sizeof *counts->seen);
    counts->example = mem_alloc((n_procedures + (size_t)1) * sizeof *counts->example);
}

static void path_counts_free(struct path_counts *counts)
{
    free(counts->of);
    free(counts->seen);
    free(counts->example);
}

/* Adds the point points->list.at[i]. */
static void count_path(struct path_counts *counts, const struct nodes *nodes, const struct path_points *points,
                       size_t i)
{
    uint32_t node = nodes->procedure[points->list.at[i].node];
    for (; is_procedure_kind(nodes->kind[node]); node = nodes_caller(nodes, node)) {
        uint32_t procedure = nodes->place[node];
        if (counts->seen[procedure] == i + 1)
            continue;
        if (!counts->of[procedure])
            counts->example[procedure] = node;
        counts->of[procedure] += points->list.at[i].n;
        counts->seen[procedure] = (uint32_t)i + 1;
    }
}

/* ---- kinds ---- */

/* Paths of kind `from` that have the procedure become those of kind `to`. */
struct division {
    uint32_t procedure;
    uint8_t from, to;
    uint32_t least; /* points of the smaller part */
};

/* The most even division of a kind. */
static struct division best_division(struct database *db, const struct path_points *points, const uint8_t *kinds,
                                     uint8_t kind)
{
    uint32_t n = database_n_procedures(db), all = 0;
    struct division best = {.from = kind};
    struct path_counts counts;
    path_counts_begin(&counts, n);
    for (size_t i = 0; i < points->list.n; i++) {
        if (kinds[i] != kind)
            continue;
        count_path(&counts, db->nodes, points, i);
        all += points->list.at[i].n;
    }
    for (uint32_t procedure = 0; procedure < n; procedure++) {
        uint32_t with = counts.of[procedure], least = with < all - with ? with : all - with;
        if (least > best.least) {
            best.procedure = procedure;
            best.least = least;
        }
    }
    path_counts_free(&counts);
    return best;
}

static bool path_has(const struct nodes *nodes, uint32_t node, uint32_t procedure)
{
    for (node = nodes->procedure[node]; is_procedure_kind(nodes->kind[node]); node = nodes_caller(nodes, node))
        if (nodes->place[node] == procedure)
            return true;
    return false;
}

/* Sets the kinds of places by divisions, each of which has one bit, in their order. */
static void divide_places(struct database *db, const struct division *divisions, size_t n, const uint32_t *node_of,
                          size_t n_places, uint8_t *kinds)
{
    const struct nodes *nodes = db->nodes;
    autofree uint16_t *of_procedure = mem_alloc((database_n_procedures(db) + (size_t)1) * sizeof *of_procedure);
    autofree uint16_t *on_path = mem_alloc(nodes->n * sizeof *on_path); /* by node */
    for (size_t i = 0; i < n; i++)
        of_procedure[divisions[i].procedure] |= (uint16_t)(1 << i);
    for (uint32_t node = 1; node < nodes->n; node++)
        on_path[node] = on_path[nodes->parent[node]] |
                        (is_procedure_kind(nodes->kind[node]) ? of_procedure[nodes->place[node]] : 0);
    for (size_t place = 0; place < n_places; place++) {
        kinds[place] = 0;
        for (size_t i = 0; i < n && node_of[place]; i++)
            if (kinds[place] == divisions[i].from && on_path[node_of[place]] & 1 << i)
                kinds[place] = divisions[i].to;
    }
}

void path_kinds_find(struct database *db, const struct path_points *points, const uint32_t *node_of, size_t n_places,
                     uint8_t *kinds)
{
    struct division best[MOST_PATH_KINDS], done[MOST_PATH_KINDS];
    autofree uint8_t *kind_of = mem_alloc(points->list.n + 1);
    uint8_t n = 1, next = 0;
    best[0] = best_division(db, points, kind_of, 0);
    while (n < MOST_PATH_KINDS && best[next].least > 0 && best[next].least >= LEAST_KIND * points->n) {
        struct division *division = &done[n - 1];
        *division = best[next];
        division->to = n++;
        for (size_t i = 0; i < points->list.n; i++)
            if (kind_of[i] == division->from && path_has(db->nodes, points->list.at[i].node, division->procedure))
                kind_of[i] = division->to;
        best[division->from] = best_division(db, points, kind_of, division->from);
        best[division->to] = best_division(db, points, kind_of, division->to);
        for (uint8_t kind = next = 0; kind < n; kind++)
            next = best[kind].least > best[next].least ? kind : next;
    }
    divide_places(db, done, n - 1, node_of, n_places, kinds);
}

/* ---- names ---- */

/* The user's own procedure in which most points are. */
static uint32_t largest_own(struct database *db, const struct path_points *points)
{
    autofree uint32_t *n = mem_alloc((database_n_procedures(db) + (size_t)1) * sizeof *n);
    uint32_t most = NOTHING;
    for (size_t i = 0; i < points->list.n && points->n; i++) {
        uint32_t own = code_own_procedure(db, points->list.at[i].node);
        if (own == NOTHING)
            continue;
        n[own] += points->list.at[i].n;
        most = most == NOTHING || n[own] > n[most] ? own : most;
    }
    return most;
}

/* A procedure that tells a piece from the others. */
struct candidate {
    uint32_t procedure, node; /* the node is one of the procedure's */
    enum code_rank rank;
    double there, difference; /* share of the piece, and by how much it exceeds that of the others */
};

/* The procedures with LEAST_NAMED of a piece's points whose share of the others' points is half of that at most. */
static size_t find_candidates(struct database *db, const struct path_counts *counts, const struct path_points *points,
                              size_t n, size_t piece, struct candidate **found)
{
    VEC(struct candidate) list = {0};
    double others = 0;
    for (size_t i = 0; i < n; i++)
        others += i == piece ? 0 : points[i].amount;
    for (uint32_t procedure = 0; procedure < database_n_procedures(db) && points[piece].n; procedure++) {
        double there = (double)counts[piece].of[procedure] / points[piece].n, elsewhere = 0;
        if (there < LEAST_NAMED)
            continue;
        for (size_t i = 0; i < n; i++)
            if (i != piece && points[i].n)
                elsewhere += counts[i].of[procedure] * points[i].amount / points[i].n / others;
        uint32_t node = counts[piece].example[procedure];
        enum code_rank rank = elsewhere <= there / 2 ? code_rank(db, node) : RANK_NONE;
        if (rank > RANK_NONE)
            vec_push(&list, (struct candidate){procedure, node, rank, there, there - elsewhere});
    }
    *found = list.at;
    return list.n;
}

/* Those of the highest rank, of these those with about the largest difference, of these the innermost one. */
static uint32_t most_telling(const struct candidate *list, size_t n)
{
    const struct candidate *found = NULL;
    enum code_rank rank = RANK_NONE;
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        rank = list[i].rank > rank ? list[i].rank : rank;
    for (size_t i = 0; i < n; i++)
        largest = list[i].rank == rank ? fmax(largest, list[i].difference) : largest;
    for (size_t i = 0; i < n; i++) {
        if (list[i].rank != rank || list[i].difference < NEARLY_LARGEST * largest)
            continue;
        bool is_inner = !found || list[i].there < found->there ||
                        (list[i].there == found->there && list[i].node > found->node);
        found = is_inner ? &list[i] : found;
    }
    return found ? found->procedure : NOTHING;
}

void path_names_find(struct database *db, const struct path_points *points, size_t n, uint32_t *procedures)
{
    autofree struct path_counts *counts = mem_alloc((n + 1) * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        path_counts_begin(&counts[i], database_n_procedures(db));
        for (size_t p = 0; p < points[i].list.n; p++)
            count_path(&counts[i], db->nodes, &points[i], p);
    }
    for (size_t i = 0; i < n; i++) {
        struct candidate *found;
        size_t n_found = find_candidates(db, counts, points, n, i, &found);
        procedures[i] = most_telling(found, n_found);
        if (procedures[i] == NOTHING)
            procedures[i] = largest_own(db, &points[i]);
        free(found);
    }
    for (size_t i = 0; i < n; i++)
        path_counts_free(&counts[i]);
}
