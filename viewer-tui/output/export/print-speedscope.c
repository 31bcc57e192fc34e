/* Stacks (export-stacks.h) as a file for speedscope, https://www.speedscope.app: a profile of
 * samples, each a stack with its own costs. In the bottom-up view callers come last, as in that
 * view. */
#include "viewer-tui/output/export/export-stacks.h"

#include "lib/hash-tables.h"
#include "lib/json.h"
#include "viewer-tui/tree/label.h"

#include <math.h>
#include <stdlib.h>

/* A frame as speedscope shows it. */
struct frame {
    char *name;
    uint32_t file, line;
};

struct printing {
    struct json_writer json;
    const struct database *db;
    struct idmap ids; /* (kind, place) -> frame */
    VEC(struct frame) frames;
    VEC(uint32_t) stack;
    VEC(double) weights;
    double factor;
};

static uint32_t frame_of(struct printing *printing, const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    uint32_t kind = row->kind == KIND_INLINED ? KIND_PROCEDURE : row->kind;
    uint32_t id = idmap_get(&printing->ids, kind, row->place);
    if (id != IDMAP_NONE)
        return id;
    struct frame frame;
    struct text name = {0};
    stacks_name(view, number, &name);
    frame.name = mem_strdup(text_string(&name));
    label_place(view, number, &frame.file, &frame.line);
    vec_free(&name);
    id = (uint32_t)printing->frames.n;
    vec_push(&printing->frames, frame);
    idmap_put(&printing->ids, kind, row->place, id);
    return id;
}

static void enter(void *context, const struct view *view, uint32_t row)
{
    struct printing *printing = context;
    vec_push(&printing->stack, frame_of(printing, view, row));
}

static void leave(void *context, const struct view *view, uint32_t row, const double *own)
{
    struct printing *printing = context;
    (void)view;
    (void)row;
    double weight = round(*own * printing->factor);
    if (weight > 0) {
        vec_push(&printing->weights, weight);
        json_write_break(&printing->json);
        json_write_array(&printing->json);
        for (size_t i = 0; i < printing->stack.n; i++)
            json_write_integer(&printing->json, printing->stack.at[i]);
        json_write_array_end(&printing->json);
    }
    printing->stack.n--;
}

static void write_weights(struct printing *printing)
{
    struct json_writer *json = &printing->json;
    double sum = 0;
    json_write_key(json, "weights");
    json_write_array(json);
    for (size_t i = 0; i < printing->weights.n; i++) {
        json_write_double(json, printing->weights.at[i]);
        sum += printing->weights.at[i];
    }
    json_write_array_end(json);
    json_write_key(json, "startValue");
    json_write_integer(json, 0);
    json_write_key(json, "endValue");
    json_write_double(json, sum);
}

static void write_frames(struct printing *printing)
{
    struct json_writer *json = &printing->json;
    json_write_key(json, "shared");
    json_write_object(json);
    json_write_key(json, "frames");
    json_write_array(json);
    for (size_t i = 0; i < printing->frames.n; i++) {
        const struct frame *frame = &printing->frames.at[i];
        const char *path = database_file_path(printing->db, frame->file);
        json_write_break(json);
        json_write_object(json);
        json_write_text(json, "name", frame->name);
        if (path) {
            json_write_text(json, "file", path);
        }
        if (frame->line) {
            json_write_key(json, "line");
            json_write_integer(json, frame->line);
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

static void write_profile(struct printing *printing, const struct tree *tree)
{
    struct json_writer *json = &printing->json;
    size_t metric = tree->view->sorting.metric;
    const struct metric *shown = &tree->view->metrics->at[metric];
    struct stack_visitor visitor = {.enter = enter, .leave = leave, .context = printing};
    printing->factor = stacks_factor(shown);
    json_write_object(json);
    json_write_text(json, "type", "sampled");
    json_write_text(json, "name", shown->name);
    json_write_text(json, "unit", printing->factor > 1 ? "nanoseconds" : "none");
    json_write_key(json, "samples");
    json_write_array(json);
    stacks_walk(tree, &metric, 1, &visitor);
    json_write_array_end(json);
    write_weights(printing);
    json_write_object_end(json);
}

/* Writes the title and the filters. */
static void write_name(struct json_writer *json, const struct tree *tree)
{
    struct text name = {0};
    text_add(&name, session_title(tree->session, tree->view->db));
    text_add(&name, filters_n(tree->filtered->filters) ? "  filters: " : "");
    tree_add_filters(tree, false, &name);
    json_write_string(json, text_string(&name));
    vec_free(&name);
}

void print_tree_speedscope(const struct tree *tree)
{
    struct printing printing = {.db = tree->view->db};
    struct json_writer *json = &printing.json;
    json_write_start(json, tree->out, 0);
    json_write_object(json);
    json_write_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_write_text(json, "exporter", "hpcviewer");
    json_write_key(json, "name");
    write_name(json, tree);
    json_write_key(json, "profiles");
    json_write_array(json);
    write_profile(&printing, tree);
    json_write_array_end(json);
    write_frames(&printing);
    json_write_object_end(json);
    json_write_finish(json);
    for (size_t i = 0; i < printing.frames.n; i++)
        free(printing.frames.at[i].name);
    vec_free(&printing.frames);
    vec_free(&printing.stack);
    vec_free(&printing.weights);
    idmap_free(&printing.ids);
}
