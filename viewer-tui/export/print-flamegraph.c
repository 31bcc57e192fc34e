/* Stacks (stacks.h) as a flame graph: one HTML page without anything else, the outermost frames on
 * top. A frame is as wide as the part of the costs in it and in the frames below; its colour is its
 * module's. Frames under MIN_WIDTH are left out: the room below the one above stays empty. */
#include "viewer-tui/export/flamegraph-page.h"
#include "viewer-tui/export/stacks.h"

#include "lib/idmap.h"
#include "lib/number.h"
#include "viewer-tui/views/describe.h"
#include "viewer-tui/views/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In percent of the whole. Nobody could see or hit what is smaller, even zoomed in. */
#define MIN_WIDTH 0.001

struct frame {
    uint32_t parent, depth;
    size_t name, place; /* where their texts begin; what is in `texts` ends with a NUL */
    unsigned hue, lightness;
    bool has_module;
    double own, total;
    double next; /* where the next frame below begins, as costs from the left */
};

struct printing {
    const struct tree *tree;
    const struct metric *metric;
    double factor, whole, whole_of_percent;
    VEC(struct frame) frames;
    uint32_t current;
    struct text texts, line;
};

/* Adds what is text in XML. U+FFFE and U+FFFF, which are not, become U+FFFD. */
static void add_escaped(struct text *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': text_add(out, "&amp;"); break;
        case '<': text_add(out, "&lt;"); break;
        case '>': text_add(out, "&gt;"); break;
        case '"': text_add(out, "&quot;"); break;
        default:
            if (strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0) {
                text_add(out, "\xef\xbf\xbd");
                text += 2;
            } else {
                text_add_bytes(out, text, 1);
            }
        }
    }
}

static size_t end_of_texts(struct printing *printing)
{
    if (printing->texts.n)
        text_add_bytes(&printing->texts, "", 1);
    return printing->texts.n;
}

static struct frame describe(struct printing *printing, const struct view *view, uint32_t row)
{
    struct frame frame = {.name = end_of_texts(printing)};
    stacks_name(view, row, &printing->texts);
    const char *name = text_string(&printing->texts) + frame.name;
    frame.lightness = 62 + (unsigned)(hash_bytes(name, strlen(name)) % 18);
    frame.place = end_of_texts(printing);
    describe_location(view, row, false, &printing->texts);
    const char *module = database_module_path(view->db, label_module(view, row));
    frame.has_module = module != NULL;
    if (module)
        frame.hue = (unsigned)(hash_bytes(module, strlen(module)) % 360);
    return frame;
}

static void enter(void *context, const struct view *view, uint32_t row)
{
    struct printing *printing = context;
    struct frame frame = describe(printing, view, row);
    if (printing->frames.n) {
        frame.parent = printing->current;
        frame.depth = printing->frames.at[printing->current].depth + 1;
    }
    printing->current = (uint32_t)printing->frames.n;
    vec_push(&printing->frames, frame);
}

static void leave(void *context, const struct view *view, uint32_t row, const double *own)
{
    struct printing *printing = context;
    struct frame *frame = &printing->frames.at[printing->current];
    bool is_first = printing->current == 0;
    (void)view;
    (void)row;
    frame->own = *own;
    frame->total += *own;
    printing->current = frame->parent;
    if (!is_first)
        printing->frames.at[frame->parent].total += frame->total;
}

static void add_costs(struct printing *printing, double costs)
{
    char value[NUMBER_WITH_UNIT_SIZE], percent[NUMBER_SIZE];
    number_with_unit(costs, printing->metric->unit, value);
    number_percent(costs, printing->whole_of_percent, percent);
    add_escaped(&printing->line, value);
    if (*percent) {
        text_add(&printing->line, " (");
        add_escaped(&printing->line, percent);
        text_add(&printing->line, "%)");
    }
}

static void write_line(struct printing *printing)
{
    text_end_line(&printing->line, printing->tree->out);
}

/* `left` is where it begins, as costs. */
static void write_frame(struct printing *printing, const struct frame *frame, double left)
{
    struct text *line = &printing->line;
    const char *name = printing->texts.at + frame->name, *place = printing->texts.at + frame->place;
    text_printf(line, "<div class=\"f\" data-own=\"%.0f\" data-total=\"%.0f\" title=\"",
                round(frame->own * printing->factor), round(frame->total * printing->factor));
    add_escaped(line, name);
    if (*place) {
        text_add(line, "  ");
        add_escaped(line, place);
    }
    text_add(line, "&#10;");
    add_escaped(line, printing->metric->name);
    text_add(line, " ");
    add_costs(printing, frame->total);
    text_add(line, "&#10;itself ");
    add_costs(printing, frame->own);
    text_printf(line, "\" style=\"left:%.4f%%;width:%.4f%%;top:%upx;background:",
                100 * left / printing->whole, 100 * frame->total / printing->whole,
                frame->depth * FLAMEGRAPH_ROW);
    if (frame->has_module)
        text_printf(line, "hsl(%u,70%%,%u%%)\">", frame->hue, frame->lightness);
    else
        text_add(line, "#ddd\">");
    add_escaped(line, name);
    text_add(line, "</div>");
    write_line(printing);
}

static double width(const struct printing *printing, const struct frame *frame)
{
    return printing->whole > 0 ? 100 * frame->total / printing->whole : 0;
}

static unsigned height(const struct printing *printing)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < printing->frames.n; i++)
        if (printing->frames.at[i].depth > depth &&
            width(printing, &printing->frames.at[i]) > MIN_WIDTH)
            depth = printing->frames.at[i].depth;
    return (depth + 1) * FLAMEGRAPH_ROW;
}

/* Frames below one that is too small are too small themselves. */
static void write_frames(struct printing *printing)
{
    text_printf(&printing->line, "<div id=\"frames\" style=\"height:%upx\">", height(printing));
    write_line(printing);
    write_frame(printing, &printing->frames.at[0], 0);
    for (size_t i = 1; i < printing->frames.n; i++) {
        struct frame *frame = &printing->frames.at[i];
        struct frame *parent = &printing->frames.at[frame->parent];
        if (width(printing, frame) <= MIN_WIDTH)
            continue;
        frame->next = parent->next;
        parent->next += frame->total;
        write_frame(printing, frame, frame->next);
    }
}

/* Walks through the stacks, in a frame of the whole program if that is where they begin. */
static void find_frames(struct printing *printing, size_t metric)
{
    const struct tree *tree = printing->tree;
    struct stack_visitor visitor = {.enter = enter, .leave = leave, .context = printing};
    if (tree->root == 0) {
        struct frame program = describe(printing, tree->view, 0);
        vec_push(&printing->frames, program);
    }
    stacks_walk(tree, &metric, 1, &visitor);
    struct frame *first = &printing->frames.at[0];
    if (tree->root == 0) {
        double whole = view_cost(tree->view, 0, metric, INCLUSIVE);
        first->own = whole > first->total ? whole - first->total : 0;
        first->total = whole;
    }
    printing->whole = first->total;
}

static void write_title(struct printing *printing)
{
    const struct tree *tree = printing->tree;
    struct text title = {0}, clean = {0};
    text_printf(&title, "%s: %s of %s, %s projection", session_title(tree->session, tree->view->db),
                printing->metric->name, tree->view->class->name, projection_name(tree->projection));
    text_add_clean(&clean, text_string(&title), false);
    text_add(&printing->line, flamegraph_to_title);
    add_escaped(&printing->line, text_string(&clean));
    text_add(&printing->line, flamegraph_to_heading);
    add_escaped(&printing->line, text_string(&clean));
    text_add(&printing->line, flamegraph_to_frames);
    fputs(text_string(&printing->line), tree->out);
    text_clear(&printing->line);
    vec_free(&title);
    vec_free(&clean);
}

void print_tree_flamegraph(const struct tree *tree)
{
    struct view *view = tree->view;
    size_t metric = view->sorting.metric;
    struct printing printing = {.tree = tree, .metric = &view->metrics->at[metric]};
    printing.factor = stacks_factor(printing.metric);
    printing.whole_of_percent = view_whole(view, metric);
    find_frames(&printing, metric);
    write_title(&printing);
    write_frames(&printing);
    fputs(flamegraph_end, tree->out);
    vec_free(&printing.frames);
    vec_free(&printing.texts);
    vec_free(&printing.line);
}
