/* The speedup plot in cells of the terminal, against places by hand. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/scaling/plot-cells.h"

#include <math.h>

/* Columns left of the curves, lines below them. */
#define LEFT  7
#define BELOW 2

#define WIDTH  67
#define HEIGHT 22

static struct speedup_plot plot;

/* 1, 2 and 4 workers: times 8, 5 and 4. */
STEP(make_plot)
{
    static const struct run_values runs[] = {{.workers = 1, .wall = 8, .idleness = 0},
                                             {.workers = 2, .wall = 5, .idleness = 1},
                                             {.workers = 4, .wall = 4, .idleness = NAN}};
    run_value_list list = {0};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        vec_push(&list, runs[i]);
    struct scaling_table table = scaling_table_of(&list);
    plot = speedup_plot_of(&table);
    scaling_table_free(&table);
    vec_free(&list);
}

STEP(free_plot)
{
    speedup_plot_free(&plot);
}

EACH_TEST(make_plot, free_plot);

/* The cell of a value, where dots are `across` and `down` in a cell. */
static const struct plot_cell *cell_of(const struct plot_cells *cells, double workers,
                                       double speedup, int across, int down)
{
    int dots_across = (cells->width - LEFT) * across, dots_down = (cells->height - BELOW) * down;
    double x = workers / 4 * (dots_across - 1);
    double y = (1 - speedup / (4 * 1.04)) * (dots_down - 1);
    return plot_cell_at(cells, (int)lround(y) / down, LEFT + (int)lround(x) / across);
}

TEST(letters_are_where_the_speedups_are)
{
    for (int ascii = 0; ascii < 2; ascii++) {
        struct plot_cells cells = plot_cells_of(&plot, WIDTH, HEIGHT, ascii);
        int across = ascii ? 1 : 2, down = ascii ? 1 : 4;
        assert_string_equal(cell_of(&cells, 2, 8 / 5.0, across, down)->text, "a");
        assert_string_equal(cell_of(&cells, 4, 8 / 4.0, across, down)->text, "a");
        assert_string_equal(cell_of(&cells, 4, 4, across, down)->text, "m");
        assert_string_equal(cell_of(&cells, 2, 2 * 8 / 9.0, across, down)->text, "f");
        assert_int_equal(cell_of(&cells, 4, 4, across, down)->curve, MAXIMAL_SPEEDUP);
        plot_cells_free(&cells);
    }
}

/* Rows of the dots in a column of dots; returns their number. */
static size_t dots_in_column(const struct plot_cells *cells, int x, int *rows)
{
    static const int bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    size_t n = 0;
    for (int y = 0; y < (cells->height - BELOW) * 4; y++)
        if (plot_cell_at(cells, y / 4, LEFT + x / 2)->dots & bits[y % 4][x % 2])
            rows[n++] = y;
    return n;
}

TEST(a_straight_line_has_a_dot_in_each_column)
{
    for (int c = LINEAR_SPEEDUP + 1; c < PLOT_CURVES; c++)
        plot.curves[c].points.n = 0;
    struct plot_cells cells = plot_cells_of(&plot, WIDTH, HEIGHT, false);
    int columns = (WIDTH - LEFT) * 2, lines = (HEIGHT - BELOW) * 4, rows[4 * HEIGHT];
    for (int x = 0; x < columns; x++) {
        size_t n = dots_in_column(&cells, x, rows);
        double y = (1 - (double)x / (columns - 1) / 1.04) * (lines - 1);
        assert_true(n >= 1 && n <= 2);
        assert_true(fabs(rows[n - 1] - y) <= 1);
    }
    plot_cells_free(&cells);
}

/* A steep line has no gaps: each column begins below or beside the end of the one before. */
TEST(steep_lines_have_no_gaps)
{
    for (int c = 0; c < PLOT_CURVES; c++)
        plot.curves[c].points.n = 0;
    struct plot_curve *curve = &plot.curves[CURVE_WORK_LAW];
    vec_push(&curve->points, (struct plot_point){1, 0, NAN, NAN});
    vec_push(&curve->points, (struct plot_point){1.3, 4, NAN, NAN});
    struct plot_cells cells = plot_cells_of(&plot, WIDTH, HEIGHT, false);
    int rows[4 * HEIGHT], last = -1;
    size_t all = 0;
    for (int x = 0; x < (WIDTH - LEFT) * 2; x++) {
        size_t n = dots_in_column(&cells, x, rows);
        if (n && last >= 0)
            assert_true(rows[n - 1] >= last - 1);
        if (n)
            last = rows[0];
        all += n;
    }
    assert_true(all >= 70);
    plot_cells_free(&cells);
}

TEST(laws_outside_of_the_plot_are_cut)
{
    struct plot_curve *curve = &plot.curves[CURVE_SPAN_LAW];
    vec_push(&curve->points, (struct plot_point){1, 1e300, NAN, NAN});
    vec_push(&curve->points, (struct plot_point){4, -1e300, NAN, NAN});
    struct plot_cells cells = plot_cells_of(&plot, WIDTH, HEIGHT, false);
    assert_non_null(cells.at);
    plot_cells_free(&cells);
}

TEST(bands_are_vertical_bars)
{
    for (int c = 0; c < PLOT_CURVES; c++)
        plot.curves[c].points.n = 0;
    vec_push(&plot.curves[ACTUAL_SPEEDUP].points, (struct plot_point){4, 2, 1, 3});
    struct plot_cells cells = plot_cells_of(&plot, WIDTH, HEIGHT, false);
    int rows[4 * HEIGHT], lines = (HEIGHT - BELOW) * 4;
    size_t n = dots_in_column(&cells, (WIDTH - LEFT) * 2 - 1, rows);
    assert_int_equal(rows[0], lround((1 - 3 / 4.16) * (lines - 1)));
    assert_int_equal(rows[n - 1], lround((1 - 1 / 4.16) * (lines - 1)));
    plot_cells_free(&cells);
}

/* The characters of a line. */
static void line_of(const struct plot_cells *cells, int line, char *text)
{
    *text = '\0';
    for (int i = 0; i < cells->width; i++) {
        const struct plot_cell *cell = plot_cell_at(cells, line, i);
        strcat(text, *cell->text ? cell->text : " ");
    }
}

/* 20 columns of curves: 1, 2 and 4 workers are 4.75, 9.5 and 19 columns from the left. */
TEST(axes_have_the_numbers_of_workers)
{
    struct plot_cells cells = plot_cells_of(&plot, 27, 12, true);
    char text[5 * WIDTH];
    line_of(&cells, 11, text);
    assert_string_equal(text, "      0     1    2        4");
    line_of(&cells, 10, text);
    assert_string_equal(text, "      +-----+----+--------+");
    line_of(&cells, 0, text);
    assert_memory_equal(text, "    4 +", 7);
    for (int i = 0; i < cells.width * cells.height; i++)
        assert_true((unsigned char)cells.at[i].text[0] < 0x80 && !cells.at[i].text[1]);
    plot_cells_free(&cells);
}

TEST(every_size_is_possible)
{
    for (int width = -1; width < 40; width++)
        for (int height = -1; height < 20; height++) {
            struct plot_cells cells = plot_cells_of(&plot, width, height, width % 2);
            bool has_room = width >= LEAST_PLOT_WIDTH && height >= LEAST_PLOT_HEIGHT;
            assert_int_equal(cells.width, has_room ? width : 0);
            plot_cells_free(&cells);
        }
}
