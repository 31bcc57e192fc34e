#include "viewer-tui/advice/time-places.h"

#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/walk.h"

#include "lib/hash-tables.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A scope on the current path, and the own time that its statements and loops do not have. From its procedure outwards,
 * up to the beginning of the thread: whose code the innermost procedure of the highest owner is, and what is between. */
struct open_scope {
    uint32_t row;
    double rest;
    uint32_t found, below; /* row of that procedure, and of the one that it calls; 0: none */
    uint32_t callee;       /* row of the outermost procedure from `below` on whose name says something; 0: none */
    enum code_owner owner;
    bool has_name; /* of the procedure that is found */
    enum wait wait; /* of the outermost procedure between that waits; if none is found, of all */
};

/* What the name of a procedure says. A large tree has a procedure in many contexts, and its name is looked at once. */
struct known_name {
    bool is_known, begins_thread, is_system_call, is_lock, is_without_cpu, says_something;
    enum wait wait;
};

struct place_collection {
    struct time_places *places;
    struct known_name *names; /* by procedure */
    struct idmap lines;   /* dense numbers of lines in loops */
    struct idmap numbers; /* of places, by procedure, line in its loop, callee and what is waited for */
    struct time_metric time;
    VEC(struct open_scope) open;
};

double time_cost(const struct view *view, uint32_t row, struct time_metric time, enum cost_part part)
{
    double cost = view_cost(view, row, time.metric, part);
    return time.without == NO_METRIC ? cost : cost - view_cost(view, row, time.without, part);
}

/* The innermost loop between a row and its procedure. */
static struct source_line loop_around(const struct view *view, uint32_t row)
{
    while (row != 0 && !row_is_procedure(view_row(view, row))) {
        const struct row *at = view_row(view, row);
        if (at->kind == KIND_LOOP)
            return (struct source_line){at->place, at->line};
        row = at->parent;
    }
    return (struct source_line){NOTHING, 0};
}

/* What is called below a loop of asyncio says more than the loop. The same goes for functions that were made for each call
 * of a library, as numpy's in the file "<__array_function__ internals>", and for a stripped library's, without names. */
static bool says_something(const struct database *db, uint32_t procedure)
{
    static const char *const of_loops[] = {"/asyncio/runners.py", "/asyncio/base_events.py", "/asyncio/events.py", NULL};
    const char *path = database_file_path(db, database_procedure(db, procedure).file);
    size_t length = path ? strlen(path) : 0;
    bool is_between = path && *path == '<';
    for (size_t i = 0; of_loops[i] && !is_between; i++)
        is_between = length > strlen(of_loops[i]) && strcmp(path + length - strlen(of_loops[i]), of_loops[i]) == 0;
    return !is_between && database_procedure_has_name(db, procedure);
}

static struct known_name known_name(const struct place_collection *collection, const struct database *db,
                                    uint32_t procedure)
{
    struct known_name *known = &collection->names[procedure];
    char buffer[NAME_SIZE];
    const char *name = known->is_known ? NULL : database_procedure_name(db, procedure, buffer);
    if (name)
        *known = (struct known_name){true, begins_thread(name), is_system_call(name), is_name_of_lock(name),
                                     is_name_of_lock_without_cpu(name), says_something(db, procedure), wait_of(name)};
    return *known;
}

/* What is known of a procedure that the innermost open scope calls. */
static struct open_scope open_procedure(const struct place_collection *collection, const struct view *view, uint32_t row)
{
    const struct row *at = view_row(view, row);
    struct open_scope scope = {.row = row};
    struct known_name name = known_name(collection, view->db, at->place);
    if (name.begins_thread)
        return scope;
    if (collection->open.n) {
        const struct open_scope *caller = &collection->open.at[collection->open.n - 1];
        scope.found = caller->found;
        scope.owner = caller->owner;
        scope.has_name = caller->has_name;
        scope.below = caller->below ? caller->below : row;
        scope.callee = caller->callee ? caller->callee : name.says_something ? row : 0;
        scope.wait = caller->wait != WAIT_NONE ? caller->wait : name.wait;
    } else {
        scope.wait = name.wait;
    }
    enum code_owner owner = name.is_lock ? CODE_OF_SYSTEM : code_owner(view, row);
    bool has_name = owner == CODE_OWN || database_procedure_has_name(view->db, at->place);
    bool says_more = has_name || !scope.has_name || label_module(view, row) != label_module(view, scope.found);
    if (owner != CODE_OF_SYSTEM && owner >= scope.owner && says_more)
        scope = (struct open_scope){.row = row, .found = row, .owner = owner, .has_name = has_name};
    return scope;
}

/* Opens the procedures around a row, the outermost one first. */
static void open_callers(struct place_collection *collection, const struct view *view, uint32_t row)
{
    autofree VEC(uint32_t) callers = {0};
    while (row != 0 && (row = view_procedure_at(view, view_row(view, row)->parent)) != 0 &&
           row_is_procedure(view_row(view, row)))
        vec_push(&callers, row);
    while (callers.n) {
        struct open_scope caller = open_procedure(collection, view, callers.at[--callers.n]);
        vec_push(&collection->open, caller);
    }
}

/* Moves the place outwards, from the procedure with the time to the one that is found in its open scope. */
static void move_to_found(const struct view *view, const struct open_scope *scope, struct time_place *place)
{
    if (scope->below) {
        const struct row *below = view_row(view, scope->below);
        uint32_t callee = scope->callee ? scope->callee : scope->below;
        place->callee = view_row(view, callee)->place;
        place->callee_module = label_module(view, callee);
        place->at = (struct source_line){below->call_file, below->call_line};
        place->loop = loop_around(view, below->parent);
    }
    const struct row *found = view_row(view, scope->found);
    place->procedure = found->place;
    place->owner = scope->owner;
    if (place->loop.file == NOTHING && code_owner(view, view_procedure_at(view, found->parent)) == CODE_OWN)
        place->around = loop_around(view, found->parent);
}

/* If the kernel's procedures are shown, their time is still that of the line that called the kernel. Returns the
 * innermost procedure then. */
static uint32_t leave_kernel(const struct view *view, uint32_t innermost, struct time_place *place)
{
    for (uint32_t caller; innermost != 0 && database_is_kernel(view->db, label_module(view, innermost)); innermost = caller) {
        const struct row *at = view_row(view, innermost);
        caller = view_procedure_at(view, at->parent);
        if (caller == 0 || !row_is_procedure(view_row(view, caller)))
            break;
        place->at = (struct source_line){at->call_file, at->call_line};
        place->loop = loop_around(view, at->parent);
        place->has_line = at->call_line != 0;
    }
    return innermost;
}

/* The place of a row's own time. */
static struct time_place place_of(const struct place_collection *collection, const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    uint32_t innermost = view_procedure_at(view, number);
    bool is_line = row->kind == KIND_STATEMENT || row->kind == KIND_LOOP;
    struct time_place place = {.at = {is_line ? row->place : NOTHING, is_line ? row->line : 0},
                               .loop = loop_around(view, number),
                               .around = {NOTHING, 0},
                               .callee = NOTHING,
                               .callee_module = NOTHING,
                               .procedure = NOTHING,
                               .leaf = NOTHING,
                               .leaf_module = NOTHING,
                               .saved = INFINITY,
                               .has_line = row->kind == KIND_STATEMENT && row->line != 0};
    if (innermost == 0)
        return place;
    innermost = leave_kernel(view, innermost, &place);
    place.procedure = place.leaf = view_row(view, innermost)->place;
    place.leaf_module = label_module(view, innermost);
    place.is_system_call = known_name(collection, view->db, place.leaf).is_system_call;
    place.is_of_lock = known_name(collection, view->db, place.leaf).is_lock;
    place.is_without_cpu = known_name(collection, view->db, place.leaf).is_without_cpu;
    size_t i = collection->open.n - 1;
    while (view_procedure_at(view, collection->open.at[i].row) != innermost)
        i--;
    const struct open_scope *scope = &collection->open.at[i];
    place.wait = scope->wait;
    if (scope->found)
        move_to_found(view, scope, &place);
    return place;
}

static void add_time(struct place_collection *collection, struct view *view, uint32_t row, double seconds)
{
    if (!(seconds > 0))
        return;
    struct time_place new = place_of(collection, view, row);
    uint64_t line = (uint64_t) new.at.file << 32 | new.at.line, loop = (uint64_t) new.loop.file << 32 | new.loop.line;
    uint32_t line_in_loop = idmap_number(&collection->lines, line, loop, (uint32_t)collection->lines.count);
    uint64_t procedure_and_line = (uint64_t) new.procedure << 32 | line_in_loop;
    uint64_t kind = (uint64_t) new.wait << 4 | (uint64_t) new.is_without_cpu << 3 | (uint64_t) new.is_of_lock << 2 |
                    (uint64_t) new.is_system_call << 1 | new.has_line;
    uint64_t callee_and_kind = (uint64_t) new.callee << 32 | kind;
    uint32_t next = (uint32_t)collection->places->list.n;
    uint32_t number = idmap_number(&collection->numbers, procedure_and_line, callee_and_kind, next);
    if (number == next)
        vec_push(&collection->places->list, new);
    struct time_place *place = &collection->places->list.at[number];
    place->seconds += seconds;
    collection->places->total += seconds;
    view_value_refs(view, row, EXCLUSIVE, &place->refs);
}

/* Subtracts the time of a loop or statement from the procedure around it, that of a statement also from the loop: the
 * own time of a loop is without the loops in it. */
static void take_from_above(struct place_collection *collection, const struct view *view, uint32_t row, double seconds)
{
    const struct row *at = view_row(view, row);
    for (size_t i = collection->open.n; i-- > 0;) {
        struct open_scope *scope = &collection->open.at[i];
        bool is_loop = view_row(view, scope->row)->kind == KIND_LOOP;
        if (!is_loop || (scope->row == at->parent && at->kind == KIND_STATEMENT))
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
        struct open_scope scope = {0};
        if (row_is_procedure(row))
            scope = open_procedure(collection, view, number);
        else if (collection->open.n)
            scope = collection->open.at[collection->open.n - 1];
        scope.row = number;
        scope.rest = own;
        vec_push(&collection->open, scope);
    }
}

static void leave(void *context, struct view *view, uint32_t number)
{
    struct place_collection *collection = context;
    const struct row *row = view_row(view, number);
    if (!row_is_procedure(row) && row->kind != KIND_LOOP)
        return;
    double rest = collection->open.at[collection->open.n - 1].rest;
    bool has_own = rest > 1e-9 * time_cost(view, number, collection->time, EXCLUSIVE);
    if (has_own)
        add_time(collection, view, number, rest);
    collection->open.n--;
    if (has_own && row->kind == KIND_LOOP)
        take_from_above(collection, view, number, rest);
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

struct time_places time_places_find(struct view *view, uint32_t row, struct time_metric time)
{
    struct time_places places = {0};
    if (time.metric == NO_METRIC)
        return places;
    struct place_collection collection = {.places = &places, .time = time};
    collection.names = mem_alloc(database_n_procedures(view->db) * sizeof *collection.names);
    struct limits limits = {
        .depth = NO_DEPTH_LIMIT, .share = DBL_MIN, .by = {.metric = time.metric, .part = INCLUSIVE}};
    struct visitor visitor = {.enter = enter, .leave = leave, .context = &collection};
    open_callers(&collection, view, row);
    walk_unsorted(view, row, &limits, &visitor);
    idmap_free(&collection.lines);
    idmap_free(&collection.numbers);
    free(collection.names);
    vec_free(&collection.open);
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
