/* A time line as a drawing in SVG 1.1, without scripts and style sheets. The states of a cell are stacked, each as
 * high as its share. */
#include "viewer-tui/output/timeline-lines.h"

#include <math.h>

/* Pixels. */
#define COLUMN       5
#define LABEL        210 /* left of the cells */
#define ROW          16
#define STRIP        26 /* a line of the strip */
#define TOP          44
#define STRIP_TOP    16 /* of a strip alone */
#define LEGEND_BOX   30 /* an entry of the legend, without its text */
#define CHARACTER    8  /* as wide as most are */

struct drawing {
    struct timeline_lines *lines;
    struct text parts; /* elements, so far */
    int top; /* below the axis's labels */
    int y;   /* of the next part */
};

static int width_of(const struct drawing *drawing)
{
    return LABEL + COLUMN * (int)drawing->lines->open->chart.window.n + 10;
}

static void write_text(struct drawing *drawing, int x, int y, const char *attributes, const char *text)
{
    autofree struct text clean = {0}, escaped = {0};
    text_add_clean(&clean, text, false);
    text_add_xml(&escaped, text_string(&clean));
    text_printf(&drawing->parts, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, attributes, text_string(&escaped));
}

/* A bar of a column, from a share of the height to another one; nothing if that is not more. */
static void add_bar(struct text *path, unsigned column, double bottom, double height, double from, double to)
{
    if (to > from)
        text_printf(path, "M%u %.2fh%dv%.2fh-%dz", LABEL + COLUMN * column, bottom - height * from, COLUMN,
                    -height * (to - from), COLUMN);
}

static void write_path(struct drawing *drawing, struct text *path, enum time_color color)
{
    if (path->n)
        text_printf(&drawing->parts, "<path fill=\"%s\" d=\"%s\"/>\n", time_color_codes[color], text_string(path));
    text_clear(path);
}

static void write_axis(struct drawing *drawing)
{
    const struct time_window *window = &drawing->lines->open->chart.window;
    uint64_t length = window->end - window->begin, step = timeline_tick_step(length, 10);
    for (uint64_t time = (window->begin + step - 1) / step * step; time < window->end; time += step) {
        autofree struct text label = {0};
        int x = LABEL + (int)((double)(time - window->begin) / (double)length * COLUMN * window->n);
        timeline_add_time(time, step, &label);
        bool fits = x + CHARACTER * (int)label.n <= width_of(drawing); /* else its label ends at the tick */
        text_printf(&drawing->parts, "<path stroke=\"#bbbbbb\" d=\"M%d %dV%d\"/>\n", x, drawing->top - 14, drawing->y);
        write_text(drawing, fits ? x + 2 : x - 2, drawing->top - 4,
                   fits ? " font-size=\"11\"" : " font-size=\"11\" text-anchor=\"end\"", text_string(&label));
    }
}

static void write_strip(struct drawing *drawing)
{
    double most = timeline_strip_most(drawing->lines);
    autofree struct text label = {0}, path = {0};
    for (size_t line = 0; line < STRIP_LINES; line++) {
        text_clear(&label);
        if (!timeline_strip_label(drawing->lines, line, &label))
            continue;
        drawing->y += STRIP;
        for (unsigned column = 0; column < drawing->lines->open->chart.window.n; column++)
            add_bar(&path, column, drawing->y, STRIP - 2, 0, timeline_strip_value(drawing->lines, line, column) / most);
        text_add(&drawing->parts, "<g class=\"strip\">\n");
        write_text(drawing, 4, drawing->y - 6, "", text_string(&label));
        write_path(drawing, &path, strip_lines[line].color);
        text_add(&drawing->parts, "</g>\n");
    }
    drawing->y += ROW / 2;
}

/* States, stacked in their order. */
static void write_states(struct drawing *drawing, const struct time_cell *cells)
{
    const struct time_chart *chart = &drawing->lines->open->chart;
    double length = timeline_column_length(drawing->lines);
    autofree double *below = mem_alloc(chart->window.n * sizeof *below);
    autofree struct text path = {0};
    for (int state = 0; state < SHOWN_STATES; state++) {
        for (unsigned column = 0; column < chart->window.n; column++) {
            double sum = time_cell_sum(&cells[column]), whole = chart->timeline->is_time ? fmax(sum, length) : sum;
            double share = whole > 0 ? shown_state_amount(&cells[column], (enum shown_state)state) / whole : 0;
            add_bar(&path, column, drawing->y, ROW - 2, below[column], below[column] + share);
            below[column] += share;
        }
        write_path(drawing, &path, state_looks[state].color);
    }
}

/* What has most of each cell. */
static void write_procedures(struct drawing *drawing, const struct time_cell *cells)
{
    const struct time_chart *chart = &drawing->lines->open->chart;
    autofree struct text path = {0};
    for (int color = 0; color < TIME_COLORS; color++) {
        for (unsigned column = 0; column < chart->window.n; column++) {
            struct time_look look = timeline_look(drawing->lines, &cells[column]);
            if (look.color == (enum time_color)color)
                add_bar(&path, column, drawing->y, ROW - 2, 0, look.share);
        }
        write_path(drawing, &path, (enum time_color)color);
    }
}

static void write_rows(struct drawing *drawing)
{
    struct time_chart *chart = &drawing->lines->open->chart;
    for (size_t row = 0; row < chart->rows.rows.n; row++) {
        autofree struct text label = {0};
        const struct time_cell *cells = time_chart_cells(chart, row);
        drawing->y += ROW;
        timeline_line_label(drawing->lines, row, &label);
        text_trim(&label);
        text_add(&drawing->parts, "<g class=\"row\">\n");
        write_text(drawing, 4, drawing->y - 4, "", text_string(&label));
        if (chart->depth)
            write_procedures(drawing, cells);
        else
            write_states(drawing, cells);
        text_add(&drawing->parts, "</g>\n");
    }
}

static void write_legend(struct drawing *drawing)
{
    autofree struct text name = {0};
    char symbol;
    enum time_color color;
    int x = 4;
    drawing->y += 2 * ROW;
    for (size_t at = 0; timeline_legend(drawing->lines, &at, &symbol, &color, &name);) {
        /* A drawing has no letters that tell apart what is gray: it is a part of the others. */
        if (drawing->lines->open->chart.depth && color == TIME_GRAY && symbol != '*') {
            drawing->lines->has_symbol['*'] = true;
            continue;
        }
        int width = LEGEND_BOX + CHARACTER * (int)text_columns(text_string(&name));
        if (x > 4 && x + width > width_of(drawing)) {
            x = 4;
            drawing->y += ROW;
        }
        text_printf(&drawing->parts, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>", x,
                    drawing->y - 10, time_color_codes[color]);
        write_text(drawing, x + 14, drawing->y, "", text_string(&name));
        x += width;
    }
    text_clear(&name);
    timeline_add_note(drawing->lines->open, &name);
    drawing->y += ROW;
    write_text(drawing, 4, drawing->y, " fill=\"#555555\"", text_string(&name));
}

void print_timeline_strip(struct timeline_lines *lines, FILE *out)
{
    struct drawing drawing = {.lines = lines, .top = STRIP_TOP, .y = STRIP_TOP};
    write_strip(&drawing);
    write_axis(&drawing);
    fprintf(out,
            "<svg id=\"strip\" width=\"100%%\" viewBox=\"0 0 %d %d\" font-size=\"12\" fill=\"currentColor\">\n"
            "%s</svg>\n",
            width_of(&drawing), drawing.y, text_string(&drawing.parts));
    vec_free(&drawing.parts);
}

/* The parts come first, since they say how high the drawing is. */
void print_timeline_svg(struct timeline_lines *lines, const char *command, FILE *out)
{
    struct drawing drawing = {.lines = lines, .top = TOP, .y = TOP};
    autofree struct text title = {0};
    letters_give(&lines->letters, &lines->open->chart, 0, lines->open->chart.rows.rows.n);
    text_printf(&title, "%s: ", command);
    timeline_add_title(lines, SIZE_MAX, &title);
    write_text(&drawing, 4, 18, " font-size=\"14\"", text_string(&title));
    write_strip(&drawing);
    write_rows(&drawing);
    write_axis(&drawing);
    write_legend(&drawing);
    int width = width_of(&drawing), height = drawing.y + ROW / 2;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n%s</svg>\n",
            width, height, width, height, width, height, text_string(&drawing.parts));
    vec_free(&drawing.parts);
}
