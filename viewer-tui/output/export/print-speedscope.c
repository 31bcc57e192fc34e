/* Stacks (export-stacks.h) as a file for speedscope, https://www.speedscope.app: a profile of
 * samples, each a stack with its own costs; of a comparison one for each run. In the bottom-up view callers come
 * last, as in that view. */
#include "viewer-tui/output/export/export-stacks.h"

#include "viewer-tui/compare/session-titles.h"

struct speedscope {
    struct export export;
    struct json_writer json;
    size_t metric;       /* index of the metric of the profile in the making */
    VEC(double) weights; /* of its samples */
};

static void leave(struct export *export, const double *own)
{
    struct speedscope *speedscope = (struct speedscope *)export;
    struct json_writer *json = &speedscope->json;
    double rounded[SIDES];
    export_round(export, own, rounded);
    if (rounded[speedscope->metric] <= 0)
        return;
    vec_push(&speedscope->weights, rounded[speedscope->metric]);
    json_write_break(json);
    json_write_array(json);
    for (size_t i = 0; i < export->stack.n; i++)
        json_write_integer(json, export->stack.at[i].function);
    json_write_array_end(json);
}

static void write_profile(struct speedscope *speedscope)
{
    struct json_writer *json = &speedscope->json;
    struct export *export = &speedscope->export;
    double sum = 0;
    speedscope->weights.n = 0;
    json_print(json, "{type:'sampled' name:%s unit:%s samples:[",
               export->tree->view->metrics->at[export->metrics.at[speedscope->metric]].name,
               export_factor(export, speedscope->metric) > 1 ? "nanoseconds" : "none");
    export_walk(export);
    json_print(json, "]");
    json_print_numbers(json, "weights", i, speedscope->weights.n, speedscope->weights.at[i]);
    for (size_t i = 0; i < speedscope->weights.n; i++)
        sum += speedscope->weights.at[i];
    json_print(json, "startValue:0 endValue:%g}", sum);
}

void print_tree_speedscope(const struct tree *tree)
{
    struct speedscope speedscope = {.export = {.tree = tree, .leave = leave}};
    struct json_writer *json = &speedscope.json;
    autofree struct text name = {0};
    export_add_sorted(&speedscope.export);
    text_printf(&name, "%s%s", session_title(tree->session, tree->view->db),
                filters_n(tree->filtered->filters) ? "  filters: " : "");
    tree_add_filters(tree, false, &name);
    json_write_start(json, tree->out, 0);
    json_print(json,
               "{$schema:'https://www.speedscope.app/file-format-schema.json' exporter:'hpcviewer' name:%s profiles:[",
               text_string(&name));
    for (; speedscope.metric < speedscope.export.metrics.n; speedscope.metric++)
        write_profile(&speedscope);
    json_print(json, "] shared:{frames:[");
    for (size_t i = 0; i < speedscope.export.functions.n; i++) {
        const struct export_function *function = &speedscope.export.functions.at[i];
        json_print(json, "\n{name:%s", function->name);
        if (function->file)
            json_print(json, "file:%s", function->file);
        if (function->line)
            json_print(json, "line:%u", function->line);
        json_print(json, "}");
    }
    json_print(json, "]}}");
    json_write_finish(json);
    export_free(&speedscope.export);
    vec_free(&speedscope.weights);
}
