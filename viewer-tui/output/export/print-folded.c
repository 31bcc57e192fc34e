/* Call paths as folded stacks, the input of flame graph programs: the names of the frames of a
 * stack (export-stacks.h), separated by semicolons, and its own costs as a whole number, times in
 * nanoseconds. In a comparison there are two numbers, one per run, as for differential flame
 * graphs. */
#include "viewer-tui/output/export/export-stacks.h"

#include <math.h>
#include <stdlib.h>

struct printing {
    FILE *out;
    struct text stack;
    VEC(size_t) sizes; /* by open frame: length of the text before it */
    double factor;
    size_t n; /* how many numbers */
};

static void enter(void *context, const struct view *view, uint32_t row)
{
    struct printing *printing = context;
    vec_push(&printing->sizes, printing->stack.n);
    if (printing->stack.n)
        text_add(&printing->stack, ";");
    size_t begin = printing->stack.n;
    stacks_name(view, row, &printing->stack);
    for (size_t i = begin; i < printing->stack.n; i++)
        if (printing->stack.at[i] == ';')
            printing->stack.at[i] = ':';
}

static void leave(void *context, const struct view *view, uint32_t row, const double *own)
{
    struct printing *printing = context;
    (void)view;
    (void)row;
    double values[SIDES] = {0};
    for (size_t i = 0; i < printing->n; i++)
        values[i] = round(own[i] * printing->factor);
    if (values[0] > 0 || values[1] > 0) {
        fputs(text_string(&printing->stack), printing->out);
        for (size_t i = 0; i < printing->n; i++)
            fprintf(printing->out, " %.0f", values[i]);
        fputc('\n', printing->out);
    }
    printing->stack.n = printing->sizes.at[--printing->sizes.n];
    printing->stack.at[printing->stack.n] = '\0';
}

void print_tree_folded(const struct tree *tree)
{
    size_t metrics[SIDES], n = stacks_metrics(tree, metrics);
    struct printing printing = {
        .out = tree->out, .factor = stacks_factor(&tree->view->metrics->at[metrics[0]]), .n = n};
    struct stack_visitor visitor = {.enter = enter, .leave = leave, .context = &printing};
    stacks_walk(tree, metrics, n, &visitor);
    vec_free(&printing.stack);
    vec_free(&printing.sizes);
}
