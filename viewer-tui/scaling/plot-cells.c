#include "viewer-tui/scaling/plot-cells.h"

#include "lib/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the labels of the speedup axis, and of that with its axis. */
#define LABEL_COLUMNS 5
#define LEFT          (LABEL_COLUMNS + 2)

/* Lines below the curves: the axis and its labels. */
#define BELOW 2

/* Lines between two ticks of the speedup axis. */
#define LINES_PER_TICK 3

#define BRAILLE 0x2800

/* Dots of a cell. */
#define DOTS_ACROSS 2
#define DOTS_DOWN   4

struct canvas {
    const struct speedup_plot *plot;
    struct plot_cells cells;
    bool ascii;
    int across, down; /* dots of a cell: in ASCII 1 */
};

static int columns_of(const struct canvas *canvas)
{
    return canvas->cells.width - LEFT;
}

static int lines_of(const struct canvas *canvas)
{
    return canvas->cells.height - BELOW;
}

static struct plot_cell *cell_at(struct canvas *canvas, int line, int column)
{
    return &canvas->cells.at[line * canvas->cells.width + column];
}

/* ---- from values to dots, which count from the upper left corner ---- */

static double dot_across(const struct canvas *canvas, double workers)
{
    int dots = columns_of(canvas) * canvas->across;
    return workers / canvas->plot->most_workers * (dots - 1);
}

static double dot_down(const struct canvas *canvas, double speedup)
{
    int dots = lines_of(canvas) * canvas->down;
    return (1 - speedup / canvas->plot->most_speedup) * (dots - 1);
}

/* ---- cells ---- */

static void put_text(struct canvas *canvas, int line, int column, const char *text)
{
    for (; *text && column >= 0 && column < canvas->cells.width; text++, column++) {
        struct plot_cell *cell = cell_at(canvas, line, column);
        cell->text[0] = *text;
        cell->text[1] = '\0';
    }
}

static void put_symbol(struct canvas *canvas, int line, int column, const char *symbol,
                       const char *in_ascii)
{
    struct plot_cell *cell = cell_at(canvas, line, column);
    snprintf(cell->text, sizeof cell->text, "%s", canvas->ascii ? in_ascii : symbol);
}

static void put_dot(struct canvas *canvas, int x, int y, int curve)
{
    static const uint8_t bits[DOTS_DOWN][DOTS_ACROSS] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int line = y / canvas->down, column = x / canvas->across;
    if (x < 0 || y < 0 || line >= lines_of(canvas) || column >= columns_of(canvas))
        return;
    struct plot_cell *cell = cell_at(canvas, line, LEFT + column);
    cell->curve = (int8_t)curve;
    if (canvas->ascii)
        cell->text[0] = canvas->plot->curves[curve].letter;
    else
        cell->dots |= bits[y % DOTS_DOWN][x % DOTS_ACROSS];
}

/* Dots of one column, of which those outside of the plot are left out. */
static void put_column(struct canvas *canvas, int x, double from, double to, int curve)
{
    double last = lines_of(canvas) * canvas->down;
    double low = fmax(fmin(from, to), -1), high = fmin(fmax(from, to), last);
    for (int y = (int)lround(low); y <= lround(high) && low <= last && high >= -1; y++)
        put_dot(canvas, x, y, curve);
}

/* A line without gaps: each column of dots begins where the one before has ended. */
static void put_line(struct canvas *canvas, const struct plot_point *from,
                     const struct plot_point *to, int curve)
{
    double x1 = dot_across(canvas, from->workers), x2 = dot_across(canvas, to->workers);
    double y1 = dot_down(canvas, from->speedup), y2 = dot_down(canvas, to->speedup);
    double slope = x2 > x1 ? (y2 - y1) / (x2 - x1) : 0, before = y1;
    for (int x = (int)lround(x1); x <= lround(x2); x++) {
        double y = y1 + (fmin(fmax(x, x1), x2) - x1) * slope;
        put_column(canvas, x, y, fabs(y - before) > 1 ? before + (y > before ? 1 : -1) : y, curve);
        before = y;
    }
}

/* ---- axes ---- */

static void draw_speedup_axis(struct canvas *canvas)
{
    int lines = lines_of(canvas), most = lines / LINES_PER_TICK;
    double end = canvas->plot->most_speedup, step = plot_tick_step(end, most > 1 ? most : 1);
    for (int line = 0; line < lines; line++)
        put_symbol(canvas, line, LEFT - 1, "│", "|");
    put_symbol(canvas, lines, LEFT - 1, "└", "+");
    for (int i = 1; i * step <= end; i++) {
        char label[32];
        int line = (int)lround(dot_down(canvas, i * step)) / canvas->down;
        int length = snprintf(label, sizeof label, "%g", i * step);
        if (length <= LABEL_COLUMNS)
            put_text(canvas, line, LABEL_COLUMNS - length, label);
        put_symbol(canvas, line, LEFT - 1, "┤", "+");
    }
}

/* Ticks are the measured numbers of workers; where labels would touch, the larger ones. */
static void draw_workers_axis(struct canvas *canvas)
{
    int lines = lines_of(canvas), next = canvas->cells.width + 1;
    for (int column = LEFT; column < canvas->cells.width; column++)
        put_symbol(canvas, lines, column, "─", "-");
    put_text(canvas, lines + 1, LEFT - 1, "0");
    for (size_t i = canvas->plot->workers.n; i-- > 0;) {
        char label[32];
        double workers = canvas->plot->workers.at[i];
        int column = LEFT + (int)lround(dot_across(canvas, workers)) / canvas->across;
        int length = snprintf(label, sizeof label, "%g", workers), first = column - length / 2;
        first = first + length < canvas->cells.width ? first : canvas->cells.width - length;
        if (first + length >= next || first <= LEFT)
            continue;
        put_symbol(canvas, lines, column, "┴", "+");
        put_text(canvas, lines + 1, first, label);
        next = first;
    }
}

/* ---- curves ---- */

static void draw_curve(struct canvas *canvas, int number)
{
    const struct plot_curve *curve = &canvas->plot->curves[number];
    for (size_t i = 0; i < curve->points.n; i++) {
        const struct plot_point *point = &curve->points.at[i];
        if (!isfinite(point->speedup))
            continue;
        if (plot_point_has_band(point) && !canvas->ascii)
            put_column(canvas, (int)lround(dot_across(canvas, point->workers)),
                       dot_down(canvas, point->low), dot_down(canvas, point->high), number);
        if (i > 0 && isfinite(point[-1].speedup))
            put_line(canvas, point - 1, point, number);
    }
}

static void draw_letters(struct canvas *canvas, int number)
{
    const struct plot_curve *curve = &canvas->plot->curves[number];
    for (size_t i = 0; curve->is_measured && i < curve->points.n; i++) {
        const struct plot_point *point = &curve->points.at[i];
        if (!isfinite(point->speedup))
            continue;
        int line = (int)lround(dot_down(canvas, point->speedup)) / canvas->down;
        int column = (int)lround(dot_across(canvas, point->workers)) / canvas->across;
        struct plot_cell *cell = cell_at(canvas, line, LEFT + column);
        *cell = (struct plot_cell){.text = {curve->letter}, .curve = (int8_t)number};
    }
}

struct plot_cells plot_cells_of(const struct speedup_plot *plot, int width, int height, bool ascii)
{
    struct canvas canvas = {.plot = plot,
                            .ascii = ascii,
                            .across = ascii ? 1 : DOTS_ACROSS,
                            .down = ascii ? 1 : DOTS_DOWN};
    if (width < LEAST_PLOT_WIDTH || height < LEAST_PLOT_HEIGHT)
        return canvas.cells;
    canvas.cells.width = width;
    canvas.cells.height = height;
    canvas.cells.at = mem_alloc((size_t)width * (size_t)height * sizeof *canvas.cells.at);
    for (int i = 0; i < width * height; i++)
        canvas.cells.at[i].curve = NO_CURVE;
    draw_speedup_axis(&canvas);
    draw_workers_axis(&canvas);
    for (int i = 0; i < PLOT_CURVES; i++)
        draw_curve(&canvas, plot_order[i]);
    for (int i = 0; i < PLOT_CURVES; i++)
        draw_letters(&canvas, plot_order[i]);
    for (int i = 0; i < width * height; i++) {
        struct plot_cell *cell = &canvas.cells.at[i];
        if (cell->dots && !*cell->text)
            cell->text[utf8_encode(BRAILLE + cell->dots, cell->text)] = '\0';
    }
    return canvas.cells;
}

void plot_cells_free(struct plot_cells *cells)
{
    free(cells->at);
}
