/* A scope of one side of a comparison and of the other, by their rows. */
#ifndef VIEWER_ROW_PAIR_H
#define VIEWER_ROW_PAIR_H

#include "viewer-tui/tree/view.h"

struct row_pair {
    uint32_t rows[SIDES]; /* NOTHING for none */
};

struct row_pairs {
    struct row_pair *at;
    size_t n, cap;
};

#endif
