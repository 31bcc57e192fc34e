#include "viewer-tui/output/export/export-stacks.h"

#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No other frame's costs contain those of this one. */
#define NO_PAYER SIZE_MAX

static bool is_frame(const struct export *export, const struct view *view, uint32_t row)
{
    uint8_t kind = view_row(view, row)->kind;
    if (kind == KIND_ROOT || row == export->tree->root)
        return row != 0;
    return kind == KIND_PROGRAM || kind == KIND_MODULE || kind == KIND_FILE || is_procedure_kind(kind);
}

static bool is_flat(const struct view *view)
{
    uint32_t row = 0;
    return view_origin(view, &row)->class == &flat_class;
}

/* The frame whose costs contain those of a new one. That is the frame above; but in the flat view a
 * procedure's costs do not contain those of code inlined into it, while those of its file and
 * module do. Filters may have removed the latter. */
static size_t payer_of(const struct export *export, const struct view *view, uint32_t row)
{
    size_t payer = export->stack.n;
    for (; payer && view_row(view, row)->kind == KIND_INLINED && is_flat(view); payer--) {
        uint8_t kind = view_row(view, export->stack.at[payer - 1].row)->kind;
        if (kind == KIND_FILE || kind == KIND_MODULE)
            break;
    }
    return payer ? payer - 1 : NO_PAYER;
}

uint32_t export_function_of(struct export *export, uint32_t number)
{
    const struct view *view = export->tree->view;
    const struct row *row = view_row(view, number);
    uint32_t kind = row->kind == KIND_INLINED ? KIND_PROCEDURE : row->kind, origin = number;
    const struct database *db = view_origin(view, &origin)->db;
    uint64_t kind_and_place = (uint64_t)kind << 32 | row->place;
    uint32_t function = idmap_get(&export->numbers, (uintptr_t)db, kind_and_place);
    if (function != IDMAP_NONE)
        return function;
    struct text clean = {0};
    autofree char *name = label_copy(view, number);
    text_add_clean(&clean, name, false);
    struct export_function new = {.name = clean.at};
    new.file = label_path(view, number, &new.line);
    function = (uint32_t) export->functions.n;
    idmap_put(&export->numbers, (uintptr_t)db, kind_and_place, function);
    vec_push(&export->functions, new);
    return function;
}

static void enter(void *context, struct view *view, uint32_t row, uint32_t level)
{
    (void)level;
    struct export *export = context;
    size_t n = export->metrics.n;
    if (!is_frame(export, view, row))
        return;
    size_t payer = payer_of(export, view, row);
    for (size_t i = 0; i < n; i++) {
        double cost = view_cost(view, row, export->metrics.at[i], export->part);
        if (payer != NO_PAYER)
            export->own.at[payer * n + i] -= cost;
        vec_push(&export->own, cost);
    }
    uint32_t function = export_function_of(export, row);
    vec_push(&export->stack, (struct export_frame){.row = row, .function = function});
    if (export->enter)
        export->enter(export);
}

static void leave(void *context, struct view *view, uint32_t row)
{
    struct export *export = context;
    if (!is_frame(export, view, row))
        return;
    export->own.n -= export->metrics.n;
    double *own = export->own.at + export->own.n;
    for (size_t i = 0; i < export->metrics.n; i++)
        if (!(own[i] > 0)) /* rounding can make a difference negative */
            own[i] = 0;
    assert(export->stack.n > 0);
    export->leave(export, own);
    export->stack.n--;
}

double export_factor(const struct export *export, size_t i)
{
    return strcmp(export->tree->view->metrics->at[export->metrics.at[i]].unit, "s") == 0 ? 1e9 : 1;
}

void export_add_sorted(struct export *export)
{
    const struct view *view = export->tree->view;
    const struct metric *metric = &view->metrics->at[view->sorting.metric];
    if (!metric_is_compared(metric))
        vec_push(&export->metrics, view->sorting.metric);
    for (int side = 0; metric_is_compared(metric) && side < SIDES; side++)
        vec_push(&export->metrics, metric->compared.sides[side]);
}

void export_walk(struct export *export)
{
    const struct tree *tree = export->tree;
    struct visitor visitor = {.enter = enter, .leave = leave, .context = export};
    export->part = is_flat(tree->view) ? EXCLUSIVE : tree->view->class->sorted_by;
    walk_visible(tree->filtered, tree->root, &tree->limits, NULL, &visitor);
}

bool export_round(const struct export *export, const double *own, double *values)
{
    bool has_any = false;
    for (size_t i = 0; i < export->metrics.n; i++) {
        values[i] = round(own[i] * export_factor(export, i));
        has_any |= values[i] > 0;
    }
    return has_any;
}

void export_free(struct export *export)
{
    for (size_t i = 0; i < export->functions.n; i++)
        free(export->functions.at[i].name);
    vec_free(&export->functions);
    vec_free(&export->metrics);
    vec_free(&export->stack);
    vec_free(&export->own);
    idmap_free(&export->numbers);
}
