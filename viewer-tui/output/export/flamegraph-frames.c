#include "viewer-tui/output/export/flamegraph-frames.h"

#include "lib/hash-tables.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

/* In percent of the whole. Narrower frames could not be seen or hit, even zoomed in. */
#define MIN_WIDTH 0.001

static struct flame_frame describe(struct frames *frames, uint32_t row, uint32_t function)
{
    const struct view *view = frames->export.tree->view;
    struct flame_frame frame = {.function = function};
    const char *name = frames_name(frames, &frame);
    frame.lightness = 62 + (unsigned)(hash_bytes(name, strlen(name)) % 18);
    frame.place = frames->texts.n;
    describe_location(view, row, false, &frames->texts);
    text_add_bytes(&frames->texts, "", 1);
    const char *module = label_module_path(view, row);
    frame.has_module = module != NULL;
    if (module)
        frame.hue = (unsigned)(hash_bytes(module, strlen(module)) % 360);
    return frame;
}

static void enter(struct export *export)
{
    struct frames *frames = (struct frames *)export;
    const struct export_frame *open = &export->stack.at[export->stack.n - 1];
    struct flame_frame frame = describe(frames, open->row, open->function);
    if (frames->list.n) {
        frame.parent = frames->current;
        frame.depth = frames->list.at[frames->current].depth + 1;
    }
    frames->current = (uint32_t)frames->list.n;
    vec_push(&frames->list, frame);
}

static void leave(struct export *export, const double *own)
{
    struct frames *frames = (struct frames *)export;
    struct flame_frame *frame = &frames->list.at[frames->current];
    bool is_first = frames->current == 0;
    frames->current = frame->parent;
    for (size_t i = 0; i < export->metrics.n; i++) {
        frame->own[i] = own[i];
        frame->total[i] += own[i];
        if (!is_first)
            frames->list.at[frame->parent].total[i] += frame->total[i];
    }
}

/* Places frames beside each other, in their order. */
static void lay_out(struct frames *frames)
{
    autofree double *used = mem_alloc((frames->list.n + 1) *
                             sizeof *used); /* by frame: the width of the frames in it so far */
    frames->list.at[0].is_shown = true;
    for (size_t i = 1; i < frames->list.n; i++) {
        struct flame_frame *frame = &frames->list.at[i];
        const struct flame_frame *parent = &frames->list.at[frame->parent];
        frame->is_shown = parent->is_shown && frames_width(frames, frame) > MIN_WIDTH;
        if (!frame->is_shown)
            continue;
        frame->left = parent->left + used[frame->parent];
        used[frame->parent] += frame->total[frames->shown];
    }
}

void frames_find(struct frames *frames, const struct tree *tree)
{
    *frames = (struct frames){.export = {.tree = tree, .enter = enter, .leave = leave}};
    export_add_sorted(&frames->export);
    frames->shown = frames->export.metrics.n - 1;
    if (tree->root == 0) { /* a frame for the whole program, which is not a frame of the stacks */
        struct flame_frame program = describe(frames, 0, export_function_of(&frames->export, 0));
        vec_push(&frames->list, program);
    }
    export_walk(&frames->export);
    for (size_t i = 0; tree->root == 0 && i < frames->export.metrics.n; i++) {
        struct flame_frame *program = &frames->list.at[0];
        double whole = view_cost(tree->view, 0, frames->export.metrics.at[i], INCLUSIVE);
        program->own[i] = whole > program->total[i] ? whole - program->total[i] : 0;
        program->total[i] = whole;
    }
    lay_out(frames);
}

void frames_free(struct frames *frames)
{
    export_free(&frames->export);
    vec_free(&frames->list);
    vec_free(&frames->texts);
}

/* The first one is the whole, even if all costs are 0. */
double frames_width(const struct frames *frames, const struct flame_frame *frame)
{
    double whole = frames->list.at[0].total[frames->shown];
    if (frame == &frames->list.at[0])
        return 100;
    return whole > 0 ? 100 * frame->total[frames->shown] / whole : 0;
}

double frames_left(const struct frames *frames, const struct flame_frame *frame)
{
    return frame->left > 0 ? 100 * frame->left / frames->list.at[0].total[frames->shown] : 0;
}
