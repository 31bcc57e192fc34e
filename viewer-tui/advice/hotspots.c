#include "viewer-tui/advice/hotspots.h"

#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <string.h>

/* ---- Grouping ---- */

/* A callee of a hotspot and its cost, while places are grouped. */
struct callee_cost {
    uint32_t hotspot, callee, module;
    double cost;
};

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

hotspot_list hotspots_of(const struct database *db, const struct time_places *places, bool by_loop)
{
    hotspot_list list = {0};
    autofree struct idmap numbers = {0}, callee_numbers = {0};
    autofree VEC(struct callee_cost) callees = {0};
    for (size_t i = 0; i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        struct hotspot new = hotspot_of(db, place, by_loop);
        uint64_t loop = new.is_loop ? (uint64_t) new.at.file << 32 | new.at.line : UINT64_MAX;
        uint32_t number = idmap_number(&numbers, new.procedure, loop, (uint32_t)list.n);
        if (number == list.n)
            vec_push(&list, new);
        list.at[number].cost += place->seconds;
        uint32_t callee = idmap_number(&callee_numbers, number, place->callee, (uint32_t)callees.n);
        if (callee == callees.n)
            vec_push(&callees, (struct callee_cost){number, place->callee, place->callee_module, 0});
        callees.at[callee].cost += place->seconds;
    }
    for (size_t i = 0; i < callees.n; i++) {
        const struct callee_cost *callee = &callees.at[i];
        struct hotspot *hotspot = &list.at[callee->hotspot];
        if (callee->callee == NOTHING || callee->cost < hotspot->cost / 2)
            continue;
        hotspot->callee = callee->callee;
        hotspot->callee_module = callee->module;
    }
    vec_sort(&list, compare);
    return list;
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
    vec_sort(&list, compare);
    return list;
}

hotspot_list hotspots_all(struct view *view, uint32_t row, size_t metric, bool by_loop)
{
    hotspot_list none = {0};
    assert(row < view->rows.n && metric < view->metrics->n);
    uint8_t kind = view_row(view, row)->kind;
    if (view->class == &bottomup_class)
        return callers_of(view, row, metric);
    /* In the flat view procedures do not contain what they call. */
    if (view->class == &flat_class && kind != KIND_ROOT && kind != KIND_MODULE && kind != KIND_FILE)
        return none;
    struct time_places places = time_places_find(view, row, (struct time_metric){metric, NO_METRIC});
    hotspot_list list = hotspots_of(view->db, &places, by_loop);
    time_places_free(&places);
    return list;
}

struct hotspots hotspots_find(struct view *view, uint32_t row, size_t metric)
{
    autofree hotspot_list all = hotspots_all(view, row, metric, true);
    struct hotspots chosen = {0};
    for (; chosen.n < MOST_HOTSPOTS && chosen.n < all.n; chosen.n++)
        chosen.at[chosen.n] = all.at[chosen.n];
    return chosen;
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
