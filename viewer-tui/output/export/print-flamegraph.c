/* Stacks (export-stacks.h) as a flame graph: one self-contained HTML page, or a drawing in SVG 1.1 without scripts; the
 * outermost frames on top. A frame is as wide as its costs, with those of the frames below; its color is that of its
 * module. Frames that are too narrow are left out: the room below their parent stays empty.
 *
 * In a comparison widths are the right run's, and colors say where it has more or less than the left one. Frames that
 * only the left run has have no width. */
#include "viewer-tui/output/export/flamegraph-frames.h"
#include "viewer-tui/output/export/flamegraph-page.h"

#include "lib/number.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/session-restriction.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/output/timeline-lines.h"
#include "viewer-tui/table/writer.h"

#include <math.h>

/* Smaller relative changes are shown as none. */
#define LEAST_CHANGE 0.005

/* Of the drawing, in pixels. */
#define SVG_WIDTH 1200
#define SVG_TOP   48
#define CHARACTER 6.6 /* the mean width of one in a name */
#define LEAST_BOX 0.1 /* width; narrower frames are left out */

/* Of the strip of the time line on the page. */
#define STRIP_COLUMNS 240
#define STRIP_LABEL   24

struct flamegraph {
    const struct tree *tree;
    const struct metrics *metrics;
    const struct merged_runs *comparison; /* NULL: one database */
    struct frames frames;
    struct text line;
};

/* Adds any text. */
static void add_clean(struct text *out, const char *text)
{
    autofree struct text clean = {0};
    text_add_clean(&clean, text, false);
    text_add_xml(out, text_string(&clean));
}

static void add_costs(struct flamegraph *graph, double costs, size_t metric)
{
    const struct metric *of = &graph->metrics->at[metric];
    struct number_text percent = columns_percent(of, costs, view_whole(graph->tree->view, metric));
    text_add_xml(&graph->line, columns_alone(of, costs).text);
    if (*percent.text) {
        text_add(&graph->line, " (");
        text_add_xml(&graph->line, percent.text);
        text_add(&graph->line, "%)");
    }
}

static void write_line(struct flamegraph *graph)
{
    text_end_line(&graph->line, graph->tree->out);
}

/* Adds "#rrggbb". Hue 0..359, the others in percent. */
static void add_hsl(struct text *out, double hue, double saturation, double lightness)
{
    double range = saturation / 100 * fmin(lightness, 100 - lightness) / 100;
    text_add(out, "#");
    for (int channel = 0; channel < 3; channel++) {
        double k = fmod((double[]){0, 8, 4}[channel] + hue / 30, 12);
        double value = lightness / 100 - range * fmax(fmin(fmin(k - 3, 9 - k), 1), -1);
        text_printf(out, "%02x", (unsigned)lround(255 * value));
    }
}

/* Orange is an increase, blue a decrease, gray no change: the color-blind can tell them apart. `change` is relative to
 * the larger of the two costs: -1..1. */
static void add_color_of_change(struct text *out, double change)
{
    if (fabs(change) < LEAST_CHANGE)
        add_hsl(out, 0, 0, 88);
    else
        add_hsl(out, change > 0 ? 32 : 212, 85, 88 - 28 * fabs(change));
}

static void add_color(struct flamegraph *graph, const struct flame_frame *frame)
{
    double before = frame->total[0], larger = fmax(before, frame->total[1]);
    if (graph->comparison)
        add_color_of_change(&graph->line, larger > 0 ? (frame->total[1] - before) / larger : 0);
    else if (frame->has_module)
        add_hsl(&graph->line, frame->hue, 70, frame->lightness);
    else
        text_add(&graph->line, "#dddddd");
}

static void add_data(struct flamegraph *graph, const char *name, double costs)
{
    text_printf(&graph->line, " data-%s=\"%.0f\"", name,
                round(costs * export_factor(&graph->frames.export, 0)));
}

/* Adds a line of a frame's tooltip. */
static void add_values(struct flamegraph *graph, const char *what, const double costs[SIDES])
{
    const struct frames *frames = &graph->frames;
    text_printf(&graph->line, "&#10;%s", what);
    for (size_t i = 0; i < frames->export.metrics.n; i++) {
        if (graph->comparison) {
            text_add(&graph->line, i ? ", " : "");
            add_clean(&graph->line, comparison_name(graph->comparison, (int)i));
            text_add(&graph->line, " ");
        }
        add_costs(graph, costs[i], frames->export.metrics.at[i]);
    }
    if (!graph->comparison)
        return;
    size_t difference = frames->export.metrics.at[0] + MERGED_DIFFERENCE;
    text_printf(&graph->line, ", %s ", comparison_column(graph->comparison, MERGED_DIFFERENCE));
    add_costs(graph, costs[1] - costs[0], difference);
}

/* Adds the lines that pointing at a frame shows: name, place and costs. */
static void add_tooltip(struct flamegraph *graph, const struct flame_frame *frame, const char *metric)
{
    const char *place = graph->frames.texts.at + frame->place;
    autofree struct text what = {0};
    text_add_xml(&graph->line, frames_name(&graph->frames, frame));
    text_add(&graph->line, *place ? "  " : "");
    text_add_xml(&graph->line, place);
    add_clean(&what, metric);
    text_add(&what, graph->comparison ? ": " : " ");
    add_values(graph, text_string(&what), frame->total);
    add_values(graph, graph->comparison ? "itself: " : "itself ", frame->own);
}

static void write_frame(struct flamegraph *graph, const struct flame_frame *frame,
                        const char *metric)
{
    const struct frames *frames = &graph->frames;
    struct text *line = &graph->line;
    text_add(line, "<div class=\"f\"");
    add_data(graph, "own", frame->own[frames->shown]);
    add_data(graph, "total", frame->total[frames->shown]);
    if (graph->comparison) {
        add_data(graph, "own-before", frame->own[0]);
        add_data(graph, "total-before", frame->total[0]);
    }
    text_add(line, " title=\"");
    add_tooltip(graph, frame, metric);
    text_printf(line, "\" style=\"left:%.4f%%;width:%.4f%%;top:%upx;background:",
                frames_left(frames, frame), frames_width(frames, frame),
                frame->depth * FLAMEGRAPH_ROW);
    add_color(graph, frame);
    text_add(line, "\">");
    text_add_xml(line, frames_name(frames, frame));
    text_add(line, "</div>");
    write_line(graph);
}

static unsigned height(const struct frames *frames)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < frames->list.n; i++)
        if (frames->list.at[i].is_shown && frames->list.at[i].depth > depth)
            depth = frames->list.at[i].depth;
    return (depth + 1) * FLAMEGRAPH_ROW;
}

static void add_sample(struct text *out, double change, const char *what)
{
    text_add(out, " <span class=\"sample\" style=\"background:");
    add_color_of_change(out, change);
    text_printf(out, "\">%s</span>", what);
}

/* Writes the meaning of widths and colors in a comparison. */
static void write_legend(struct flamegraph *graph, const char *metric)
{
    const struct merged_runs *comparison = graph->comparison;
    const struct frames *frames = &graph->frames;
    autofree struct text before = {0}, after = {0};
    add_clean(&before, comparison_name(comparison, 0));
    add_clean(&after, comparison_name(comparison, 1));
    const char *left = text_string(&before), *right = text_string(&after);
    struct text *line = &graph->line;
    text_printf(line, "<p id=\"legend\">Widths: what %s has of ", right);
    add_clean(line, metric);
    if (merged_is_of_repeats(comparison))
        text_printf(line, ", the mean of %zu run%s", merged_group_size(comparison, 1),
                    merged_group_size(comparison, 1) == 1 ? "" : "s");
    text_printf(line, ". Colors, with what is below: %s has", right);
    add_sample(line, -0.9, "a tenth");
    add_sample(line, -0.5, "half");
    add_sample(line, 0, "as much");
    add_sample(line, 0.5, "twice");
    text_printf(line, " of %s, or", left);
    add_sample(line, 1, "something new");
    text_printf(line, ". Not shown, as %s has next to none of it: ", right);
    double left_out = 0; /* costs of the left run in frames that are not shown although those above them are */
    for (size_t i = 0; i < frames->list.n; i++)
        if (!frames->list.at[i].is_shown && frames->list.at[frames->list.at[i].parent].is_shown)
            left_out += frames->list.at[i].total[0];
    add_costs(graph, left_out, frames->export.metrics.at[0]);
    text_printf(line, " of %s.</p>", left);
    write_line(graph);
}

/* Adds what the graph is of, safe for XML. */
static void add_title(struct flamegraph *graph, const char *metric, struct text *out)
{
    const struct tree *tree = graph->tree;
    autofree struct text title = {0};
    run_line_add(tree->session, tree->view->db, LINE_WIDTH, false, &title);
    text_printf(&title, ": %s of %s, %s projection%s", metric, tree->view->class->name,
                projection_name(tree->projection), session_folding_words(tree->session));
    text_add(&title, filters_n(tree->filtered->filters) ? "  filters: " : "");
    tree_add_filters(tree, false, &title);
    add_clean(out, text_string(&title));
}

static void write_page(struct flamegraph *graph, const char *metric)
{
    const struct tree *tree = graph->tree;
    const struct frames *frames = &graph->frames;
    autofree struct text title = {0};
    add_title(graph, metric, &title);
    text_printf(&graph->line, "%s%s%s%s%s", flamegraph_to_title, text_string(&title), flamegraph_to_heading,
                text_string(&title), flamegraph_to_frames);
    fputs(text_string(&graph->line), tree->out);
    text_clear(&graph->line);
    if (graph->comparison)
        write_legend(graph, metric);
    struct open_timeline open;
    if (session_timeline(tree->session) &&
        !open_timeline(&open, tree->session, tree->projection, false, STRIP_COLUMNS)) {
        print_timeline_strip(&(struct timeline_lines){.open = &open, .label_width = STRIP_LABEL}, tree->out);
        close_timeline(&open);
    }
    text_printf(&graph->line, "<div id=\"frames\" style=\"height:%upx\">", height(frames));
    write_line(graph);
    for (size_t i = 0; i < frames->list.n; i++)
        if (frames->list.at[i].is_shown)
            write_frame(graph, &frames->list.at[i], metric);
    text_add(&graph->line, "</div>");
    write_line(graph);
    fputs(flamegraph_end, tree->out);
}

/* ---- SVG ---- */

static void write_box(struct flamegraph *graph, const struct flame_frame *frame, const char *metric)
{
    const struct frames *frames = &graph->frames;
    double x = SVG_WIDTH / 100.0 * frames_left(frames, frame), width = SVG_WIDTH / 100.0 * frames_width(frames, frame);
    unsigned y = SVG_TOP + frame->depth * FLAMEGRAPH_ROW;
    autofree struct text name = {0};
    if (width < LEAST_BOX)
        return;
    text_add(&graph->line, "<g><title>");
    add_tooltip(graph, frame, metric);
    text_printf(&graph->line, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"", x, y, width,
                FLAMEGRAPH_ROW - 1);
    add_color(graph, frame);
    text_add(&name, frames_name(frames, frame));
    size_t room = (size_t)fmax(width / CHARACTER - 0.5, 0);
    bool is_cut = text_columns(text_string(&name)) > room;
    text_cut(&name, room - (is_cut && room > 0));
    text_add(&name, is_cut ? "…" : "");
    text_add(&graph->line, "\"/>");
    if (room > 1) {
        text_printf(&graph->line, "<text x=\"%.2f\" y=\"%u\">", x + 2, y + FLAMEGRAPH_ROW - 6);
        text_add_xml(&graph->line, text_string(&name));
        text_add(&graph->line, "</text>");
    }
    text_add(&graph->line, "</g>");
    write_line(graph);
}

/* What the colors of a comparison mean: a box of each, and its words. */
static void write_color_key(struct flamegraph *graph)
{
    static const struct {
        double change;
        const char *words;
    } keys[] = {{-1, "gone"}, {-0.5, "half"}, {0, "as much"}, {0.5, "twice"}, {1, "new"}};
    text_add(&graph->line, "<text x=\"2\" y=\"36\">widths: ");
    add_clean(&graph->line, comparison_name(graph->comparison, 1));
    text_add(&graph->line, "; colors, in comparison with ");
    add_clean(&graph->line, comparison_name(graph->comparison, 0));
    text_add(&graph->line, ":</text>");
    for (int i = 0; i < 5; i++) {
        text_printf(&graph->line, "<rect x=\"%d\" y=\"25\" width=\"70\" height=\"16\" fill=\"", SVG_WIDTH - 360 + 72 * i);
        add_color_of_change(&graph->line, keys[i].change);
        text_printf(&graph->line, "\"/><text x=\"%d\" y=\"37\">%s</text>", SVG_WIDTH - 356 + 72 * i, keys[i].words);
    }
    write_line(graph);
}

static void write_drawing(struct flamegraph *graph, const char *metric)
{
    autofree struct text title = {0};
    unsigned end = SVG_TOP + height(&graph->frames);
    add_title(graph, metric, &title);
    fprintf(graph->tree->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n"
            "<title>%s</title>\n<rect width=\"%d\" height=\"%u\" fill=\"white\"/>\n"
            "<text x=\"2\" y=\"18\" font-size=\"14\">%s</text>\n",
            SVG_WIDTH, end, SVG_WIDTH, end, text_string(&title), SVG_WIDTH, end, text_string(&title));
    if (graph->comparison)
        write_color_key(graph);
    for (size_t i = 0; i < graph->frames.list.n; i++)
        if (graph->frames.list.at[i].is_shown)
            write_box(graph, &graph->frames.list.at[i], metric);
    fputs("</svg>\n", graph->tree->out);
}

static void print_graph(const struct tree *tree, void (*write)(struct flamegraph *graph, const char *metric))
{
    struct flamegraph graph = {.tree = tree,
                               .metrics = tree->view->metrics,
                               .comparison = comparison_of(tree->view)};
    frames_find(&graph.frames, tree);
    const struct metric *shown = &graph.metrics->at[graph.frames.export.metrics.at[0]];
    autofree char *metric = graph.comparison ? comparison_metric_name(shown) : mem_strdup(shown->name);
    write(&graph, metric);
    frames_free(&graph.frames);
    vec_free(&graph.line);
}

void print_tree_flamegraph(const struct tree *tree)
{
    print_graph(tree, write_page);
}

void print_tree_svg(const struct tree *tree)
{
    print_graph(tree, write_drawing);
}
