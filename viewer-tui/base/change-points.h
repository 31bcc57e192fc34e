/* Where a run changes: change points in counts over time.
 *
 * The series has n bins of d counts each, such as samples by procedure and state. Square roots of counts have about the
 * same variance whatever the mean (Anscombe 1948), so a phase is a stretch of bins with a mean of its own, in noise of
 * one variance. Optimal partitioning (Jackson et al. 2005; what PELT, Killick et al. 2012, computes) finds the
 * stretches with the least sum of squares plus a penalty for each: what one more cut would gain in pure noise at the
 * best of n places with a probability of FALSE_CUT at most (Laurent and Massart 2000).
 *
 * Noise is that of independent counts, or more if the series shows it: neighbors, and blocks of 2, 4, 8 and 16 neighbors
 * if there are enough, differ by more than at a few cuts. A program that alternates many times is stationary: if there
 * are more than MOST_PHASES stretches, bins are joined in pairs until there are not, and the cuts are then moved to the
 * best place between the former bins. */
#ifndef VIEWER_CHANGE_POINTS_H
#define VIEWER_CHANGE_POINTS_H

#include <stddef.h>

#define MOST_PHASES 10
#define FALSE_CUT   0.00001
/* With fewer bins the noise is not known. */
#define LEAST_BINS 32
/* With fewer bins up to 4 % of the runs that alternate at random have changes by chance, with more about 1 %. */
#define SURE_BINS 50
/* A stretch has this share of the bins at least, and two. */
#define LEAST_PHASE 0.01

/* counts[i * d + k] is that of kind k in bin i. Sets ends[0 .. result-1], ascending, the last one n: the bins of each
 * stretch end there. At least 1, at most MOST_PHASES. n > 0. */
size_t change_points(const double *counts, size_t n, size_t d, size_t ends[MOST_PHASES]);

#endif
