/* The speedup plot as a script for gnuplot 5, with its data in it:
 *
 *     hpcviewer --print scaling --format gnuplot --output s.gp SET
 *     gnuplot -p s.gp
 *     gnuplot -e 'set terminal pdfcairo; set output "s.pdf"' s.gp */
#include "viewer-tui/output/print-scaling.h"

#include "viewer-tui/scaling/speedup-plot.h"

#include <math.h>

/* The first column of the data has the workers. Behind it, each measured curve has three: its
 * speedup, and the low and the high end of its band. */
static size_t column_of(int curve)
{
    return 2 + 3 * (size_t)(curve - MAXIMAL_SPEEDUP);
}

static void write_number(FILE *out, double value)
{
    char text[JSON_DOUBLE_SIZE] = "NaN";
    if (isfinite(value))
        json_format_double(value, text);
    fprintf(out, " %s", text);
}

static void write_data(const struct scaling_table *table, const struct speedup_plot *plot,
                       FILE *out)
{
    fprintf(out, "# workers");
    for (int c = MAXIMAL_SPEEDUP; c < SPEEDUP_KINDS; c++)
        fprintf(out, "; %s, low, high", plot->curves[c].name);
    fprintf(out, "\n$speedups << END\n");
    for (size_t r = 0; r < table->rows.n; r++) {
        const struct scaling_row *row = &table->rows.at[r];
        fprintf(out, "%u", row->workers);
        for (int c = MAXIMAL_SPEEDUP; c < SPEEDUP_KINDS; c++) {
            const struct speedup *of = &row->speedups[c];
            write_number(out, of->value);
            write_number(out, of->low);
            write_number(out, of->high);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "END\n");
}

/* Text in single quotes, where gnuplot takes no character but the quote for anything else. */
static void write_quoted(FILE *out, const char *text)
{
    struct text clean = {0};
    text_add_clean_code(&clean, text, false); /* it has its escapes */
    fputc('\'', out);
    for (const char *at = text_string(&clean); *at; at++)
        fprintf(out, *at == '\'' ? "''" : "%c", *at);
    fputc('\'', out);
    vec_free(&clean);
}

static void write_settings(const char *command, const struct speedup_plot *plot, FILE *out)
{
    fprintf(out, "set title ");
    write_quoted(out, command);
    fprintf(out, " noenhanced\n"
                 "set xlabel 'workers P'\n"
                 "set ylabel 'speedup T_s / T_P'\n"
                 "set key outside right top\n"
                 "set grid\n");
    if (plot->coverage > 0)
        fprintf(out, "set key title \"" PLOT_BANDS "\\n" PLOT_BANDS_COVERAGE "\"\n",
                100 * plot->coverage);
    fprintf(out, "set xrange [0:%g]\nset yrange [0:%g]\n", plot->most_workers, plot->most_speedup);
}

static void write_laws(const struct scaling_table *table, FILE *out)
{
    const struct work_span *of = &table->work_span;
    fprintf(out, "# seconds\nT_s =");
    write_number(out, table->baseline);
    fprintf(out, "\nwork =");
    write_number(out, of->work);
    fprintf(out, "\nspan =");
    write_number(out, of->span);
    fprintf(out,
            "%s\nwork_law(P) = T_s / (work / P)\n"
            "span_law(P) = T_s / span\n",
            of->why_lower_bound ? " # a lower bound" : "");
    if (of->why_lower_bound)
        return;
    fprintf(out, "burdened_span =");
    write_number(out, of->burdened_span);
    fprintf(out, "\nburdened(P) = T_s / (work / P + 1.7 * burdened_span)\n");
}

static void write_curve(const struct plot_curve *curve, size_t column, FILE *out)
{
    bool has_band = false;
    for (size_t i = 0; i < curve->points.n; i++)
        has_band |= plot_point_has_band(&curve->points.at[i]);
    if (has_band)
        fprintf(out,
                ", \\\n     $speedups using 1:%zu:%zu with filledcurves fs transparent solid 0.2 "
                "noborder lc rgb '%s' notitle",
                column + 1, column + 2, curve->color);
    fprintf(out, ", \\\n     $speedups using 1:%zu with linespoints lc rgb '%s' title '%s'", column,
            curve->color, curve->name);
}

void print_scaling_gnuplot(const char *command, const struct scaling_table *table, FILE *out)
{
    struct speedup_plot plot = speedup_plot_of(table);
    bool has_laws = plot.curves[CURVE_WORK_LAW].points.n > 0;
    write_data(table, &plot, out);
    if (has_laws)
        write_laws(table, out);
    write_settings(command, &plot, out);
    fprintf(out, "plot x with lines dt 3 lc 'black' title 'linear'");
    for (int c = MAXIMAL_SPEEDUP; c < SPEEDUP_KINDS; c++)
        if (plot.curves[c].points.n)
            write_curve(&plot.curves[c], column_of(c), out);
    for (int c = CURVE_WORK_LAW; has_laws && c <= CURVE_BURDENED; c++)
        if (plot.curves[c].points.n)
            fprintf(out, ", \\\n     %s(x) with lines dt 2 lc rgb '%s' title '%s'",
                    plot.curves[c].key, plot.curves[c].color, plot.curves[c].name);
    fprintf(out, "\n");
    speedup_plot_free(&plot);
}
