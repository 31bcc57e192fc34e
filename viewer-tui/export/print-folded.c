/* Call paths as folded stacks, what flame graph programs read: the names of the frames of a stack
 * (stacks.h), separated by semicolons, and what was spent there itself, as a whole number: times in
 * nanoseconds, other metrics in their unit. */
#include "viewer-tui/export/stacks.h"

#include <math.h>
#include <stdlib.h>

struct printing {
    FILE *out;
    struct text stack;
    VEC(size_t) sizes; /* of the text without the frame and those below */
    double factor;
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
    double value = round(*own * printing->factor);
    if (value > 0)
        fprintf(printing->out, "%s %.0f\n", text_string(&printing->stack), value);
    printing->stack.n = printing->sizes.at[--printing->sizes.n];
    printing->stack.at[printing->stack.n] = '\0';
}

void print_tree_folded(const struct tree *tree)
{
    size_t metric = tree->view->sorting.metric;
    struct printing printing = {.out = tree->out,
                                .factor = stacks_factor(&tree->view->metrics->at[metric])};
    struct stack_visitor visitor = {.enter = enter, .leave = leave, .context = &printing};
    stacks_walk(tree, &metric, 1, &visitor);
    vec_free(&printing.stack);
    vec_free(&printing.sizes);
}
