#include "viewer-tui/scaling/speedup-plot.h"

#include <math.h>

/* Most points of a law's curve. */
#define LAW_POINTS 256

/* Room above the highest curve, as a part of the axis. */
#define HEADROOM 0.04

static const struct plot_curve empty_curves[PLOT_CURVES] = {
    [LINEAR_SPEEDUP] = {"linear", "linear", "P", "#555555", .is_measured = false},
    [MAXIMAL_SPEEDUP] = {"maximal", "maximal", "P T_s / T_1", "#0072b2", .is_measured = true},
    [IDLE_SPECIFIC_SPEEDUP] = {"idle-specific", "idle_specific", "P T_s / (T_1 + I_P)", "#e69f00",
                               .is_measured = true},
    [INFLATION_SPECIFIC_SPEEDUP] = {"inflation-specific", "inflation_specific", "P T_s / (P T_P - I_P)", "#009e73",
                                    .is_measured = true},
    [ACTUAL_SPEEDUP] = {"actual", "actual", "T_s / T_P", "#d55e00", .is_measured = true},
    [CURVE_WORK_LAW] = {"work law, at most", "work_law", "T_s / (work / P)", "#999999", .is_measured = false},
    [CURVE_SPAN_LAW] = {"span law, at most", "span_law", "T_s / span", "#cc79a7", .is_measured = false},
    [CURVE_BURDENED] = {"burdened, at least", "burdened", "T_s / (work / P + 1.7 burdened span)", "#56b4e9",
                        .is_measured = false},
};

const int plot_order[PLOT_CURVES] = {
    LINEAR_SPEEDUP,  CURVE_WORK_LAW,        CURVE_SPAN_LAW,             CURVE_BURDENED,
    MAXIMAL_SPEEDUP, IDLE_SPECIFIC_SPEEDUP, INFLATION_SPECIFIC_SPEEDUP, ACTUAL_SPEEDUP};

static void add_point(struct plot_curve *curve, double workers, double speedup)
{
    struct plot_point point = {workers, speedup, NAN, NAN};
    vec_push(&curve->points, point);
}

static void add_measured(struct plot_curve *curve, const struct scaling_table *table, int kind)
{
    bool is_known = false;
    for (size_t i = 0; i < table->rows.n; i++)
        is_known |= isfinite(table->rows.at[i].speedups[kind].value);
    for (size_t i = 0; is_known && i < table->rows.n; i++) {
        const struct speedup *of = &table->rows.at[i].speedups[kind];
        struct plot_point point = {table->rows.at[i].workers, of->value, of->low, of->high};
        vec_push(&curve->points, point);
    }
}

static void add_laws(struct speedup_plot *plot, const struct scaling_table *table)
{
    if (!table->has_work_span || !isfinite(table->baseline))
        return;
    if (table->work_span.why_lower_bound) {
        plot->curves[CURVE_SPAN_LAW].name = "law of known span, at most";
        plot->curves[CURVE_SPAN_LAW].formula = "T_s / known part of the span";
    }
    double most = plot->most_workers;
    size_t n = most < LAW_POINTS ? (size_t)most : LAW_POINTS;
    for (size_t i = 0; i < n; i++) {
        double workers = n > 1 ? 1 + (most - 1) * (double)i / (double)(n - 1) : most;
        struct speedup_laws laws = scaling_laws(table, workers);
        add_point(&plot->curves[CURVE_WORK_LAW], workers, laws.work_law);
        add_point(&plot->curves[CURVE_SPAN_LAW], workers, laws.span_law);
        if (isfinite(laws.burdened))
            add_point(&plot->curves[CURVE_BURDENED], workers, laws.burdened);
    }
}

struct speedup_plot speedup_plot_of(const struct scaling_table *table)
{
    struct speedup_plot plot = {.coverage = scaling_band_coverage(table)};
    for (int c = 0; c < PLOT_CURVES; c++)
        plot.curves[c] = empty_curves[c];
    plot.most_workers = table->rows.at[table->rows.n - 1].workers;
    plot.most_speedup = plot.most_workers;
    for (size_t i = 0; i < table->rows.n; i++)
        vec_push(&plot.workers, (double)table->rows.at[i].workers);
    add_point(&plot.curves[LINEAR_SPEEDUP], 0, 0);
    add_point(&plot.curves[LINEAR_SPEEDUP], plot.most_workers, plot.most_workers);
    for (int kind = LINEAR_SPEEDUP + 1; kind < SPEEDUP_KINDS; kind++) {
        struct plot_curve *curve = &plot.curves[kind];
        add_measured(curve, table, kind);
        for (size_t i = 0; i < curve->points.n; i++)
            plot.most_speedup = fmax(plot.most_speedup, curve->points.at[i].speedup);
    }
    plot.most_speedup *= 1 + HEADROOM;
    add_laws(&plot, table);
    return plot;
}

void speedup_plot_free(struct speedup_plot *plot)
{
    for (int c = 0; c < PLOT_CURVES; c++)
        vec_free(&plot->curves[c].points);
    vec_free(&plot->workers);
}

size_t plot_run_end(const struct plot_curve *curve, size_t from)
{
    while (from < curve->points.n && isfinite(curve->points.at[from].speedup))
        from++;
    return from;
}

bool plot_point_has_band(const struct plot_point *point)
{
    return isfinite(point->low) && isfinite(point->high);
}

double plot_tick_step(double end, int most)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(end / most)));
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof *steps && end / (steps[i] * power) > most)
        i++;
    return steps[i] * power;
}
