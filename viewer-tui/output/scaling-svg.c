/* The speedup plot as a drawing in SVG 1.1, for a page or a paper: no scripts, no style sheets, no
 * fonts of its own. Curves differ in color, dashes and markers, so that they can be told apart in
 * print, too. The group of a curve has its key as id. */
#include "viewer-tui/output/print-scaling.h"

#include "viewer-tui/scaling/speedup-plot.h"

#include <math.h>
#include <stdlib.h>

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

#define FONT "font-family=\"Helvetica, Arial, sans-serif\""

struct look {
    const char *dashes; /* NULL: none */
    char marker;        /* c: circle, s: square, d: diamond, t: triangle; 0: none */
    double width;
};

static const struct look looks[PLOT_CURVES] = {
    [LINEAR_SPEEDUP] = {"2,3", 0, 1},
    [MAXIMAL_SPEEDUP] = {"8,3", 's', 1.5},
    [IDLE_SPECIFIC_SPEEDUP] = {"5,3", 't', 1.5},
    [INFLATION_SPECIFIC_SPEEDUP] = {"8,3,2,3", 'd', 1.5},
    [ACTUAL_SPEEDUP] = {NULL, 'c', 2.2},
    [CURVE_WORK_LAW] = {"10,4", 0, 1},
    [CURVE_SPAN_LAW] = {"10,4,2,4", 0, 1},
    [CURVE_BURDENED] = {"4,4", 0, 1.5},
};

struct drawing {
    const struct speedup_plot *plot;
    FILE *out;
};

static double x_of(const struct drawing *drawing, double workers)
{
    return LEFT + (RIGHT - LEFT) * workers / drawing->plot->most_workers;
}

static double y_of(const struct drawing *drawing, double speedup)
{
    return BOTTOM - (BOTTOM - TOP) * speedup / drawing->plot->most_speedup;
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
    struct text clean = {0}, escaped = {0};
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
    vec_free(&clean);
    vec_free(&escaped);
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
    for (size_t i = drawing->plot->workers.n; i-- > 0;) {
        double workers = drawing->plot->workers.at[i], x = x_of(drawing, workers);
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

static void write_y_axis(const struct drawing *drawing)
{
    double end = drawing->plot->most_speedup, step = plot_tick_step(end, MOST_TICKS);
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

static void write_marker(FILE *out, int c, const char *color, double x, double y)
{
    switch (looks[c].marker) {
    case 'c':
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, color);
        break;
    case 's':
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"6\" height=\"6\" fill=\"%s\"/>\n", x - 3,
                y - 3, color);
        break;
    case 'd':
        fprintf(out, "<path d=\"M%.2f,%.2fl4,4l-4,4l-4,-4z\" fill=\"%s\"/>\n", x, y - 4, color);
        break;
    case 't':
        fprintf(out, "<path d=\"M%.2f,%.2fl4,7h-8z\" fill=\"%s\"/>\n", x, y - 4, color);
        break;
    }
}

/* The band of points that follow each other, as one area; of a single point, a vertical line. */
static void write_band(const struct drawing *drawing, const struct plot_curve *curve, size_t from,
                       size_t to)
{
    const struct plot_point *points = curve->points.at;
    if (to - from == 1) {
        fprintf(drawing->out,
                "<path class=\"band\" d=\"M%.2f,%.2fV%.2f\" stroke=\"%s\" stroke-opacity=\"0.5\" "
                "stroke-width=\"6\"/>\n",
                x_of(drawing, points[from].workers), y_of(drawing, points[from].high),
                y_of(drawing, points[from].low), curve->color);
        return;
    }
    fprintf(drawing->out, "<path class=\"band\" d=\"");
    for (size_t i = from; i < to; i++)
        fprintf(drawing->out, "%c%.2f,%.2f", i == from ? 'M' : 'L',
                x_of(drawing, points[i].workers), y_of(drawing, points[i].high));
    for (size_t i = to; i-- > from;)
        fprintf(drawing->out, "L%.2f,%.2f", x_of(drawing, points[i].workers),
                y_of(drawing, points[i].low));
    fprintf(drawing->out, "z\" fill=\"%s\" fill-opacity=\"0.18\"/>\n", curve->color);
}

static void write_bands(const struct drawing *drawing, const struct plot_curve *curve)
{
    for (size_t from = 0; from < curve->points.n; from++) {
        size_t to = from;
        while (to < curve->points.n && plot_point_has_band(&curve->points.at[to]))
            to++;
        if (to > from)
            write_band(drawing, curve, from, to);
        from = to;
    }
}

static void write_line_attributes(FILE *out, int c, const char *color)
{
    const struct look *look = &looks[c];
    fprintf(out, "fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", color, look->width);
    if (look->dashes)
        fprintf(out, " stroke-dasharray=\"%s\"", look->dashes);
}

static void write_line(const struct drawing *drawing, int c)
{
    const struct plot_curve *curve = &drawing->plot->curves[c];
    const struct plot_point *points = curve->points.at;
    fprintf(drawing->out, "<path class=\"line\" d=\"");
    for (size_t from = 0; from < curve->points.n;) {
        size_t to = plot_run_end(curve, from);
        for (size_t i = from; i < to; i++)
            fprintf(drawing->out, "%c%.2f,%.2f", i == from ? 'M' : 'L',
                    x_of(drawing, points[i].workers), y_of(drawing, points[i].speedup));
        from = to + 1;
    }
    fprintf(drawing->out, "\" ");
    write_line_attributes(drawing->out, c, curve->color);
    fprintf(drawing->out, "/>\n");
    for (size_t i = 0; curve->is_measured && i < curve->points.n; i++)
        if (isfinite(points[i].speedup))
            write_marker(drawing->out, c, curve->color, x_of(drawing, points[i].workers),
                         y_of(drawing, points[i].speedup));
}

static void write_curves(const struct drawing *drawing)
{
    fprintf(
        drawing->out,
        "<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n",
        LEFT, TOP, RIGHT - LEFT + 4, BOTTOM - TOP);
    for (int i = 0; i < PLOT_CURVES; i++) {
        const struct plot_curve *curve = &drawing->plot->curves[plot_order[i]];
        if (!curve->points.n)
            continue;
        fprintf(drawing->out, "<g id=\"%s\" clip-path=\"url(#plot)\">\n", curve->key);
        write_bands(drawing, curve);
        write_line(drawing, plot_order[i]);
        fprintf(drawing->out, "</g>\n");
    }
}

/* ---- legend ---- */

static void write_legend(const struct drawing *drawing)
{
    FILE *out = drawing->out;
    int y = TOP + 10;
    fprintf(out, "<g id=\"legend\" font-size=\"12\">\n");
    for (int c = 0; c < PLOT_CURVES; c++) {
        const struct plot_curve *curve = &drawing->plot->curves[c];
        if (!curve->points.n)
            continue;
        fprintf(out, "<path d=\"M%d,%dh32\" ", LEGEND, y);
        write_line_attributes(out, c, curve->color);
        fprintf(out, "/>\n");
        if (curve->is_measured)
            write_marker(out, c, curve->color, LEGEND + 16, y);
        fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>", LEGEND + 40, y + 4, curve->name);
        fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"#555555\">", LEGEND + 40,
                y + 19);
        write_formula(out, curve->formula);
        fprintf(out, "</text>\n");
        y += LEGEND_STEP;
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"11\">", LEGEND, y + 4);
    if (drawing->plot->coverage > 0)
        fprintf(out,
                PLOT_BANDS "</text>\n<text x=\"%d\" y=\"%d\" font-size=\"11\">" PLOT_BANDS_COVERAGE,
                LEGEND, y + 19, 100 * drawing->plot->coverage);
    else if (drawing->plot->curves[ACTUAL_SPEEDUP].points.n)
        fprintf(out, "no bands: too few runs (hpcrun --repeat)");
    else
        fprintf(out, "no baseline: no run with one worker");
    fprintf(out, "</text>\n</g>\n");
}

void print_scaling_svg(const char *command, const struct scaling_table *table, FILE *out)
{
    struct speedup_plot plot = speedup_plot_of(table);
    struct drawing drawing = {.plot = &plot, .out = out};
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
    speedup_plot_free(&plot);
}
