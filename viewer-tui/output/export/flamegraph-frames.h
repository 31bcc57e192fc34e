/* The frames of a flame graph: the frames of the stacks (export-stacks.h) and their positions. In a
 * comparison they have the costs of both runs; widths are those of the right one. */
#ifndef VIEWER_FLAMEGRAPH_FRAMES_H
#define VIEWER_FLAMEGRAPH_FRAMES_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/output/export/export-stacks.h"

struct flame_frame {
    uint32_t parent, depth;
    uint32_t function; /* index in the export's functions */
    size_t place;      /* offset in frames.texts */
    unsigned hue, lightness;
    bool has_module;
    double own[SIDES], total[SIDES]; /* by metric */
    bool is_shown;                   /* it is wide enough, and so are the frames above */
    double left;                     /* of a shown frame: the costs of the frames before it */
};

struct frames {
    struct export export;
    VEC(struct flame_frame) list; /* each after its parent; the first one is the whole */
    struct text texts;            /* each ends with a NUL */
    uint32_t current;             /* the innermost open frame */
    size_t shown;                 /* index of the metric of the widths */
};

/* Finds the frames of a tree. The caller frees. */
void frames_find(struct frames *frames, const struct tree *tree);
void frames_free(struct frames *frames);

static inline const char *frames_name(const struct frames *frames, const struct flame_frame *frame)
{
    return frames->export.functions.at[frame->function].name;
}

/* Width and left edge in percent of the whole. */
double frames_width(const struct frames *frames, const struct flame_frame *frame);
double frames_left(const struct frames *frames, const struct flame_frame *frame);

#endif
