#include "viewer-tui/output/export/export-stacks.h"

#include "viewer-tui/tree/label.h"

#include <stdlib.h>
#include <string.h>

/* No other frame's costs contain those of this one. */
#define NO_PAYER SIZE_MAX

struct walking {
    const size_t *metrics;
    size_t n;
    uint32_t root;
    enum cost_part part;
    const struct stack_visitor *visitor;
    VEC(uint32_t) rows; /* of the open frames */
    VEC(double) own;    /* n for each of them */
};

static bool is_frame(const struct walking *walking, const struct view *view, uint32_t row)
{
    if (row == walking->root && row != 0)
        return true;
    switch (view_row(view, row)->kind) {
    case KIND_ROOT: return row != 0;
    case KIND_PROGRAM:
    case KIND_MODULE:
    case KIND_FILE:
    case KIND_PROCEDURE:
    case KIND_INLINED: return true;
    default: return false;
    }
}

static bool is_flat(const struct view *view)
{
    uint32_t row = 0;
    return view_origin(view, &row)->class == &flat_class;
}

static bool has_files_costs(const struct view *view, uint32_t row)
{
    uint8_t kind = view_row(view, row)->kind;
    return kind == KIND_FILE || kind == KIND_MODULE;
}

/* The frame whose costs contain those of a new one. That is the frame above; but in the flat view a
 * procedure's costs do not contain those of code inlined into it, while those of its file and
 * module do. Filters may have removed the latter. */
static size_t payer_of(const struct walking *walking, const struct view *view, uint32_t row)
{
    size_t payer = walking->rows.n;
    if (view_row(view, row)->kind == KIND_INLINED && is_flat(view))
        while (payer && !has_files_costs(view, walking->rows.at[payer - 1]))
            payer--;
    return payer ? payer - 1 : NO_PAYER;
}

static void enter(void *context, struct view *view, uint32_t row, uint32_t level)
{
    (void)level;
    struct walking *walking = context;
    if (!is_frame(walking, view, row))
        return;
    size_t payer = payer_of(walking, view, row);
    for (size_t i = 0; i < walking->n; i++) {
        double cost = view_cost(view, row, walking->metrics[i], walking->part);
        if (payer != NO_PAYER)
            walking->own.at[payer * walking->n + i] -= cost;
        vec_push(&walking->own, cost);
    }
    vec_push(&walking->rows, row);
    walking->visitor->enter(walking->visitor->context, view, row);
}

static void leave(void *context, struct view *view, uint32_t row)
{
    struct walking *walking = context;
    if (!is_frame(walking, view, row))
        return;
    walking->rows.n--;
    walking->own.n -= walking->n;
    double *own = walking->own.at + walking->own.n;
    for (size_t i = 0; i < walking->n; i++)
        if (!(own[i] > 0)) /* Rounding can make a difference negative. */
            own[i] = 0;
    walking->visitor->leave(walking->visitor->context, view, row, own);
}

size_t stacks_metrics(const struct tree *tree, size_t metrics[SIDES])
{
    size_t sorted = tree->view->sorting.metric;
    const struct metric *metric = &tree->view->metrics->at[sorted];
    metrics[0] = sorted;
    if (!metric_is_compared(metric))
        return 1;
    for (int side = 0; side < SIDES; side++)
        metrics[side] = metric->compared.sides[side];
    return SIDES;
}

void stacks_walk(const struct tree *tree, const size_t *metrics, size_t n,
                 const struct stack_visitor *visitor)
{
    struct view *view = tree->view;
    struct walking walking = {.metrics = metrics, .n = n, .root = tree->root, .visitor = visitor};
    walking.part = is_flat(view) ? EXCLUSIVE : view->class->sorted_by;
    struct visitor of_rows = {.enter = enter, .leave = leave, .context = &walking};
    walk_visible(tree->filtered, tree->root, &tree->limits, NULL, &of_rows);
    vec_free(&walking.rows);
    vec_free(&walking.own);
}

void stacks_name(const struct view *view, uint32_t row, struct text *out)
{
    struct text name = {0};
    label_name(view, row, &name);
    text_add_clean(out, text_string(&name), false);
    vec_free(&name);
}

double stacks_factor(const struct metric *metric)
{
    return strcmp(metric->unit, "s") == 0 ? 1e9 : 1;
}
