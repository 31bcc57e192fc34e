#include "viewer-tui/advice/time-places.h"

#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/walk.h"

#include "lib/hash-tables.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* A scope on the current path, and the own time that its statements and loops do not have. */
struct open_scope {
    uint32_t row;
    double rest;
};

struct place_collection {
    struct time_places *places;
    struct idmap numbers; /* of places, by procedure, line and what is waited for */
    struct time_metric time;
    const json_t *run;
    VEC(struct open_scope) open;
};

double time_cost(const struct view *view, uint32_t row, struct time_metric time,
                 enum cost_part part)
{
    double cost = view_cost(view, row, time.metric, part);
    return time.without == NO_METRIC ? cost : cost - view_cost(view, row, time.without, part);
}

/* The nearest procedure, from a row upwards; 0 if there is none. */
static uint32_t procedure_at(const struct view *view, uint32_t row)
{
    while (row != 0 && !row_is_procedure(view_row(view, row)))
        row = view_row(view, row)->parent;
    return row;
}

/* Sets the innermost loop between a row and its procedure. */
static void set_loop(struct time_place *place, const struct view *view, uint32_t row)
{
    while (row != 0 && !row_is_procedure(view_row(view, row))) {
        const struct row *at = view_row(view, row);
        if (at->kind == KIND_LOOP) {
            place->loop_file = at->place;
            place->loop_line = at->line;
            return;
        }
        row = at->parent;
    }
}

/* Searches user code from the procedure at `row` outwards; false if there is none on the thread's
 * path. */
static bool find_user_code(const struct place_collection *collection, const struct view *view,
                           uint32_t row, struct time_place *place)
{
    char buffer[NAME_SIZE];
    while (row != 0) {
        const struct row *at = view_row(view, row);
        const char *name = database_procedure_name(view->db, at->place, buffer);
        if (begins_thread(name))
            return false;
        if (is_user_code(view, row, collection->run)) {
            place->procedure = at->place;
            return true;
        }
        if (place->wait == WAIT_NONE || wait_of(name) != WAIT_NONE)
            place->wait = wait_of(name);
        place->callee = at->place;
        place->file = at->call_file;
        place->line = at->call_line;
        set_loop(place, view, at->parent);
        row = procedure_at(view, at->parent);
    }
    return false;
}

/* The place of a row's own time. */
static struct time_place place_of(const struct place_collection *collection,
                                  const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    uint32_t innermost = procedure_at(view, number);
    char buffer[NAME_SIZE];
    struct time_place place = {.file = row->place,
                               .line = row->line,
                               .callee = NOTHING,
                               .loop_file = NOTHING,
                               .leaf = view_row(view, innermost)->place,
                               .leaf_module = NOTHING,
                               .has_line = row->kind == KIND_STATEMENT && row->line != 0};
    if (row->kind != KIND_STATEMENT && row->kind != KIND_LOOP)
        place.file = NOTHING, place.line = 0;
    if (innermost == 0) {
        place.procedure = place.leaf = NOTHING;
        return place;
    }
    const char *name = database_procedure_name(view->db, place.leaf, buffer);
    place.leaf_module = label_module(view, innermost);
    place.is_system_call = is_system_call(name);
    set_loop(&place, view, number);
    struct time_place outside = place;
    if (find_user_code(collection, view, innermost, &outside)) {
        outside.is_user_code = true;
        return outside;
    }
    place.procedure = place.leaf;
    place.wait = outside.wait;
    return place;
}

static void add_time(struct place_collection *collection, struct view *view, uint32_t row,
                     double seconds)
{
    if (!(seconds > 0))
        return;
    struct time_place new = place_of(collection, view, row);
    uint64_t procedure_and_line = (uint64_t) new.procedure << 32 | new.line;
    uint32_t kind = (uint32_t) new.wait << 2 | (uint32_t) new.is_system_call << 1 | new.has_line;
    uint32_t number = idmap_get(&collection->numbers, procedure_and_line, kind);
    if (number == IDMAP_NONE) {
        number = (uint32_t)collection->places->list.n;
        idmap_put(&collection->numbers, procedure_and_line, kind, number);
        vec_push(&collection->places->list, new);
    }
    struct time_place *place = &collection->places->list.at[number];
    place->seconds += seconds;
    collection->places->total += seconds;
    view_value_refs(view, row, EXCLUSIVE, &place->refs);
}

/* Subtracts the time of a loop or statement from the procedure or loop around it. */
static void take_from_above(struct place_collection *collection, const struct view *view,
                            uint32_t row, double seconds)
{
    uint32_t above = view_row(view, row)->parent;
    for (size_t i = collection->open.n; i-- > 0;) {
        struct open_scope *scope = &collection->open.at[i];
        bool is_loop = view_row(view, scope->row)->kind == KIND_LOOP;
        if (scope->row == above || !is_loop)
            scope->rest -= seconds;
        if (!is_loop)
            return;
    }
}

static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    (void)level;
    struct place_collection *collection = context;
    const struct row *row = view_row(view, number);
    double own = time_cost(view, number, collection->time, EXCLUSIVE);
    if (row->kind == KIND_STATEMENT) {
        take_from_above(collection, view, number, own);
        add_time(collection, view, number, own);
    } else if (row_is_procedure(row) || row->kind == KIND_LOOP) {
        vec_push(&collection->open, ((struct open_scope){number, own}));
    }
}

static void leave(void *context, struct view *view, uint32_t number)
{
    struct place_collection *collection = context;
    const struct row *row = view_row(view, number);
    if (!row_is_procedure(row) && row->kind != KIND_LOOP)
        return;
    struct open_scope scope = collection->open.at[collection->open.n - 1];
    collection->open.n--;
    double own = time_cost(view, number, collection->time, EXCLUSIVE);
    if (scope.rest > 1e-9 * own) {
        add_time(collection, view, number, scope.rest);
        if (row->kind == KIND_LOOP)
            take_from_above(collection, view, number, scope.rest);
    }
}

static int compare(const void *left, const void *right)
{
    const struct time_place *a = left, *b = right;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? 1 : -1;
    if (a->procedure != b->procedure)
        return a->procedure < b->procedure ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

struct time_places time_places_find(struct view *view, uint32_t row, struct time_metric time,
                                    const json_t *run)
{
    assert(view->class == &topdown_class && time.metric != NO_METRIC);
    struct time_places places = {0};
    struct place_collection collection = {.places = &places, .time = time, .run = run};
    struct limits limits = {.depth = NO_DEPTH_LIMIT,
                            .share = DBL_MIN,
                            .by = {.metric = time.metric, .part = INCLUSIVE}};
    struct visitor visitor = {.enter = enter, .leave = leave, .context = &collection};
    walk_view(view, row, &limits, &visitor);
    idmap_free(&collection.numbers);
    vec_free(&collection.open);
    if (places.list.n)
        qsort(places.list.at, places.list.n, sizeof *places.list.at, compare);
    return places;
}

void time_places_free(struct time_places *places)
{
    for (size_t i = 0; i < places->list.n; i++)
        vec_free(&places->list.at[i].refs.list);
    vec_free(&places->list);
}
