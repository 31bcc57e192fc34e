#include "viewer-tui/output/inspect.h"

#include "lib/json.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/row-origins.h"

#include <math.h>

/* Widths of labels like "called at", and of values, so that columns line up. */
#define LABEL_WIDTH  12
#define NUMBER_WIDTH 24

struct inspection {
    const struct view *view;
    uint32_t row;
    bool ascii;
    struct text *out;
};

static void add_label(const struct inspection *inspection, const char *label)
{
    text_printf(inspection->out, "  %-*s", LABEL_WIDTH, label);
}

#define SAY(inspection, ...) text_say((inspection)->out, (inspection)->ascii, __VA_ARGS__)

/* Adds a label and a place with its full path; nothing if the place is unknown. */
static void add_place(const struct inspection *inspection, const struct database *db,
                      const char *label, uint32_t file, uint32_t line)
{
    const char *path = database_file_path(db, file);
    if (!path)
        return;
    add_label(inspection, label);
    SAY(inspection, "%s", path);
    if (line)
        text_printf(inspection->out, ":%u", line);
    text_add(inspection->out, "\n");
}

/* Adds the path from the whole program to the row. No recursion: it may be long. */
static void add_path(const struct inspection *inspection)
{
    autofree VEC(uint32_t) path = {0};
    const struct view *view = inspection->view;
    for (uint32_t row = inspection->row; row != 0; row = view_row(view, row)->parent)
        vec_push(&path, row);
    if (path.n)
        text_printf(inspection->out, "\npath, %s\n",
                    view->class->shows_callers ? "each called by the next" : "outermost first");
    while (path.n) {
        text_add(inspection->out, "  ");
        describe_name(view, path.at[--path.n], inspection->ascii, inspection->out);
        text_add(inspection->out, "\n");
    }
}

static void add_scope(const struct inspection *inspection)
{
    uint32_t origin_row = inspection->row, file, line;
    const struct view *origin = view_origin(inspection->view, &origin_row);
    const struct row *row = view_row(origin, origin_row);
    bool is_declared = row->kind == KIND_PROCEDURE || row->kind == KIND_INLINED;
    label_place(origin, origin_row, &file, &line);
    if (inspection->row)
        text_printf(inspection->out, "%s ", label_kind(row->kind));
    autofree char *name = label_copy(inspection->view, inspection->row);
    SAY(inspection, "%s\n", name);
    add_place(inspection, origin->db, is_declared ? "declared" : "at", file, line);
    add_place(inspection, origin->db, row->kind == KIND_INLINED ? "inlined at" : "called at",
              row->call_file, row->call_line);
    const char *module = label_module_path(origin, origin_row);
    if (module && row->kind != KIND_MODULE) {
        add_label(inspection, "in");
        SAY(inspection, "%s\n", module);
    }
}

/* Writes all digits; "-" if the value is not defined. */
static void format(double value, char text[JSON_DOUBLE_SIZE])
{
    if (isfinite(value))
        json_format_double(value, text);
    else
        snprintf(text, JSON_DOUBLE_SIZE, "-");
}

/* Adds "  65% of the program". */
static void add_percent(const struct inspection *inspection, double value, double whole,
                        const char *of_what)
{
    if (whole != 0 && isfinite(value) && isfinite(whole))
        text_printf(inspection->out, "  %.6g%% of %s", 100 * value / whole, of_what);
}

/* Adds the formula with values in place of the metrics' names. */
static void add_substituted(const struct inspection *inspection, size_t metric, enum cost_part part)
{
    const struct view *view = inspection->view;
    const struct derivation *derivation = metric_derivation(&view->metrics->at[metric]);
    const char *rest = derived_formula(&view->metrics->at[metric]);
    text_add(inspection->out, " = ");
    autofree struct text formula = {0};
    for (size_t i = 0; i < derivation->formula.steps.n; i++) {
        const struct formula_step *step = &derivation->formula.steps.at[i];
        size_t named;
        if (!formula_step_names(step, &named))
            continue;
        char number[JSON_DOUBLE_SIZE];
        enum cost_part named_part = step->part == PART_EXCLUSIVE   ? EXCLUSIVE
                                    : step->part == PART_INCLUSIVE ? INCLUSIVE
                                                                   : part;
        bool is_of_program = step->part == PART_OF_PROGRAM;
        format(is_of_program ? view_total(view, named) : view_cost(view, inspection->row, named, named_part), number);
        text_add_bytes(&formula, rest, (size_t)(derivation->text + step->at - rest));
        text_add(&formula, number);
        rest = derivation->text + step->at + step->length;
    }
    text_add(&formula, rest);
    SAY(inspection, "%s", text_string(&formula));
}

/* Adds a line for one part of a metric. */
static void add_value(const struct inspection *inspection, size_t metric, enum cost_part part)
{
    const struct view *view = inspection->view;
    const struct metric *of = &view->metrics->at[metric];
    double value = view_cost(view, inspection->row, metric, part);
    char number[JSON_DOUBLE_SIZE];
    format(value, number);
    add_label(inspection, part == INCLUSIVE ? "inclusive" : "exclusive");
    size_t start = inspection->out->n;
    bool says_nothing = metric_bounds_contexts(of) && value == 0;
    if (says_nothing)
        text_add(inspection->out, "-");
    else
        text_printf(inspection->out, "%s%s", isfinite(value) ? columns_sign(of) : "", number);
    if (metric_derivation(of))
        add_substituted(inspection, metric, part);
    size_t used = text_columns(inspection->out->at + start);
    text_pad(inspection->out, ' ', used < NUMBER_WIDTH ? NUMBER_WIDTH - used : 0);
    if (metric_is_additive(of) && !says_nothing) {
        uint32_t above = view_row(view, inspection->row)->parent;
        bool is_of_another = metrics_whole(view->metrics, metric) != metric;
        add_percent(inspection, value, view_whole(view, metric),
                    metric_is_of_effort(of) ? "the program's effort"
                    : is_of_another         ? "the other program"
                                            : "the program");
        if (inspection->row && !view->class->shows_callers)
            add_percent(inspection, value, view_cost(view, above, metric, INCLUSIVE),
                        "the row above");
    }
    text_trim(inspection->out);
    text_add(inspection->out, "\n");
}

static void add_metric(const struct inspection *inspection, size_t metric)
{
    const struct metric *of = &inspection->view->metrics->at[metric];
    SAY(inspection, of->unit[0] ? "%s, %s" : "%s%s", of->name, of->unit);
    if (metric_derivation(of))
        SAY(inspection, " = %s", derived_formula(of));
    if (metric_called(of))
        SAY(inspection, ", there called %s", metric_called(of));
    text_add(inspection->out, "\n");
    if (of->state != METRIC_MEASURED)
        SAY(inspection, "  %s: %s\n", columns_state_words(of), of->why);
    add_value(inspection, metric, INCLUSIVE);
    add_value(inspection, metric, EXCLUSIVE);
}

/* Adds a line for each metric that was not measured, with the reason. */
static void add_unmeasured(const struct inspection *inspection)
{
    const struct metrics *metrics = inspection->view->metrics;
    const char *head = "\nnot measured\n";
    for (size_t m = 0; m < metrics->n; m++) {
        const struct metric *metric = &metrics->at[m];
        if (!metric->name[0] || metric_is_measured(metric) || metric->is_internal)
            continue;
        text_add(inspection->out, head);
        SAY(inspection, "  %s: %s\n", metric->name, metric->why);
        head = "";
    }
}

/* More places would push the values off the screen. */
#define MOST_ORIGINS 4

/* Adds the calls that created the threads which begin at the row. */
static void add_origins(const struct inspection *inspection, const json_t *run, bool is_physical)
{
    struct thread_origins origins;
    row_origins_find(&origins, inspection->view, inspection->row, run, is_physical);
    for (size_t i = 0; i < origins.list.n && i < MOST_ORIGINS; i++) {
        const struct thread_origin *origin = &origins.list.at[i];
        text_printf(inspection->out, "\ncreated at%s, %zu thread%s\n",
                    origin->path ? "" : " an unknown place", origin->threads,
                    origin->threads == 1 ? "" : "s");
        thread_origin_add_lines(origin->path, inspection->ascii, inspection->out);
    }
    if (origins.list.n > MOST_ORIGINS)
        text_printf(inspection->out, "\ncreated at %zu more places (the threads view has all)\n",
                    origins.list.n - MOST_ORIGINS);
    vec_free(&origins.list);
}

void inspect_row(const struct view *view, uint32_t row, const json_t *run, bool is_physical,
                 bool ascii, struct text *out)
{
    struct inspection inspection = {view, row, ascii, out};
    add_scope(&inspection);
    add_origins(&inspection, run, is_physical);
    for (size_t m = 0; m < view->metrics->n; m++) {
        const struct metric *metric = &view->metrics->at[m];
        bool is_hidden = !metric->name[0] || metric->is_internal || metric->repeats_work;
        if (is_hidden || !metric_is_measured(metric))
            continue;
        text_add(out, "\n");
        add_metric(&inspection, m);
    }
    add_unmeasured(&inspection);
    add_path(&inspection);
}
