/* The frames of a flame graph: those of the stacks (export-stacks.h) with what is in them, and
 * where they stand from the left. Of a comparison they have the costs of both runs, and are laid
 * out by those of the second one. */
#ifndef VIEWER_FLAMEGRAPH_FRAMES_H
#define VIEWER_FLAMEGRAPH_FRAMES_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/output/export/export-stacks.h"

struct frame {
    uint32_t parent, depth;
    size_t name, place; /* where their texts begin */
    unsigned hue, lightness;
    bool has_module;
    double own[SIDES], total[SIDES]; /* of each metric */
    bool is_shown;                   /* it is wide enough, and so are those above */
    double left;                     /* of one that is shown: the costs of what stands before it */
};

struct frames {
    VEC(struct frame) list; /* each behind its parent; the first one is the whole */
    struct text texts;      /* each ends with a NUL */
    size_t metrics[SIDES];  /* of which the costs are */
    size_t n;               /* how many metrics: 2 in a comparison */
    size_t shown;           /* whose costs widths are */
};

/* Walks through the stacks. The caller frees. */
void frames_find(struct frames *frames, const struct tree *tree);
void frames_free(struct frames *frames);

static inline const char *frames_text(const struct frames *frames, size_t at)
{
    return frames->texts.at + at;
}

/* Its width, and where it begins, in percent of the whole. */
double frames_width(const struct frames *frames, const struct frame *frame);
double frames_left(const struct frames *frames, const struct frame *frame);

#endif
