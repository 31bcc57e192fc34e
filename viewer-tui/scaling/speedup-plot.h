/* The curves of a speedup plot: number of workers to the right, speedup upwards. */
#ifndef VIEWER_SPEEDUP_PLOT_H
#define VIEWER_SPEEDUP_PLOT_H

#include "viewer-tui/scaling/scaling-table.h"

/* The curves: those of enum speedup_kind, and the laws of work and span. */
enum plot_curve_id {
    CURVE_WORK_LAW = SPEEDUP_KINDS,
    CURVE_SPAN_LAW,
    CURVE_BURDENED,
    PLOT_CURVES
};

/* NAN: the speedup is unknown. low and high are its band; NAN: there is none. */
struct plot_point {
    double workers, speedup, low, high;
};

struct plot_curve {
    const char *name;    /* "idle-specific" */
    const char *key;     /* "idle_specific", for programs */
    const char *formula; /* "P T_s / (T_1 + I_P)"; _ precedes a subscript of one character */
    const char *color;   /* "#0072b2"; colors differ for the color-blind, too */
    bool is_measured; /* its points are measured numbers of workers; else they sample a function */
    VEC(struct plot_point) points; /* fewest workers first; none: there is no such curve */
};

struct speedup_plot {
    struct plot_curve curves[PLOT_CURVES];
    VEC(double) workers;               /* measured numbers, fewest first */
    double most_workers, most_speedup; /* upper ends of the axes, which begin at 0 */
    double coverage;                   /* scaling_band_coverage */
};

/* Two lines that say what bands are. The format takes the coverage in percent. */
#define PLOT_BANDS          "bands: the true speedup is inside"
#define PLOT_BANDS_COVERAGE "with a probability of %.1f%% or more"

/* The order in which curves are drawn: the actual speedups last, above all others. */
extern const int plot_order[PLOT_CURVES];

/* The table must have rows. The caller frees with speedup_plot_free. */
struct speedup_plot speedup_plot_of(const struct scaling_table *table);
void speedup_plot_free(struct speedup_plot *plot);

/* The end of the run of points with known speedups that begins at `from` < points.n, which may be
 * `from` itself. A curve has a gap between two runs. */
size_t plot_run_end(const struct plot_curve *curve, size_t from);

/* Whether the point has a band. */
bool plot_point_has_band(const struct plot_point *point);

/* The distance of ticks on an axis from 0 to `end`: 1, 2 or 5 times a power of ten, so that there
 * are at most `most` besides 0. */
double plot_tick_step(double end, int most);

#endif
