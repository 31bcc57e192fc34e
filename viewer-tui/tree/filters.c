#include "viewer-tui/tree/filters.h"

#include "viewer-tui/base/shorten.h"
#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct filter_state no_filters;

static const struct filter_state *state_in_force(const struct filters *filters)
{
    return filters->now ? &filters->states.at[filters->now - 1] : &no_filters;
}

static void free_states_from(struct filters *filters, size_t first)
{
    while (filters->states.n > first) {
        filters->states.n--;
        vec_free(&filters->states.at[filters->states.n].in_force);
    }
}

void filters_free(struct filters *filters)
{
    free_states_from(filters, 0);
    vec_free(&filters->states);
    for (size_t i = 0; i < filters->all.n; i++) {
        autofree struct filter *filter = filters->all.at[i];
        pattern_free(filter->pattern);
        free(filter->scope.name);
        free(filter->scope.file);
        free(filter->scope.module);
        row_cache_free(&filter->scope.cache);
    }
    vec_free(&filters->all);
    *filters = (struct filters){0};
}

size_t filters_n(const struct filters *filters)
{
    return state_in_force(filters)->in_force.n;
}

struct filter *filters_at(const struct filters *filters, size_t i)
{
    assert(i < filters_n(filters));
    return filters->all.at[state_in_force(filters)->in_force.at[i]];
}

static struct filter *find(const struct filters *filters, enum filter_kind kind)
{
    for (size_t i = 0; i < filters_n(filters); i++)
        if (filters_at(filters, i)->kind == kind)
            return filters_at(filters, i);
    return NULL;
}

struct filter *filters_only(const struct filters *filters)
{
    return find(filters, FILTER_ONLY);
}

uint64_t filters_number(const struct filters *filters)
{
    return state_in_force(filters)->number;
}

bool filters_allow_sorting(const struct filters *filters, struct sorting a, struct sorting b)
{
    return !find(filters, FILTER_SHARE) || (a.metric == b.metric && a.part == b.part);
}

/* Begins a change: adds a copy of the state in force, without the filter `except` (may be NULL). */
static struct filter_state *change(struct filters *filters, const struct filter *except)
{
    struct filter_state state = {.number = ++filters->last_number};
    const struct filter_state *before = state_in_force(filters);
    for (size_t i = 0; i < before->in_force.n; i++)
        if (filters->all.at[before->in_force.at[i]] != except)
            vec_push(&state.in_force, before->in_force.at[i]);
    free_states_from(filters, filters->now);
    vec_push(&filters->states, state);
    return &filters->states.at[filters->now++];
}

/* Adds a filter, which replaces `before` unless that is NULL. */
static const struct filter *add(struct filters *filters, struct filter filter,
                                const struct filter *before)
{
    struct filter *added = mem_alloc(sizeof *added);
    *added = filter;
    struct filter_state *state = change(filters, before);
    vec_push(&state->in_force, (uint32_t)filters->all.n);
    vec_push(&filters->all, added);
    return added;
}

static void take_away(struct filters *filters, const struct filter *filter)
{
    if (filter)
        change(filters, filter);
}

const struct filter *filters_match(struct filters *filters, const char *text)
{
    if (*text == '!' && text[1])
        return add(filters, (struct filter){FILTER_WITHOUT, .pattern = pattern_new(text + 1)},
                   NULL);
    const struct filter *before = filters_only(filters);
    if (*text)
        return add(filters, (struct filter){FILTER_ONLY, .pattern = pattern_new(text)}, before);
    take_away(filters, before);
    return NULL;
}

void filters_set_share(struct filters *filters, double percent)
{
    const struct filter *before = find(filters, FILTER_SHARE);
    if (percent > 0)
        add(filters, (struct filter){FILTER_SHARE, .percent = percent}, before);
    else
        take_away(filters, before);
}

static enum scope_kind kind_of(const struct row *row)
{
    return row->kind == KIND_INLINED ? KIND_PROCEDURE : row->kind;
}

static bool is_procedure(const struct row *row)
{
    return kind_of(row) == KIND_PROCEDURE;
}

/* The module of a procedure or module; "" for other rows, which have that of a row above. */
static const char *module_of(const struct view *view, uint32_t row)
{
    const struct row *at = view_row(view, row);
    uint32_t module = NOTHING;
    if (is_procedure(at))
        module = database_procedure(view->db, at->place).module;
    else if (at->kind == KIND_MODULE)
        module = at->place;
    return text_or_empty(database_module_path(view->db, module));
}

void filters_add_scope(struct filters *filters, enum filter_kind kind, const struct view *view,
                       uint32_t row)
{
    view = view_origin(view, &row);
    struct filter filter = {.kind = kind, .scope.kind = kind_of(view_row(view, row))};
    filter.scope.name = label_copy(view, row);
    filter.scope.file = mem_strdup(text_or_empty(label_path(view, row, &filter.scope.line)));
    filter.scope.module = mem_strdup(module_of(view, row));
    add(filters, filter, NULL);
}

void filters_remove(struct filters *filters, size_t i)
{
    change(filters, filters_at(filters, i));
}

void filters_clear(struct filters *filters)
{
    if (filters_n(filters))
        change(filters, NULL)->in_force.n = 0;
}

bool filters_undo(struct filters *filters)
{
    if (filters->now == 0)
        return false;
    filters->now--;
    return true;
}

bool filters_redo(struct filters *filters)
{
    if (filters->now == filters->states.n)
        return false;
    filters->now++;
    return true;
}

void filter_describe(const struct filter *filter, bool ascii, struct text *out)
{
    static const char *const words[] = {
        [FILTER_ONLY] = "&",           [FILTER_WITHOUT] = "&!",
        [FILTER_ELIDE] = "without ",   [FILTER_HIDE] = "without all of ",
        [FILTER_FOLD] = "not inside ", [FILTER_SHARE] = "at least "};
    const struct scope *scope = &filter->scope;
    bool is_path = scope->kind == KIND_FILE || scope->kind == KIND_MODULE;
    text_add(out, words[filter->kind]);
    if (filter->pattern)
        text_add_clean(out, filter->pattern->text, ascii);
    else if (filter->kind == FILTER_SHARE)
        text_printf(out, "%g%%", filter->percent);
    else if (is_path)
        text_printf(out, "%s ", label_kind(scope->kind));
    if (scope->name)
        text_add_clean(out, is_path ? path_name(scope->name) : scope->name, ascii);
}

void filter_describe_short(const struct filter *filter, bool ascii, size_t columns,
                           struct text *out)
{
    autofree struct text whole = {0};
    filter_describe(filter, ascii, &whole);
    shorten_name(text_string(&whole), columns, ascii, out);
}

/* Whether a procedure is in the scope, a file or module, which has no row in this view. */
static bool is_part_of(const struct scope *scope, const struct view *view, uint32_t row)
{
    if (view->class == &flat_class || !is_procedure(view_row(view, row)))
        return false;
    if (scope->kind == KIND_FILE)
        return *scope->file && strcmp(scope->file, text_or_empty(label_path(view, row, NULL))) == 0;
    return scope->kind == KIND_MODULE && *scope->module &&
           strcmp(scope->module, module_of(view, row)) == 0;
}

static bool describes(const struct scope *scope, const struct view *view, uint32_t row)
{
    uint32_t line;
    if (kind_of(view_row(view, row)) != scope->kind)
        return is_part_of(scope, view, row);
    if (strcmp(scope->file, text_or_empty(label_path(view, row, &line))) != 0 || line != scope->line ||
        strcmp(scope->module, module_of(view, row)) != 0)
        return false;
    autofree char *name = label_copy(view, row);
    bool is_same = strcmp(scope->name, name) == 0;
    return is_same;
}

static bool is_scope(struct scope *scope, const struct view *view, uint32_t number)
{
    view = view_origin(view, &number);
    const struct row *row = view_row(view, number);
    uint64_t what = (uint64_t)row->kind << 32 | row->place;
    uint32_t is_same = row_cache_get(&scope->cache, view, what, row->line);
    if (is_same == IDMAP_NONE) {
        is_same = describes(scope, view, number);
        row_cache_put(&scope->cache, view, what, row->line, is_same);
    }
    return is_same != 0;
}

static enum visibility visibility_by(struct filter *filter, const struct view *view, uint32_t row)
{
    switch (filter->kind) {
    case FILTER_ONLY: return ROW_SHOWN;
    case FILTER_WITHOUT:
        return pattern_matches(filter->pattern, view, row) ? ROW_ELIDED : ROW_SHOWN;
    case FILTER_ELIDE: return is_scope(&filter->scope, view, row) ? ROW_ELIDED : ROW_SHOWN;
    case FILTER_HIDE: return is_scope(&filter->scope, view, row) ? ROW_HIDDEN : ROW_SHOWN;
    case FILTER_FOLD: return is_scope(&filter->scope, view, row) ? ROW_FOLDED : ROW_SHOWN;
    default: /* by the percentage that the screen shows, as --min-percent does */
        return view_share(view, row, view_judged_by(view), SHARE_OF_WHOLE) < filter->percent / 100 ? ROW_HIDDEN
                                                                                                   : ROW_SHOWN;
    }
}

/* The filter that hides most decides. A row that is both folded and elided is hidden. */
enum visibility filters_visibility(const struct filters *filters, const struct view *view,
                                   uint32_t row)
{
    enum visibility visibility = ROW_SHOWN;
    for (size_t i = 0; i < filters_n(filters) && visibility != ROW_HIDDEN; i++) {
        enum visibility next = visibility_by(filters_at(filters, i), view, row);
        bool leaves_nothing = (visibility == ROW_FOLDED && next == ROW_ELIDED) ||
                              (visibility == ROW_ELIDED && next == ROW_FOLDED);
        if (leaves_nothing)
            visibility = ROW_HIDDEN;
        else if (next > visibility)
            visibility = next;
    }
    return visibility;
}
