/* A scope of one side of a comparison and of the other, by their rows. */
#ifndef VIEWER_PAIR_H
#define VIEWER_PAIR_H

#include "viewer-tui/tree/view.h"

struct pair {
    uint32_t rows[SIDES]; /* NOTHING for none */
};

struct pairs {
    struct pair *at;
    size_t n, cap;
};

#endif
