/* The speedup plot as a drawing in SVG 1.1, for a page or a paper: no scripts, no style sheets, no
 * fonts of its own. Curves differ in color, dashes and markers, so that they can be told apart in
 * print, too. The group of a curve has its key as id. */
#include "viewer-tui/output/print-scaling.h"

#include <math.h>

/* Pixels. */
#define WIDTH          790
#define HEIGHT         480
#define LEFT           64 /* of the plot */
#define RIGHT          500
#define TOP            44
#define BOTTOM         424
#define LEGEND         524
#define LEGEND_STEP    38
#define LEAST_TICK_GAP 26 /* between labels of the axis of workers */
#define TITLE_COLUMNS  84

#define MOST_TICKS 8

/* Most points of a law's curve. */
#define LAW_POINTS 256

/* Room above the highest curve, as a part of the axis. */
#define HEADROOM 0.04

#define FONT "font-family=\"Helvetica, Arial, sans-serif\""

/* The curves: those of enum speedup_kind, and the laws of work and span. */
enum { CURVE_WORK_LAW = SPEEDUP_KINDS, CURVE_SPAN_LAW, CURVE_BURDENED, CURVES };

struct curve {
    const char *key, *name;
    const char *formula; /* _ precedes a subscript of one character */
    const char *color;   /* colors differ for the color-blind, too */
    const char *dashes;  /* NULL: none */
    char marker;         /* of measured points; c: circle, s: square, d: diamond, t: triangle; 0: none */
    double width;
};

static const struct curve curves[CURVES] = {
    [LINEAR_SPEEDUP] = {"linear", "linear", "P", "#555555", "2,3", 0, 1},
    [MAXIMAL_SPEEDUP] = {"maximal", "maximal", "P T_s / T_1", "#0072b2", "8,3", 's', 1.5},
    [IDLE_SPECIFIC_SPEEDUP] = {"idle_specific", "idle-specific", "P T_s / (T_1 + I_P)", "#e69f00", "5,3", 't', 1.5},
    [INFLATION_SPECIFIC_SPEEDUP] = {"inflation_specific", "inflation-specific", "P T_s / (P T_P - I_P)", "#009e73",
                                    "8,3,2,3", 'd', 1.5},
    [ACTUAL_SPEEDUP] = {"actual", "actual", "T_s / T_P", "#d55e00", NULL, 'c', 2.2},
    [CURVE_WORK_LAW] = {"work_law", "work law, at most", "T_s / (work / P)", "#999999", "10,4", 0, 1},
    [CURVE_SPAN_LAW] = {"span_law", "span law, at most", "T_s / span", "#cc79a7", "10,4,2,4", 0, 1},
    [CURVE_BURDENED] = {"burdened", "burdened, at least", "T_s / (work / P + 1.7 burdened span)", "#56b4e9", "4,4", 0,
                        1.5},
};

/* NAN: the speedup is unknown. low and high are its band; NAN: there is none. */
struct plot_point {
    double workers, speedup, low, high;
};

struct drawing {
    const struct scaling_table *table;
    FILE *out;
    double most_workers, most_speedup;  /* upper ends of the axes, which begin at 0 */
    VEC(struct plot_point) points[CURVES]; /* fewest workers first; none: there is no such curve */
};

/* Pixels of a number of workers, and of a speedup. */
static double x_of(const struct drawing *drawing, double workers)
{
    return LEFT + (RIGHT - LEFT) * workers / drawing->most_workers;
}

static double y_of(const struct drawing *drawing, double speedup)
{
    return BOTTOM - (BOTTOM - TOP) * speedup / drawing->most_speedup;
}

/* ---- points ---- */

static void add_point(struct drawing *drawing, int c, double workers, double speedup)
{
    vec_push(&drawing->points[c], ((struct plot_point){workers, speedup, NAN, NAN}));
}

/* No curve, unless one of its speedups is known. */
static void add_measured(struct drawing *drawing, int kind)
{
    bool is_known = false;
    for (size_t i = 0; i < drawing->table->rows.n; i++) {
        const struct scaling_row *row = &drawing->table->rows.at[i];
        const struct speedup *of = &row->speedups[kind];
        vec_push(&drawing->points[kind], ((struct plot_point){row->workers, of->value, of->low, of->high}));
        drawing->most_speedup = fmax(drawing->most_speedup, of->value);
        is_known |= isfinite(of->value);
    }
    drawing->points[kind].n = is_known ? drawing->points[kind].n : 0;
}

static void add_laws(struct drawing *drawing)
{
    double most = drawing->most_workers;
    size_t n = most < LAW_POINTS ? (size_t)most : LAW_POINTS;
    if (!drawing->table->has_work_span || !isfinite(drawing->table->baseline))
        return;
    for (size_t i = 0; i < n; i++) {
        double workers = n > 1 ? 1 + (most - 1) * (double)i / (double)(n - 1) : most;
        struct speedup_laws laws = scaling_laws(drawing->table, workers);
        add_point(drawing, CURVE_WORK_LAW, workers, laws.work_law);
        add_point(drawing, CURVE_SPAN_LAW, workers, laws.span_law);
        if (isfinite(laws.burdened))
            add_point(drawing, CURVE_BURDENED, workers, laws.burdened);
    }
}

static void find_points(struct drawing *drawing)
{
    drawing->most_workers = drawing->most_speedup = drawing->table->rows.at[drawing->table->rows.n - 1].workers;
    add_point(drawing, LINEAR_SPEEDUP, 0, 0);
    add_point(drawing, LINEAR_SPEEDUP, drawing->most_workers, drawing->most_workers);
    for (int kind = LINEAR_SPEEDUP + 1; kind < SPEEDUP_KINDS; kind++)
        add_measured(drawing, kind);
    drawing->most_speedup *= 1 + HEADROOM;
    add_laws(drawing);
}

/* ---- text ---- */

/* Writes a formula; "_s" becomes a subscript. */
static void write_formula(FILE *out, const char *formula)
{
    bool is_raised = false; /* the text behind a subscript is */
    for (; *formula; formula++) {
        if (*formula != '_') {
            fputc(*formula, out);
            continue;
        }
        fprintf(out, "%s<tspan dy=\"3\" font-size=\"9\">%c</tspan>", is_raised ? "</tspan>" : "",
                *++formula);
        is_raised = formula[1];
        if (is_raised)
            fprintf(out, "<tspan dy=\"-3\">");
    }
    if (is_raised)
        fprintf(out, "</tspan>");
}

/* The command, cut to the width of the drawing. */
static void write_title(const struct drawing *drawing, const char *command)
{
    autofree struct text clean = {0}, escaped = {0};
    text_add_clean_code(&clean, command, false); /* it has its escapes */
    if (text_columns(text_string(&clean)) > TITLE_COLUMNS) {
        text_cut(&clean, TITLE_COLUMNS - 1);
        text_add(&clean, "…");
    }
    text_add_xml(&escaped, text_string(&clean));
    fprintf(drawing->out,
            "<title>Speedups of %s</title>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"26\" font-size=\"14\">%s</text>\n",
            text_string(&escaped), WIDTH, HEIGHT, LEFT, text_string(&escaped));
}

/* ---- axes ---- */

static void write_x_tick(const struct drawing *drawing, double workers)
{
    double x = x_of(drawing, workers);
    fprintf(drawing->out,
            "<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\" stroke=\"black\"/>"
            "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
            x, BOTTOM, x, BOTTOM + 5, x, BOTTOM + 19, workers);
}

/* Ticks are the measured numbers of workers; where they are too close, the larger ones. */
static void write_x_axis(const struct drawing *drawing)
{
    double next = INFINITY;
    fprintf(drawing->out, "<g id=\"x-axis\" font-size=\"12\">\n");
    for (size_t i = drawing->table->rows.n; i-- > 0;) {
        double workers = drawing->table->rows.at[i].workers, x = x_of(drawing, workers);
        if (next - x < LEAST_TICK_GAP)
            continue;
        write_x_tick(drawing, workers);
        next = x;
    }
    if (next - x_of(drawing, 0) >= LEAST_TICK_GAP)
        write_x_tick(drawing, 0);
    fprintf(
        drawing->out,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"13\">workers P</text>\n</g>\n",
        (LEFT + RIGHT) / 2, BOTTOM + 40);
}

/* The distance of ticks on an axis from 0 to `end`: 1, 2, 5 or 10 times a power of ten, so that there are at most
 * MOST_TICKS besides 0. */
static double tick_step(double end)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(end / MOST_TICKS)));
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof *steps && end / (steps[i] * power) > MOST_TICKS)
        i++;
    return steps[i] * power;
}

static void write_y_axis(const struct drawing *drawing)
{
    double end = drawing->most_speedup, step = tick_step(end);
    fprintf(drawing->out, "<g id=\"y-axis\" font-size=\"12\">\n");
    for (int i = 0; i * step <= end; i++) {
        double y = y_of(drawing, i * step);
        fprintf(drawing->out,
                "<line x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\" stroke=\"#dddddd\"/>"
                "<line x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\" stroke=\"black\"/>"
                "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\" dy=\"4\">%g</text>\n",
                LEFT, y, RIGHT, y, LEFT - 5, y, LEFT, y, LEFT - 9, y, i * step);
    }
    fprintf(drawing->out,
            "<text transform=\"translate(20,%d) rotate(-90)\" text-anchor=\"middle\" "
            "font-size=\"13\">speedup ",
            (TOP + BOTTOM) / 2);
    write_formula(drawing->out, "T_s / T_P");
    fprintf(drawing->out,
            "</text>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"black\"/>\n"
            "</g>\n",
            LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
}

/* ---- curves ---- */

static void write_marker(FILE *out, const struct curve *curve, double x, double y)
{
    const char *color = curve->color;
    switch (curve->marker) {
    case 'c':
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, color);
        break;
    case 's':
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"6\" height=\"6\" fill=\"%s\"/>\n", x - 3, y - 3, color);
        break;
    case 'd': fprintf(out, "<path d=\"M%.2f,%.2fl4,4l-4,4l-4,-4z\" fill=\"%s\"/>\n", x, y - 4, color); break;
    case 't': fprintf(out, "<path d=\"M%.2f,%.2fl4,7h-8z\" fill=\"%s\"/>\n", x, y - 4, color); break;
    }
}

/* Continues a path through a point, or begins it there. */
static void write_corner(const struct drawing *drawing, bool begins, double workers, double speedup)
{
    fprintf(drawing->out, "%c%.2f,%.2f", begins ? 'M' : 'L', x_of(drawing, workers), y_of(drawing, speedup));
}

/* The bands of points that follow each other: areas; of single points vertical lines. */
static void write_bands(const struct drawing *drawing, int c)
{
    const struct plot_point *points = drawing->points[c].at;
    for (size_t from = 0, to; from < drawing->points[c].n; from = to + 1) {
        for (to = from; to < drawing->points[c].n && isfinite(points[to].low) && isfinite(points[to].high);)
            to++;
        bool is_area = to - from > 1;
        if (to == from)
            continue;
        fprintf(drawing->out, "<path class=\"band\" d=\"");
        for (size_t i = from; i < to; i++)
            write_corner(drawing, i == from, points[i].workers, points[i].high);
        for (size_t i = to; is_area && i-- > from;)
            write_corner(drawing, false, points[i].workers, points[i].low);
        if (is_area)
            fprintf(drawing->out, "z\" fill=\"%s\" fill-opacity=\"0.18\"/>\n", curves[c].color);
        else
            fprintf(drawing->out, "V%.2f\" stroke=\"%s\" stroke-opacity=\"0.5\" stroke-width=\"6\"/>\n",
                    y_of(drawing, points[from].low), curves[c].color);
    }
}

static void write_line_attributes(FILE *out, const struct curve *curve)
{
    fprintf(out, "fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", curve->color, curve->width);
    if (curve->dashes)
        fprintf(out, " stroke-dasharray=\"%s\"", curve->dashes);
}

/* It has a gap where speedups are unknown. */
static void write_line(const struct drawing *drawing, int c)
{
    const struct plot_point *points = drawing->points[c].at;
    size_t n = drawing->points[c].n;
    fprintf(drawing->out, "<path class=\"line\" d=\"");
    for (size_t i = 0; i < n; i++)
        if (isfinite(points[i].speedup))
            write_corner(drawing, i == 0 || !isfinite(points[i - 1].speedup), points[i].workers, points[i].speedup);
    fprintf(drawing->out, "\" ");
    write_line_attributes(drawing->out, &curves[c]);
    fprintf(drawing->out, "/>\n");
    for (size_t i = 0; i < n; i++)
        if (isfinite(points[i].speedup))
            write_marker(drawing->out, &curves[c], x_of(drawing, points[i].workers), y_of(drawing, points[i].speedup));
}

/* The actual speedups last, above all others. */
static void write_curves(const struct drawing *drawing)
{
    static const int order[CURVES] = {LINEAR_SPEEDUP,  CURVE_WORK_LAW,        CURVE_SPAN_LAW,             CURVE_BURDENED,
                                      MAXIMAL_SPEEDUP, IDLE_SPECIFIC_SPEEDUP, INFLATION_SPECIFIC_SPEEDUP, ACTUAL_SPEEDUP};
    fprintf(drawing->out,
            "<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", LEFT, TOP,
            RIGHT - LEFT + 4, BOTTOM - TOP);
    for (int i = 0; i < CURVES; i++) {
        int c = order[i];
        if (!drawing->points[c].n)
            continue;
        fprintf(drawing->out, "<g id=\"%s\" clip-path=\"url(#plot)\">\n", curves[c].key);
        write_bands(drawing, c);
        write_line(drawing, c);
        fprintf(drawing->out, "</g>\n");
    }
}

/* ---- legend ---- */

static void write_legend(const struct drawing *drawing)
{
    FILE *out = drawing->out;
    double coverage = scaling_band_coverage(drawing->table);
    int y = TOP + 10;
    fprintf(out, "<g id=\"legend\" font-size=\"12\">\n");
    for (int c = 0; c < CURVES; c++) {
        const struct curve *curve = &curves[c];
        bool is_of_known = c == CURVE_SPAN_LAW && drawing->table->work_span.why_lower_bound;
        if (!drawing->points[c].n)
            continue;
        fprintf(out, "<path d=\"M%d,%dh32\" ", LEGEND, y);
        write_line_attributes(out, curve);
        fprintf(out, "/>\n");
        write_marker(out, curve, LEGEND + 16, y);
        fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"#555555\">",
                LEGEND + 40, y + 4, is_of_known ? "law of known span, at most" : curve->name, LEGEND + 40, y + 19);
        write_formula(out, is_of_known ? "T_s / known part of the span" : curve->formula);
        fprintf(out, "</text>\n");
        y += LEGEND_STEP;
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"11\">", LEGEND, y + 4);
    if (coverage > 0)
        fprintf(out,
                "bands: the true speedup is inside</text>\n<text x=\"%d\" y=\"%d\" font-size=\"11\">"
                "with a probability of %.1f%% or more",
                LEGEND, y + 19, 100 * coverage);
    else if (drawing->points[ACTUAL_SPEEDUP].n)
        fprintf(out, "no bands: too few runs (hpcrun --repeat)");
    else
        fprintf(out, "no baseline: no run with one worker");
    fprintf(out, "</text>\n</g>\n");
}

void print_scaling_svg(const char *command, const struct scaling_table *table, FILE *out)
{
    struct drawing drawing = {.table = table, .out = out};
    find_points(&drawing);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" " FONT " xml:space=\"preserve\">\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_title(&drawing, command);
    write_x_axis(&drawing);
    write_y_axis(&drawing);
    write_curves(&drawing);
    write_legend(&drawing);
    fprintf(out, "</svg>\n");
    for (int c = 0; c < CURVES; c++)
        vec_free(&drawing.points[c]);
}
