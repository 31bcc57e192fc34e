#include "viewer-tui/advice/hotspots.h"

#include "viewer-tui/advice/user-code.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/view.h"
#include "viewer-tui/tree/walk.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* The base name of tagged source files, before ":KIND". */
#define OVERHEAD_TAG "hpctoolkit:parallel-overhead"

/* The cost of a procedure in calls from the same callers. */
struct calls_from {
    uint32_t procedure;
    uint32_t callers[MOST_CALLERS];
    double cost;
};

/* Costs by procedure, and by procedure and callers. */
struct hotspot_collection {
    struct hotspot_list procedures;
    VEC(struct calls_from) calls;
    struct idmap procedure_numbers, call_numbers; /* -> index in `procedures`, `calls` */
    uint32_t row;                                 /* whose hotspots these are */
    size_t metric;
    double in_procedures; /* cost of the outermost procedures in the row */
};

/* The nearest procedure above a row; 0 if there is none. */
static uint32_t procedure_above(const struct view *view, uint32_t row)
{
    do
        row = view_row(view, row)->parent;
    while (row != 0 && !row_is_procedure(view_row(view, row)));
    return row;
}

static bool is_tagged(const struct view *view, uint32_t row)
{
    struct procedure procedure = database_procedure(view->db, view_row(view, row)->place);
    const char *path = database_file_path(view->db, procedure.file);
    const char *name = path ? path_name(path) : "";
    size_t length = strlen(OVERHEAD_TAG);
    return strncmp(name, OVERHEAD_TAG, length) == 0 && (name[length] == ':' || !name[length]);
}

/* Whether a row is not below `first`, where the walk began. Rows above were made earlier, so they
 * have smaller numbers. */
static bool is_outside(uint32_t row, uint32_t first)
{
    return row == 0 || row < first;
}

/* The nearest tagged procedure, from a row upwards, with nothing between them but the library of
 * the row; NOTHING if there is none below `first`. */
static uint32_t tagged_above(const struct view *view, uint32_t row, uint32_t first)
{
    if (is_tagged(view, row))
        return row;
    uint32_t library = label_module(view, row), above = procedure_above(view, row);
    while (!is_outside(above, first) && !is_tagged(view, above) &&
           label_module(view, above) == library)
        above = procedure_above(view, above);
    bool is_found =
        !is_outside(above, first) && is_tagged(view, above) && label_module(view, above) != library;
    return is_found ? above : NOTHING;
}

/* The procedure to which the cost of the one at `row` is attributed. */
static uint32_t hotspot_of(const struct view *view, uint32_t row, uint32_t first)
{
    uint32_t tagged = tagged_above(view, row, first);
    if (tagged == NOTHING)
        return row;
    uint32_t above = tagged;
    while (!is_outside(above, first) && is_tagged(view, above))
        above = procedure_above(view, above);
    return is_outside(above, first) ? row : above;
}

static void add_procedure(struct hotspot_collection *collection, const struct hotspot *hotspot)
{
    struct idmap *numbers = &collection->procedure_numbers;
    uint32_t number = idmap_get(numbers, hotspot->procedure, 0);
    if (number == IDMAP_NONE) {
        idmap_put(numbers, hotspot->procedure, 0, (uint32_t)collection->procedures.n);
        vec_push(&collection->procedures, *hotspot);
    } else {
        collection->procedures.at[number].cost += hotspot->cost;
    }
}

static void add_calls(struct hotspot_collection *collection, const struct hotspot *hotspot)
{
    struct idmap *numbers = &collection->call_numbers;
    uint64_t procedure_and_caller = (uint64_t)hotspot->procedure << 32 | hotspot->callers[0];
    uint32_t number = idmap_get(numbers, procedure_and_caller, hotspot->callers[1]);
    if (number == IDMAP_NONE) {
        struct calls_from calls = {.procedure = hotspot->procedure, .cost = hotspot->cost};
        memcpy(calls.callers, hotspot->callers, sizeof calls.callers);
        idmap_put(numbers, procedure_and_caller, hotspot->callers[1],
                  (uint32_t)collection->calls.n);
        vec_push(&collection->calls, calls);
    } else {
        collection->calls.at[number].cost += hotspot->cost;
    }
}

/* User code is looked for among so many calls outwards: a whole program may be system code. */
#define MOST_OUTWARDS 24

/* Finds the callers of the procedure at `row`, without repetitions; for user code also without the
 * runtime's procedures. If all of these are a system library's, the last one is the nearest user
 * code: that is what the reader can change. */
static void find_callers(const struct view *view, uint32_t row, uint32_t callers[MOST_CALLERS])
{
    uint32_t last = view_row(view, row)->place;
    bool is_of_runtime = is_tagged(view, row), has_user_code = is_user_code(view, row, NULL);
    unsigned n = 0, calls = 0;
    for (uint32_t above = procedure_above(view, row);
         above != 0 && (n < MOST_CALLERS || (!has_user_code && calls < MOST_OUTWARDS));
         above = procedure_above(view, above), calls++) {
        uint32_t caller = view_row(view, above)->place;
        if (!is_of_runtime && is_tagged(view, above))
            continue;
        bool is_users = is_user_code(view, above, NULL);
        if (caller != last && n < MOST_CALLERS)
            callers[n++] = caller;
        else if (is_users)
            callers[MOST_CALLERS - 1] = caller;
        has_user_code |= is_users;
        last = caller;
    }
    while (n < MOST_CALLERS)
        callers[n++] = NOTHING;
}

/* Adds a row of the walk if it is a procedure. Costs outside of the outermost procedures are the
 * own costs of the row where the walk began. */
static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    (void)level;
    struct hotspot_collection *collection = context;
    const struct row *row = view_row(view, number);
    if (!row_is_procedure(row))
        return;
    bool is_outermost =
        number == collection->row || is_outside(procedure_above(view, number), collection->row);
    if (is_outermost)
        collection->in_procedures += view_cost(view, number, collection->metric, INCLUSIVE);
    double cost = view_cost(view, number, collection->metric, EXCLUSIVE);
    if (cost <= 0)
        return;
    number = hotspot_of(view, number, collection->row);
    uint32_t place = view_row(view, number)->place;
    struct procedure procedure = database_procedure(view->db, place);
    struct hotspot hotspot = {
        .procedure = place, .file = procedure.file, .line = procedure.line, .cost = cost};
    find_callers(view, number, hotspot.callers);
    add_procedure(collection, &hotspot);
    add_calls(collection, &hotspot);
}

/* Visits everything below the row that has some of the cost. */
static void collect_below(struct view *view, struct hotspot_collection *collection)
{
    struct limits limits = {.depth = NO_DEPTH_LIMIT,
                            .share = DBL_MIN,
                            .by = {.metric = collection->metric, .part = INCLUSIVE}};
    struct visitor visitor = {.enter = enter, .context = collection};
    walk_view(view, collection->row, &limits, &visitor);
}

/* Adds the own cost of a loop or statement, which is outside of the procedures in it. */
static void add_own(struct view *view, struct hotspot_collection *collection)
{
    const struct row *row = view_row(view, collection->row);
    if (row->kind != KIND_LOOP && row->kind != KIND_STATEMENT)
        return;
    double whole = view_cost(view, collection->row, collection->metric, INCLUSIVE);
    struct hotspot itself = {.procedure = NOTHING,
                             .callers = {NOTHING, NOTHING},
                             .file = row->place,
                             .line = row->line,
                             .cost = whole - collection->in_procedures};
    add_procedure(collection, &itself);
}

/* Adds the callers; one that calls from several lines is several rows. */
static void collect_callers(struct view *view, struct hotspot_collection *collection)
{
    view_start_walk(view);
    view_expand(view, collection->row);
    uint32_t n = view_row(view, collection->row)->n_children;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t child = view_child(view, collection->row, i);
        const struct row *row = view_row(view, child);
        struct procedure procedure = database_procedure(view->db, row->place);
        bool has_place = row->call_line != 0;
        struct hotspot caller = {.procedure = row->place,
                                 .callers = {NOTHING, NOTHING},
                                 .file = has_place ? row->call_file : procedure.file,
                                 .line = has_place ? row->call_line : procedure.line,
                                 .cost = view_cost(view, child, collection->metric, EXCLUSIVE)};
        vec_push(&collection->procedures, caller);
    }
}

/* Whether the row contains what is below it. In the flat view procedures do not contain what they
 * call. */
static bool is_divided(const struct view *view, uint32_t row)
{
    uint8_t kind = view_row(view, row)->kind;
    return view->class != &flat_class || kind == KIND_ROOT || kind == KIND_MODULE ||
           kind == KIND_FILE;
}

/* By cost, the largest first; then in the order of procedures and lines in the database. */
static int compare(const void *left, const void *right)
{
    const struct hotspot *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? 1 : -1;
    if (a->procedure != b->procedure)
        return a->procedure < b->procedure ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Chooses the callers from which most of each procedure's cost comes. */
static void choose_callers(struct hotspot_collection *collection)
{
    const struct calls_from **most = mem_alloc((collection->procedures.n + 1) * sizeof(*most));
    for (size_t i = 0; i < collection->calls.n; i++) {
        const struct calls_from *calls = &collection->calls.at[i];
        uint32_t number = idmap_get(&collection->procedure_numbers, calls->procedure, 0);
        struct hotspot *hotspot = &collection->procedures.at[number];
        hotspot->has_other_callers = most[number] != NULL;
        if (!most[number] || calls->cost > most[number]->cost)
            most[number] = calls;
        memcpy(hotspot->callers, most[number]->callers, sizeof hotspot->callers);
    }
    free(most);
}

static void collect(struct view *view, struct hotspot_collection *collection)
{
    if (view->class == &bottomup_class) {
        collect_callers(view, collection);
    } else if (is_divided(view, collection->row)) {
        collect_below(view, collection);
        choose_callers(collection);
        add_own(view, collection);
    }
    if (collection->procedures.n)
        qsort(collection->procedures.at, collection->procedures.n,
              sizeof *collection->procedures.at, compare);
}

struct hotspot_list hotspots_all(struct view *view, uint32_t row, size_t metric)
{
    assert(row < view->rows.n && metric < view->metrics->n);
    struct hotspot_collection collection = {.row = row, .metric = metric};
    collect(view, &collection);
    vec_free(&collection.calls);
    idmap_free(&collection.procedure_numbers);
    idmap_free(&collection.call_numbers);
    return collection.procedures;
}

struct hotspots hotspots_find(struct view *view, uint32_t row, size_t metric)
{
    struct hotspot_list all = hotspots_all(view, row, metric);
    struct hotspots chosen = {0};
    while (chosen.n < MOST_HOTSPOTS && chosen.n < all.n && all.at[chosen.n].cost > 0) {
        chosen.at[chosen.n] = all.at[chosen.n];
        chosen.n++;
    }
    vec_free(&all);
    return chosen;
}

/* ---- In words ---- */

static void add_procedure_name(struct text *text, const struct database *db, uint32_t procedure,
                               bool ascii)
{
    struct text name = {0};
    label_in_sentence(db, procedure, &name);
    text_add_clean(text, text_string(&name), ascii);
    vec_free(&name);
}

static void add_place(struct text *text, const struct database *db, const struct hotspot *hotspot,
                      bool ascii)
{
    struct text place = {0};
    label_file_line(db, hotspot->file, hotspot->line, &place);
    text_add_clean(text, text_string(&place), ascii);
    vec_free(&place);
}

/* Adds ", called from free, from free_matrix". */
static void add_callers(struct text *text, const struct database *db, const struct hotspot *hotspot,
                        bool ascii)
{
    const char *how = hotspot->has_other_callers ? ", mostly called from " : ", called from ";
    for (int i = 0; i < MOST_CALLERS && hotspot->callers[i] != NOTHING; i++) {
        text_add(text, i == 0 ? how : ", from ");
        add_procedure_name(text, db, hotspot->callers[i], ascii);
    }
}

void hotspot_describe(const struct database *db, const struct hotspot *hotspot, bool ascii,
                      struct text *text)
{
    bool has_name = hotspot->procedure != NOTHING;
    if (has_name)
        add_procedure_name(text, db, hotspot->procedure, ascii);
    if (!has_name || (hotspot->file != NOTHING && hotspot->line)) {
        text_add(text, has_name ? ", " : "");
        add_place(text, db, hotspot, ascii);
    }
    add_callers(text, db, hotspot, ascii);
}
