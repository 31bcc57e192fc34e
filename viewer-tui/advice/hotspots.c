#include "viewer-tui/advice/hotspots.h"

#include "viewer-tui/advice/libc-procedures.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Grouping ---- */

/* The declaration of the procedure, if the line of a place in it is not known. */
static struct source_line known_line(const struct database *db, struct source_line at, uint32_t procedure)
{
    if ((at.file != NOTHING && at.line) || procedure == NOTHING)
        return at;
    struct procedure of = database_procedure(db, procedure);
    return (struct source_line){of.file, of.line};
}

static struct hotspot hotspot_of(const struct database *db, const struct time_place *place, bool by_loop)
{
    bool is_loop = by_loop && place->loop.file != NOTHING;
    struct source_line line = by_loop ? place->at : (struct source_line){NOTHING, 0};
    return (struct hotspot){.procedure = place->procedure,
                            .owner = place->owner,
                            .at = is_loop ? place->loop : known_line(db, line, place->procedure),
                            .is_loop = is_loop,
                            .around = place->around,
                            .callee = NOTHING,
                            .callee_module = NOTHING};
}

bool hotspot_has(const struct hotspot *hotspot, const struct time_place *place)
{
    bool is_in_loop = place->loop.file != NOTHING;
    return place->procedure == hotspot->procedure && is_in_loop == hotspot->is_loop &&
           (!is_in_loop || (place->loop.file == hotspot->at.file && place->loop.line == hotspot->at.line));
}

struct hotspot hotspot_of_place(const struct database *db, const struct time_place *place)
{
    struct hotspot hotspot = hotspot_of(db, place, false);
    hotspot.at = known_line(db, place->at, place->procedure);
    hotspot.callee = place->callee;
    hotspot.callee_module = place->callee_module;
    hotspot.cost = place->seconds;
    return hotspot;
}

/* By cost, the largest first; then in the order of procedures and lines in the database. */
static int compare(const void *left, const void *right)
{
    const struct hotspot *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? 1 : -1;
    if (a->procedure != b->procedure)
        return a->procedure < b->procedure ? -1 : 1;
    return (a->at.line > b->at.line) - (a->at.line < b->at.line);
}

struct callee {
    uint32_t hotspot, procedure, module;
};

/* To which hotspots places belong, by number, and to which of their lines and callees. */
struct grouping {
    uint32_t *hotspots, *lines, *callees; /* by place; callees: NOTHING for the hotspot's own code */
    uint32_t n_hotspots, n_lines;
    VEC(struct callee) list;
};

static struct grouping group(const struct places_of_times *all, bool by_loop)
{
    size_t size = all->list.n * sizeof(uint32_t);
    struct grouping grouping = {.hotspots = mem_alloc(size), .lines = mem_alloc(size), .callees = mem_alloc(size)};
    autofree struct idmap hotspots = {0}, lines = {0}, callees = {0};
    for (size_t i = 0; i < all->list.n; i++) {
        const struct time_place *place = &all->list.at[i];
        bool is_loop = by_loop && place->loop.file != NOTHING;
        uint64_t loop = is_loop ? (uint64_t)place->loop.file << 32 | place->loop.line : UINT64_MAX;
        struct callee new = {.procedure = place->callee, .module = place->callee_module};
        new.hotspot = grouping.hotspots[i] = idmap_number(&hotspots, place->procedure, loop, (uint32_t)hotspots.count);
        grouping.lines[i] = idmap_number(&lines, new.hotspot, (uint64_t)place->at.file << 32 | place->at.line,
                                         (uint32_t)lines.count);
        grouping.callees[i] = NOTHING;
        if (new.procedure != NOTHING)
            grouping.callees[i] = idmap_number(&callees, new.hotspot, new.procedure, (uint32_t)callees.count);
        if (callees.count > grouping.list.n)
            vec_push(&grouping.list, new);
    }
    grouping.n_hotspots = (uint32_t)hotspots.count;
    grouping.n_lines = (uint32_t)lines.count;
    return grouping;
}

/* Those of one of the times. The line with most of it stands for a hotspot, whatever it calls; a callee with half of it
 * is named. */
static hotspot_list hotspots_of_time(const struct database *db, const struct places_of_times *all, size_t time,
                                     const struct grouping *grouping, bool by_loop)
{
    hotspot_list list = {0};
    autofree double *costs = mem_alloc(grouping->n_hotspots * sizeof *costs);
    autofree double *of_lines = mem_alloc(grouping->n_lines * sizeof *of_lines);
    autofree double *of_callees = mem_alloc(grouping->list.n * sizeof *of_callees);
    autofree uint32_t *numbers = mem_alloc(grouping->n_hotspots * sizeof *numbers); /* of places, then in the list */
    for (uint32_t i = 0; i < all->list.n; i++) {
        double here = all->seconds.at[i * all->n_times + time];
        of_lines[grouping->lines[i]] += here;
        if (here > 0 && grouping->callees[i] != NOTHING)
            of_callees[grouping->callees[i]] += here;
    }
    for (uint32_t i = 0; i < all->list.n; i++) {
        uint32_t hotspot = grouping->hotspots[i], *most = &numbers[hotspot];
        double here = all->seconds.at[i * all->n_times + time];
        double line = of_lines[grouping->lines[i]], before = of_lines[grouping->lines[*most]];
        if (!(here > 0))
            continue;
        if (costs[hotspot] == 0 || line > before ||
            (line == before && all->list.at[i].at.line < all->list.at[*most].at.line))
            *most = i;
        costs[hotspot] += here;
    }
    for (uint32_t h = 0; h < grouping->n_hotspots; h++) {
        if (!(costs[h] > 0))
            continue;
        vec_push(&list, hotspot_of(db, &all->list.at[numbers[h]], by_loop));
        numbers[h] = (uint32_t)list.n - 1;
        list.at[numbers[h]].cost = costs[h];
    }
    for (size_t c = 0; c < grouping->list.n; c++) {
        const struct callee *callee = &grouping->list.at[c];
        struct hotspot *hotspot = of_callees[c] > 0 ? &list.at[numbers[callee->hotspot]] : NULL;
        if (!hotspot || of_callees[c] < hotspot->cost / 2)
            continue;
        hotspot->callee = callee->procedure;
        hotspot->callee_module = callee->module;
    }
    return list;
}

/* Those of each time, not sorted. */
static void group_each(const struct database *db, const struct places_of_times *all, bool by_loop, hotspot_list *lists)
{
    struct grouping grouping = group(all, by_loop);
    for (size_t t = 0; t < all->n_times; t++)
        lists[t] = hotspots_of_time(db, all, t, &grouping, by_loop);
    free(grouping.hotspots);
    free(grouping.lines);
    free(grouping.callees);
    vec_free(&grouping.list);
}

void hotspots_of_each(const struct database *db, const struct places_of_times *all, hotspot_list *lists)
{
    group_each(db, all, true, lists);
    for (size_t t = 0; t < all->n_times; t++)
        vec_sort(&lists[t], compare);
}

/* ---- Of a row ---- */

/* The callers; one that calls from several lines is several rows. */
static hotspot_list callers_of(struct view *view, uint32_t row, size_t metric)
{
    hotspot_list list = {0};
    view_expand(view, row);
    for (uint32_t i = 0; i < view_row(view, row)->n_children; i++) {
        uint32_t child = view_child(view, row, i);
        const struct row *at = view_row(view, child);
        struct source_line call = {at->call_file, at->call_line};
        struct hotspot caller = {.procedure = at->place,
                                 .owner = code_owner(view, child),
                                 .at = known_line(view->db, call, at->place),
                                 .around = {NOTHING, 0},
                                 .callee = NOTHING,
                                 .cost = view_cost(view, child, metric, EXCLUSIVE)};
        if (caller.cost > 0)
            vec_push(&list, caller);
    }
    return list;
}

/* The hotspots in each of n metrics, not sorted. The caller frees each list. */
static void list_each(struct view *view, uint32_t row, const size_t *metrics, size_t n, bool by_loop,
                      hotspot_list *lists)
{
    struct time_metric times[MOST_TIMES] = {0};
    struct places_of_times places = {.n_times = n};
    uint8_t kind = view_row(view, row)->kind;
    bool is_bottom_up = view->class == &bottomup_class;
    /* In the flat view procedures do not contain what they call. */
    bool has_places = view->class != &flat_class || kind == KIND_ROOT || kind == KIND_MODULE || kind == KIND_FILE;
    assert(row < view->rows.n && n <= MOST_TIMES);
    for (size_t i = 0; i < n; i++)
        times[i] = (struct time_metric){metrics[i], NO_METRIC};
    if (!is_bottom_up && has_places)
        places = places_of_times_find(view, row, times, n, false);
    group_each(view->db, &places, by_loop, lists);
    places_of_times_free(&places);
    for (size_t i = 0; i < n && is_bottom_up; i++)
        if (metrics[i] != NO_METRIC)
            lists[i] = callers_of(view, row, metrics[i]);
}

hotspot_list hotspots_all(struct view *view, uint32_t row, size_t metric, bool by_loop)
{
    hotspot_list list;
    list_each(view, row, &metric, 1, by_loop, &list);
    vec_sort(&list, compare);
    return list;
}

void hotspots_find_each(struct view *view, uint32_t row, const size_t *metrics, size_t n, struct hotspots *found)
{
    hotspot_list lists[MOST_TIMES];
    list_each(view, row, metrics, n, true, lists);
    for (size_t i = 0; i < n; i++) {
        found[i].n = lists[i].n < MOST_HOTSPOTS ? lists[i].n : MOST_HOTSPOTS;
        for (size_t k = 0; k < found[i].n; k++) {
            struct hotspot *first = &lists[i].at[k];
            for (struct hotspot *at = first; at < lists[i].at + lists[i].n; at++)
                if (compare(at, first) < 0) {
                    found[i].at[k] = *first;
                    *first = *at;
                    *at = found[i].at[k];
                }
            found[i].at[k] = *first;
        }
        vec_free(&lists[i]);
    }
}

struct hotspots hotspots_find(struct view *view, uint32_t row, size_t metric)
{
    struct hotspots found;
    hotspots_find_each(view, row, &metric, 1, &found);
    return found;
}

/* ---- Callers of a helper ---- */

/* Shares of the helper's cost that its own code and its caller have, and of its work that others have: a judgement. */
#define NEARLY_ALL      0.8
#define LEAST_OF_OTHERS 0.1

struct caller_search {
    const struct view *view;
    const struct nodes *nodes;
    uint32_t helper;
    bool *begins; /* by procedure: threads begin there */
};

/* What the helper costs in nodes from `first` to before `end` where the thread came to it from `caller`, as it has if
 * `is_inside`; NOTHING: from anywhere. */
static double cost_from(const struct caller_search *search, uint32_t caller, size_t metric, uint32_t first,
                        uint32_t end, bool is_inside)
{
    const struct nodes *nodes = search->nodes;
    double cost = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t id = nodes->place[i];
        bool is_procedure = is_procedure_kind(nodes->kind[i]);
        if (!is_procedure || (id != search->helper && !search->begins[id] && (id != caller || is_inside)))
            continue;
        if (id != search->helper)
            cost += cost_from(search, caller, metric, i + 1, nodes->end[i], caller == NOTHING || id == caller);
        else if (is_inside)
            cost += view_node_value(search->view, i, metric, INCLUSIVE);
        i = nodes->end[i] - 1; /* recursion counts once */
    }
    return cost;
}

bool hotspot_find_caller(struct view *view, const struct hotspot *hotspot, size_t metric, size_t work,
                         struct hotspot *caller)
{
    struct database *db = view->db;
    const struct nodes *nodes = database_nodes(db);
    uint32_t helper = hotspot->procedure, longest = 0, n = database_n_procedures(db);
    if (helper == NOTHING)
        return false;
    autofree bool *begins = mem_alloc(n), *is_tried = mem_alloc(n);
    struct caller_search search = {view, nodes, helper, begins};
    char buffer[NAME_SIZE];
    double most = -1;
    for (uint32_t id = 0; id < n; id++)
        begins[id] = begins_thread(database_procedure_name(db, id, buffer));
    for (uint32_t i = 0; i < nodes->n; i++) {
        bool is_helper = is_procedure_kind(nodes->kind[i]) && nodes->place[i] == helper;
        double cost = is_helper ? view_node_value(view, i, metric, INCLUSIVE) : -1;
        longest = cost > most ? i : longest;
        most = fmax(cost, most);
    }
    double all = cost_from(&search, NOTHING, metric, 0, nodes->n, true);
    double all_work = cost_from(&search, NOTHING, work, 0, nodes->n, true);
    if (!(all_work > 0) || hotspot->cost < NEARLY_ALL * all) /* what it calls, or other loops in it, have a part */
        return false;
    is_tried[helper] = true;
    for (uint32_t node = longest, call; call = nodes_call_site(nodes, node), node = nodes_caller(nodes, node),
                  is_procedure_kind(nodes->kind[node]) && !begins[nodes->place[node]];) {
        uint32_t id = nodes->place[node];
        if (is_tried[id] || code_owner_of_procedure(db, id, database_procedure(db, id).module) != CODE_OWN)
            continue;
        is_tried[id] = true;
        double cost = cost_from(&search, id, metric, 0, nodes->n, false);
        double others = all_work - cost_from(&search, id, work, 0, nodes->n, false);
        if (cost < NEARLY_ALL * all || others < LEAST_OF_OTHERS * all_work)
            continue;
        struct source_line at = {nodes->place[call], nodes->line[call]}, none = {NOTHING, 0};
        *caller = (struct hotspot){id, CODE_OWN, known_line(db, at, id), .around = none, .callee = NOTHING,
                                   .cost = hotspot->cost * cost / all};
        return true;
    }
    return false;
}

/* ---- In words ---- */

void hotspot_describe(const struct database *db, const struct hotspot *hotspot, bool ascii, struct text *text)
{
    bool has_name = hotspot->procedure != NOTHING, has_line = hotspot->at.file != NOTHING && hotspot->at.line;
    autofree struct text name = {0};
    if (has_name)
        label_in_sentence(db, hotspot->procedure, &name);
    if (hotspot->is_loop) {
        bool is_construct = strstr(text_string(&name), " @ "); /* "parallel @ m.c:8" */
        text_add(text, "the loop at ");
        describe_file_line(db, hotspot->at.file, hotspot->at.line, ascii, text);
        text_add(text, has_name && !is_construct ? " of " : "");
        if (is_construct)
            text_clear(&name);
    }
    text_add_clean(text, text_string(&name), ascii);
    if (!hotspot->is_loop && has_line) {
        text_add(text, has_name ? ", " : "");
        describe_file_line(db, hotspot->at.file, hotspot->at.line, ascii, text);
    }
    if (!has_name && !has_line && !hotspot->is_loop)
        text_add(text, "unknown code");
    if (!hotspot->is_loop && hotspot->around.file != NOTHING) {
        text_add(text, ", in the loop at ");
        describe_file_line(db, hotspot->around.file, hotspot->around.line, ascii, text);
    }
}

/* "numpy/__init__.py" of /usr/lib/python3/dist-packages/numpy/__init__.py. */
static const char *with_folder(const char *path)
{
    const char *at = path_name(path);
    while (at > path && at[-1] == '/')
        at--;
    while (at > path && at[-1] != '/')
        at--;
    return at;
}

void callee_describe(const struct database *db, uint32_t procedure, uint32_t module, struct text *text)
{
    char buffer[NAME_SIZE];
    const char *path = database_module_path(db, database_procedure(db, procedure).module);
    const char *library = path ? path_name(path) : "";
    if (strncmp(library, "libc.", 5) == 0 || strncmp(library, "libm.", 5) == 0)
        add_called_name(database_procedure_name(db, procedure, buffer), text);
    else
        label_in_sentence(db, procedure, text);
    const char *file = database_file_path(db, database_procedure(db, procedure).file);
    if (file && strcmp(database_procedure_name(db, procedure, buffer), "<module>") == 0)
        text_printf(text, " of %s", with_folder(file));
    path = database_module_path(db, module);
    library = path ? path_name(path) : "";
    const char *end = strstr(library, ".so"); /* "libm" of /lib/x86_64-linux-gnu/libm.so.6 */
    if ((end || *library == '[') && database_procedure_has_name(db, procedure))
        text_printf(text, " (%.*s)", (int)(end ? (size_t)(end - library) : strlen(library)), library);
}

void hotspot_describe_callee(const struct database *db, const struct hotspot *hotspot, struct text *text)
{
    if (hotspot->callee == NOTHING)
        return;
    text_add(text, ", most of it in ");
    callee_describe(db, hotspot->callee, hotspot->callee_module, text);
}
