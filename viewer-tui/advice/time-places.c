#include "viewer-tui/advice/time-places.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/node-costs.h"

#include "lib/hash-tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a node has of each time, at its place. */
struct times_of_node {
    uint32_t node;
    struct time_place place;
    double seconds[MOST_TIMES];
};

/* So many are added at once: few enough for the processor's nearest cache. */
#define BATCH 64

/* A pass over the nodes of a row. */
struct place_search {
    struct view *view;
    uint32_t row;
    const struct nodes *nodes;
    const struct time_metric *times;
    size_t n_times;
    struct open_scopes scopes;
    VEC(double) rests;    /* of each open scope: n_times without its statements and loops, then n_times with them */
    struct idmap lines;   /* dense numbers of lines in loops */
    struct idmap numbers; /* of places, by procedure, line in its loop, callee and what is waited for */
    struct times_of_node batch[BATCH]; /* what is not added yet */
    size_t n_batch;
    bool wants_parts;
    struct places_of_times found;
};

double time_cost(const struct view *view, uint32_t row, struct time_metric time, enum cost_part part)
{
    double cost = view_cost(view, row, time.metric, part);
    return time.without == NO_METRIC ? cost : cost - view_cost(view, row, time.without, part);
}

/* The node's own time. */
static double own_time(const struct view *view, uint32_t node, struct time_metric time)
{
    double cost = time.metric == NO_METRIC ? 0 : view_node_value(view, node, time.metric, EXCLUSIVE);
    return time.without == NO_METRIC ? cost : cost - view_node_value(view, node, time.without, EXCLUSIVE);
}

/* Of a place, for its number; NOTHING and 0 for the line in its loop until that has a number. */
struct place_key {
    uint64_t line, loop, procedure_and_line, callee_and_kind;
};

static struct place_key key_of(const struct time_place *place)
{
    uint64_t kind = (uint64_t)place->wait << 4 | (uint64_t)place->is_without_cpu << 3 |
                    (uint64_t)place->is_of_lock << 2 | (uint64_t)place->is_system_call << 1 | place->has_line;
    return (struct place_key){.line = (uint64_t)place->at.file << 32 | place->at.line,
                              .loop = (uint64_t)place->loop.file << 32 | place->loop.line,
                              .procedure_and_line = (uint64_t)place->procedure << 32,
                              .callee_and_kind = (uint64_t)place->callee << 32 | kind};
}

static uint32_t number_of(struct place_search *search, const struct place_key *key, const struct time_place *place)
{
    uint32_t next = (uint32_t)search->found.list.n;
    uint32_t number = idmap_number(&search->numbers, key->procedure_and_line, key->callee_and_kind, next);
    if (number == next) {
        vec_push(&search->found.list, *place);
        for (size_t t = 0; t < search->n_times; t++)
            vec_push(&search->found.seconds, 0);
    }
    return number;
}

/* Adds the times of the batch. The tables of a large tree are larger than the processor's caches, so each step fetches
 * what the next one reads: of 2,000,000 contexts and 300,000 places, 0.15 s instead of 0.35 s. */
static void add_batch(struct place_search *search)
{
    struct place_key keys[BATCH];
    uint32_t numbers[BATCH];
    size_t n = search->n_batch, n_times = search->n_times;
    for (size_t i = 0; i < n; i++) {
        keys[i] = key_of(&search->batch[i].place);
        idmap_prefetch(&search->lines, keys[i].line, keys[i].loop);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t next = (uint32_t)search->lines.count;
        keys[i].procedure_and_line |= idmap_number(&search->lines, keys[i].line, keys[i].loop, next);
        idmap_prefetch(&search->numbers, keys[i].procedure_and_line, keys[i].callee_and_kind);
    }
    for (size_t i = 0; i < n; i++) {
        numbers[i] = number_of(search, &keys[i], &search->batch[i].place);
        __builtin_prefetch(&search->found.seconds.at[numbers[i] * n_times], 1);
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < n_times; t++) {
            double seconds = search->batch[i].seconds[t];
            if (!(seconds > 0))
                continue;
            double *sum = &search->found.seconds.at[numbers[i] * n_times + t];
            struct source_line *around = &search->found.list.at[numbers[i]].around;
            struct source_line here = search->batch[i].place.around;
            if (*sum == 0 && (around->file != here.file || around->line != here.line))
                *around = (struct source_line){NOTHING, 0}; /* the times have no loop in common */
            *sum += seconds;
            search->found.totals[t] += seconds;
            if (search->wants_parts)
                vec_push(&search->found.parts, ((struct part_of_time){numbers[i], search->batch[i].node, t}));
        }
    search->n_batch = 0;
}

/* Adds what a node has of each time, at a line of the innermost scope. */
static void add_times(struct place_search *search, uint32_t node, struct source_line line, bool has_line,
                      const double *seconds)
{
    const struct open_scope *scope = open_scopes_top(&search->scopes);
    bool has_some = false;
    for (size_t t = 0; t < search->n_times; t++)
        has_some |= seconds[t] > 0;
    if (!has_some || scope->is_left_out)
        return;
    if (search->n_batch == BATCH)
        add_batch(search);
    struct times_of_node *of = &search->batch[search->n_batch++];
    of->node = node;
    of->place = scope_place(&search->scopes, scope, line, has_line);
    memcpy(of->seconds, seconds, search->n_times * sizeof *seconds);
}

/* Subtracts the times of a loop or statement in the innermost scope from those of the procedure around it, those of a
 * statement also from the loop: the own time of a loop is without the loops in it. */
static void take_from_above(struct place_search *search, const double *seconds, bool is_of_statement)
{
    for (size_t i = search->scopes.list.n; i-- > 0;) {
        bool is_loop = search->scopes.list.at[i].is_loop, is_innermost = i + 1 == search->scopes.list.n;
        for (size_t t = 0; t < search->n_times && (!is_loop || (is_of_statement && is_innermost)); t++)
            search->rests.at[2 * i * search->n_times + t] -= seconds[t];
        if (!is_loop)
            return;
    }
}

static void leave(struct place_search *search)
{
    const struct open_scope *scope = open_scopes_top(&search->scopes);
    bool is_loop = scope->is_loop;
    double *rest = &search->rests.at[search->rests.n - 2 * search->n_times], *own = rest + search->n_times;
    for (size_t t = 0; t < search->n_times; t++)
        if (!(rest[t] > 1e-9 * own[t]))
            rest[t] = 0;
    add_times(search, scope->node, is_loop ? scope->loop : (struct source_line){NOTHING, 0}, false, rest);
    search->scopes.list.n--;
    search->rests.n -= 2 * search->n_times;
    if (is_loop)
        take_from_above(search, rest, false);
}

/* Whether the row is a module or a file of the flat view that does not have a procedure. */
static bool is_elsewhere(const struct place_search *search, uint32_t id)
{
    const struct row *at = view_row(search->view, search->row);
    if (at->kind != KIND_MODULE && at->kind != KIND_FILE)
        return false;
    struct procedure procedure = database_procedure(search->view->db, id);
    uint32_t module = at->kind == KIND_FILE ? view_row(search->view, at->parent)->place : at->place;
    return procedure.module != module || (at->kind == KIND_FILE && procedure.file != at->place);
}

static void enter(struct place_search *search, uint32_t node)
{
    const struct nodes *nodes = search->nodes;
    double own[MOST_TIMES];
    uint8_t kind = nodes->kind[node];
    if (kind != KIND_PROCEDURE && (open_scopes_top(&search->scopes)->is_left_out ||
                                   (kind != KIND_STATEMENT && kind != KIND_LOOP && kind != KIND_INLINED)))
        return;
    bool is_left_out = kind == KIND_PROCEDURE && is_elsewhere(search, nodes->place[node]);
    for (size_t t = 0; t < search->n_times; t++)
        own[t] = is_left_out ? 0 : own_time(search->view, node, search->times[t]);
    if (kind == KIND_STATEMENT) {
        struct source_line line = {nodes->place[node], nodes->line[node]};
        take_from_above(search, own, true);
        add_times(search, node, line, line.line != 0, own);
        return;
    }
    open_scopes_enter(&search->scopes, node);
    open_scopes_top(&search->scopes)->is_left_out |= is_left_out;
    for (size_t t = 0; t < 2 * search->n_times; t++)
        vec_push(&search->rests, own[t % search->n_times]);
}

/* Passes over nodes of the row from `first` to before `end`; false if the user stopped it. */
static bool pass(struct place_search *search, uint32_t first, uint32_t end)
{
    bool goes_on = true;
    size_t n_around = search->scopes.list.n;
    for (uint32_t node = first; node < end && goes_on; node++) {
        while (search->scopes.list.n > n_around && open_scopes_top(&search->scopes)->end <= node)
            leave(search);
        enter(search, node);
        goes_on = progress_at(node);
    }
    while (search->scopes.list.n > n_around)
        leave(search);
    return goes_on;
}

struct places_of_times places_of_times_find(struct view *view, uint32_t row, const struct time_metric *times, size_t n,
                                            bool with_parts)
{
    struct place_search search = {
        .view = view, .row = row, .times = times, .n_times = n, .wants_parts = with_parts, .found = {.n_times = n}};
    const struct row *at = view_row(view, row);
    bool is_top_down = view->class == &topdown_class, is_measured = false;
    assert(n <= MOST_TIMES && view->class != &bottomup_class);
    for (size_t t = 0; t < n; t++)
        is_measured |= times[t].metric != NO_METRIC;
    if (!is_measured)
        return search.found;
    search.nodes = database_nodes(view->db);
    search.scopes = open_scopes_new(view->db, is_top_down);
    for (size_t t = 0; t < 2 * n; t++)
        vec_push(&search.rests, 0);
    progress_begin("looking for the code that takes the time", search.nodes->n);
    if (row == 0 || !is_top_down)
        pass(&search, 0, search.nodes->n);
    for (uint32_t i = 0; row != 0 && is_top_down && i < at->n_nodes; i++) {
        uint32_t node = view->nodes.at[at->first_node + i].node;
        open_scopes_enter_around(&search.scopes, node);
        while (search.rests.n < 2 * n * search.scopes.list.n)
            vec_push(&search.rests, 0);
        pass(&search, node, at->kind == KIND_STATEMENT ? node + 1 : search.nodes->end[node]);
        search.scopes.list.n = 1;
        search.rests.n = 2 * n;
    }
    add_batch(&search);
    progress_end();
    open_scopes_free(&search.scopes);
    vec_free(&search.rests);
    idmap_free(&search.lines);
    idmap_free(&search.numbers);
    return search.found;
}

void places_of_times_free(struct places_of_times *all)
{
    vec_free(&all->list);
    vec_free(&all->seconds);
    vec_free(&all->parts);
}

static int compare(const void *left, const void *right)
{
    const struct time_place *a = left, *b = right;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? 1 : -1;
    if (a->procedure != b->procedure)
        return a->procedure < b->procedure ? -1 : 1;
    return (a->at.line > b->at.line) - (a->at.line < b->at.line);
}

struct time_places time_places_of(const struct view *view, const struct places_of_times *all, size_t time)
{
    struct time_places places = {.total = all->totals[time]};
    autofree uint32_t *numbers = mem_alloc((all->list.n + 1) * sizeof *numbers);
    for (size_t i = 0; i < all->list.n; i++) {
        double seconds = all->seconds.at[i * all->n_times + time];
        numbers[i] = (uint32_t)places.list.n;
        if (seconds > 0) {
            vec_push(&places.list, all->list.at[i]);
            places.list.at[numbers[i]].seconds = seconds;
        }
    }
    for (size_t i = 0; i < all->parts.n; i++) {
        const struct part_of_time *part = &all->parts.at[i];
        if (part->time == time && all->seconds.at[part->place * all->n_times + time] > 0)
            view_node_value_refs(view, part->node, EXCLUSIVE, &places.list.at[numbers[part->place]].refs);
    }
    vec_sort(&places.list, compare);
    return places;
}

void time_places_join(struct time_places *places, struct time_places *others)
{
    for (size_t i = 0; i < others->list.n; i++) {
        struct time_place *new = &others->list.at[i], *same = places->list.at, *end = same + places->list.n;
        while (same < end && (same->procedure != new->procedure || same->at.line != new->at.line ||
                              same->callee != new->callee || same->wait != new->wait))
            same++;
        new->joined_refs = new->refs;
        new->refs = (struct value_refs){0};
        if (same == end) {
            vec_push(&places->list, *new);
            continue;
        }
        same->seconds += new->seconds;
        for (size_t r = 0; r < new->joined_refs.list.n; r++)
            vec_push(&same->joined_refs.list, new->joined_refs.list.at[r]);
        vec_free(&new->joined_refs.list);
    }
    places->total += others->total;
    vec_free(&others->list);
    vec_sort(&places->list, compare);
}

void time_places_free(struct time_places *places)
{
    for (size_t i = 0; i < places->list.n; i++) {
        vec_free(&places->list.at[i].refs.list);
        vec_free(&places->list.at[i].joined_refs.list);
    }
    vec_free(&places->list);
}

double *time_by_profile(const struct view *view, struct value_refs *refs, struct time_metric time)
{
    size_t n = database_n_profiles(view->db) + 1;
    double *values = mem_alloc(n * sizeof *values);
    autofree double *without = mem_alloc(n * sizeof *without);
    enum outcome outcome = refs->list.n ? thread_values(view->db, refs, time.metric, values) : DONE;
    if (refs->list.n && outcome == DONE && time.without != NO_METRIC)
        outcome = thread_values(view->db, refs, time.without, without);
    for (size_t i = 0; i < n; i++)
        values[i] = outcome == DONE ? values[i] - without[i] : 0;
    return values;
}
