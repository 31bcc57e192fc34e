#include "viewer-tui/output/export/flamegraph-frames.h"

#include "lib/hash-tables.h"
#include "viewer-tui/tree/describe.h"
#include "viewer-tui/tree/label.h"

#include <stdlib.h>
#include <string.h>

/* In percent of the whole. Narrower frames could not be seen or hit, even zoomed in. */
#define MIN_WIDTH 0.001

struct finding {
    struct frames *frames;
    uint32_t current;
};

static size_t end_of_texts(struct frames *frames)
{
    if (frames->texts.n)
        text_add_bytes(&frames->texts, "", 1);
    return frames->texts.n;
}

static struct frame describe(struct frames *frames, const struct view *view, uint32_t row)
{
    struct frame frame = {.name = end_of_texts(frames)};
    stacks_name(view, row, &frames->texts);
    const char *name = text_string(&frames->texts) + frame.name;
    frame.lightness = 62 + (unsigned)(hash_bytes(name, strlen(name)) % 18);
    frame.place = end_of_texts(frames);
    describe_location(view, row, false, &frames->texts);
    uint32_t origin_row = row;
    const struct database *db = view_origin(view, &origin_row)->db;
    const char *module = database_module_path(db, label_module(view, row));
    frame.has_module = module != NULL;
    if (module)
        frame.hue = (unsigned)(hash_bytes(module, strlen(module)) % 360);
    return frame;
}

static void enter(void *context, const struct view *view, uint32_t row)
{
    struct finding *finding = context;
    struct frames *frames = finding->frames;
    struct frame frame = describe(frames, view, row);
    if (frames->list.n) {
        frame.parent = finding->current;
        frame.depth = frames->list.at[finding->current].depth + 1;
    }
    finding->current = (uint32_t)frames->list.n;
    vec_push(&frames->list, frame);
}

static void leave(void *context, const struct view *view, uint32_t row, const double *own)
{
    struct finding *finding = context;
    struct frames *frames = finding->frames;
    struct frame *frame = &frames->list.at[finding->current];
    bool is_first = finding->current == 0;
    (void)view;
    (void)row;
    finding->current = frame->parent;
    for (size_t i = 0; i < frames->n; i++) {
        frame->own[i] = own[i];
        frame->total[i] += own[i];
        if (!is_first)
            frames->list.at[frame->parent].total[i] += frame->total[i];
    }
}

/* Adds a frame for the whole program, which is not a frame of the stacks. */
static void add_program(struct frames *frames, const struct view *view)
{
    struct frame program = describe(frames, view, 0);
    vec_push(&frames->list, program);
}

static void add_costs_of_program(struct frames *frames, const struct view *view)
{
    struct frame *program = &frames->list.at[0];
    for (size_t i = 0; i < frames->n; i++) {
        double whole = view_cost(view, 0, frames->metrics[i], INCLUSIVE);
        program->own[i] = whole > program->total[i] ? whole - program->total[i] : 0;
        program->total[i] = whole;
    }
}

/* Places frames beside each other, in their order. */
static void lay_out(struct frames *frames)
{
    double *used = mem_alloc((frames->list.n + 1) *
                             sizeof *used); /* by frame: the width of the frames in it so far */
    frames->list.at[0].is_shown = true;
    for (size_t i = 1; i < frames->list.n; i++) {
        struct frame *frame = &frames->list.at[i];
        const struct frame *parent = &frames->list.at[frame->parent];
        frame->is_shown = parent->is_shown && frames_width(frames, frame) > MIN_WIDTH;
        if (!frame->is_shown)
            continue;
        frame->left = parent->left + used[frame->parent];
        used[frame->parent] += frame->total[frames->shown];
    }
    free(used);
}

void frames_find(struct frames *frames, const struct tree *tree)
{
    struct finding finding = {.frames = frames};
    struct stack_visitor visitor = {.enter = enter, .leave = leave, .context = &finding};
    *frames = (struct frames){.n = 0};
    frames->n = stacks_metrics(tree, frames->metrics);
    frames->shown = frames->n - 1;
    if (tree->root == 0)
        add_program(frames, tree->view);
    stacks_walk(tree, frames->metrics, frames->n, &visitor);
    if (tree->root == 0)
        add_costs_of_program(frames, tree->view);
    lay_out(frames);
}

void frames_free(struct frames *frames)
{
    vec_free(&frames->list);
    vec_free(&frames->texts);
}

static double percent(const struct frames *frames, double costs)
{
    return 100 * costs / frames->list.at[0].total[frames->shown];
}

/* The first one is the whole, even if all costs are 0. */
double frames_width(const struct frames *frames, const struct frame *frame)
{
    const struct frame *whole = &frames->list.at[0];
    if (frame == whole)
        return 100;
    return whole->total[frames->shown] > 0 ? percent(frames, frame->total[frames->shown]) : 0;
}

double frames_left(const struct frames *frames, const struct frame *frame)
{
    return frame->left > 0 ? percent(frames, frame->left) : 0;
}
