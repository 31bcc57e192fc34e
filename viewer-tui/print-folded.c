/* Call paths as folded stacks, what flame graph programs read: the names of the procedures on a
 * path, separated by semicolons, and what was spent there itself, as a whole number: times in
 * nanoseconds, other metrics in their unit.
 *
 * Loops and statements are no frames. What belongs to a frame itself is what remains when the
 * frames directly below it are taken off, so that the lines always add up to the whole, also where
 * small or deep scopes are left out: their costs stay with the frame above. In the bottom-up view
 * stacks begin with the procedure in which the time was spent, and its callers follow. */
#include "viewer-tui/print.h"

#include "viewer-tui/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct frame {
    size_t stack_size; /* of the text without this frame */
    double own;
};

struct printing {
    FILE *out;
    struct text stack, name;
    VEC(struct frame) frames;
    size_t metric;
    enum cost_part part;
    double factor;
};

static bool is_frame(const struct view *view, uint32_t row)
{
    uint8_t kind = view_row(view, row)->kind;
    return kind == KIND_PROCEDURE || kind == KIND_INLINED || (kind == KIND_ROOT && row != 0);
}

/* Names must contain neither what separates frames nor what ends a line. */
static void push_name(struct printing *printing, const struct view *view, uint32_t row)
{
    text_clear(&printing->name);
    label_name(view, row, &printing->name);
    for (size_t i = 0; i < printing->name.n; i++) {
        char c = printing->name.at[i];
        if (c == ';')
            printing->name.at[i] = ':';
        else if (c == '\n' || c == '\r')
            printing->name.at[i] = ' ';
    }
    if (printing->stack.n)
        text_add(&printing->stack, ";");
    text_add_clean(&printing->stack, text_string(&printing->name), false);
}

static void enter(void *context, struct view *view, uint32_t row)
{
    struct printing *printing = context;
    if (!is_frame(view, row))
        return;
    double cost = view_cost(view, row, printing->metric, printing->part);
    if (printing->frames.n)
        printing->frames.at[printing->frames.n - 1].own -= cost;
    vec_push(&printing->frames, (struct frame){printing->stack.n, cost});
    push_name(printing, view, row);
}

static void leave(void *context, struct view *view, uint32_t row)
{
    struct printing *printing = context;
    if (!is_frame(view, row))
        return;
    struct frame *frame = &printing->frames.at[--printing->frames.n];
    double value = round(frame->own * printing->factor);
    if (value > 0)
        fprintf(printing->out, "%s %.0f\n", text_string(&printing->stack), value);
    printing->stack.n = frame->stack_size;
    printing->stack.at[frame->stack_size] = '\0';
}

void print_tree_folded(const struct tree *tree)
{
    struct view *view = tree->view;
    const struct metric *metric = &view->db->metrics.at[tree->limits.metric];
    struct printing printing = {.out = tree->out,
                                .metric = tree->limits.metric,
                                .part = view->class->sorted_by,
                                .factor = strcmp(metric->unit, "s") == 0 ? 1e9 : 1};
    struct visitor visitor = {.enter = enter, .leave = leave, .context = &printing};
    walk_view(view, 0, &tree->limits, &visitor);
    vec_free(&printing.stack);
    vec_free(&printing.name);
    vec_free(&printing.frames);
}
