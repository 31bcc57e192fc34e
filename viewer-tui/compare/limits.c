#include "viewer-tui/compare/limits.h"

#include "lib/number.h"
#include "viewer-tui/compare/changes.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/db/metric-selection.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool limit_read(const char *text, struct limit *limit)
{
    const char *plus = strrchr(text, '+');
    if (!plus || plus == text || plus[-1] != ' ')
        return false;
    char *end;
    limit->percent = strtod(plus + 1, &end);
    if (end == plus + 1 || strcmp(end, "%") != 0 || !(limit->percent >= 0) || !isfinite(limit->percent))
        return false;
    while (plus > text && plus[-1] == ' ')
        plus--;
    limit->what = mem_strndup(text, (size_t)(plus - text));
    return plus > text;
}

void limits_free(limit_list *limits)
{
    for (size_t i = 0; i < limits->n; i++)
        free(limits->at[i].what);
    vec_free(limits);
}

/* What is limited, in each run. */
struct limited {
    double *values; /* by run; NULL: unknown */
    const double *periods; /* of samples, by side; NULL: it is none */
    const char *unit;
    bool is_procedure;
    struct text why; /* unknown */
};

/* What all procedures of that name cost; NULL if there is none. */
static double *procedure_by_run(struct view *bottomup, const char *name, size_t quantity, enum cost_part part)
{
    size_t n_runs = merged_runs_of(bottomup)->runs.n;
    double *sum = NULL;
    if (view_expand(bottomup, 0) != DONE)
        return NULL;
    const struct row *program = view_row(bottomup, 0);
    for (uint32_t row = program->first_child; row < program->first_child + program->n_children; row++) {
        autofree char *label = label_copy(bottomup, row);
        size_t length = strlen(name); /* "name" or "name(int, char)" */
        if (strncmp(label, name, length) == 0 && (!label[length] || label[length] == '(')) {
            autofree double *costs = merged_costs(bottomup, row, quantity, part);
            sum = sum ? sum : mem_alloc(n_runs * sizeof *sum);
            for (size_t run = 0; run < n_runs; run++)
                sum[run] += costs[run];
        }
    }
    return sum;
}

/* A metric of the program, or of a procedure whose name follows a colon. */
static void find_metric(struct limited *limited, struct view *bottomup, const char *what)
{
    char *metric = mem_strdup(what), *colon = metric + strlen(metric);
    struct sorting sorting = {.part = INCLUSIVE};
    bool is_known = choose_sorting(bottomup->metrics, metric, &sorting);
    for (char *at = strchr(metric, ':'); at && !is_known; at = strchr(at + 1, ':')) {
        *at = '\0';
        is_known = choose_sorting(bottomup->metrics, metric, &sorting);
        colon = at;
        *at = is_known ? '\0' : ':';
    }
    const char *procedure = colon < metric + strlen(what) ? colon + 1 : NULL;
    const struct metric *of = is_known ? &bottomup->metrics->at[sorting.metric] : NULL;
    const struct metric *difference =
        of && metric_is_compared(of) ? &bottomup->metrics->at[of->compared.sides[0] + MERGED_DIFFERENCE] : NULL;
    if (!difference) {
        text_printf(&limited->why, "no metric of that name in both");
    } else if (!metric_is_measured(difference)) {
        text_add(&limited->why, difference->why);
    } else {
        size_t quantity = of->compared.quantity;
        limited->periods = merged_periods(merged_runs_of(bottomup), quantity);
        limited->unit = difference->unit;
        limited->is_procedure = procedure != NULL;
        limited->values = procedure ? procedure_by_run(bottomup, procedure, quantity, sorting.part)
                                    : merged_costs(bottomup, 0, quantity, sorting.part);
        if (!limited->values)
            text_printf(&limited->why, "no procedure with samples is called '%s'", procedure);
    }
    free(metric);
}

/* Adds the procedures that have more of their own, the largest changes first. */
static void add_procedures(struct session *session, enum projection projection, bool ascii, struct text *out)
{
    struct view *topdown = session_view(session, projection, TOP_DOWN);
    autofree changes_list list = topdown ? changes_of(topdown, 0) : (changes_list){0};
    const char *before = ": more in ";
    for (size_t i = 0; i < list.n && i < 1; i++)
        for (int part = WORK; part < EFFORT; part++) {
            const struct changed_hotspots *more = &list.at[i].parts[part].hotspots[MORE];
            for (size_t h = 0; h < more->n; h++) {
                const struct changed_hotspot *hotspot = &more->at[h];
                text_add(out, before);
                hotspot_describe(hotspot->db, &hotspot->hotspot, ascii, out);
                const struct metric *metric = &topdown->metrics->at[list.at[i].parts[part].metric];
                text_printf(out, " (+%s %s)", number_with_unit(hotspot->costs.difference, metric->unit).text,
                            efficiency_part_name((enum efficiency_part)part));
                before = "; ";
            }
        }
}

/* What the right mean is of the left one. Its interval has every r for which the right mean may be r times the left one
 * (Fieller). So a limit is in the interval that is printed if and only if it is undecided. */
struct ratio {
    const struct merged_runs *merged;
    const double *values, *periods;
    double left, right; /* means */
};

static bool may_be_ratio(const struct ratio *ratio, double r)
{
    return fabs(ratio->right - r * ratio->left) <
           merged_uncertainty(ratio->merged, ratio->values, r, ratio->periods, CONFIDENCE_99_9);
}

/* The end of the interval between a ratio in it and one outside. */
static double end_of_interval(const struct ratio *ratio, double inside, double outside)
{
    for (int i = 0; i < 60; i++) {
        double middle = (inside + outside) / 2;
        *(may_be_ratio(ratio, middle) ? &inside : &outside) = middle;
    }
    return inside;
}

/* Adds the change in percent: ", +2.8% (+1.3 to +4.3)"; "(+1.3 or more)" if the left mean itself may be almost 0. */
static void add_interval(const struct ratio *ratio, struct text *out)
{
    double middle = ratio->right / ratio->left, most = 2 * middle + 1;
    while (may_be_ratio(ratio, most) && most < 1e6)
        most *= 2;
    double least = may_be_ratio(ratio, 0) ? 0 : end_of_interval(ratio, middle, 0);
    text_printf(out, ", %+.1f%% (%+.1f", 100 * (middle - 1), 100 * (least - 1));
    if (may_be_ratio(ratio, most))
        text_add(out, " or more)");
    else
        text_printf(out, " to %+.1f)", 100 * (end_of_interval(ratio, middle, most) - 1));
}

enum limit_verdict limit_check(struct session *session, enum projection projection, const struct limit *limit,
                               bool ascii, struct text *out)
{
    struct limited limited = {.unit = "s"};
    struct view *bottomup = session_view(session, projection, BOTTOM_UP);
    text_add_clean(out, limit->what, ascii);
    text_printf(out, " +%g%%: ", limit->percent);
    if (!bottomup) {
        text_add(out, "the runs cannot be compared");
        return LIMIT_UNKNOWN;
    }
    const struct merged_runs *merged = merged_runs_of(bottomup);
    bool is_wall = strcmp(limit->what, "wall") == 0;
    if (merged_group_size(merged, 0) < 2 || merged_group_size(merged, 1) < 2)
        text_add(&limited.why, "two runs of each side are needed to know what is chance");
    else if (is_wall || strcmp(limit->what, "cpu") == 0) {
        limited.values = mem_alloc(session->runs.n * sizeof *limited.values);
        for (size_t i = 0; i < session->runs.n; i++) {
            const struct run_times *times = &session->runs.at[i].times;
            limited.values[i] = is_wall ? times->wall : times->cpu;
            if (!(limited.values[i] > 0) && limited.why.n == 0)
                text_printf(&limited.why, "not known of %s", session->runs.at[i].folder);
        }
    } else
        find_metric(&limited, bottomup, limit->what);
    if (limited.why.n) {
        free(limited.values);
        text_add_clean(out, text_string(&limited.why), ascii);
        vec_free(&limited.why);
        return LIMIT_UNKNOWN;
    }
    const struct ratio ratio = {merged, limited.values, limited.periods, merged_mean(merged, 0, limited.values),
                                merged_mean(merged, 1, limited.values)};
    double most = 1 + limit->percent / 100;
    enum limit_verdict verdict = may_be_ratio(&ratio, most)         ? LIMIT_UNDECIDED
                                 : ratio.right > most * ratio.left ? LIMIT_EXCEEDED
                                                                   : LIMIT_KEPT;
    static const char *const words[] = {"kept", "undecided, more runs would tell", "exceeded"};
    text_printf(out, "%s, %s -> %s", words[verdict], number_with_unit(ratio.left, limited.unit).text,
                number_with_unit(ratio.right, limited.unit).text);
    if (ratio.left > 0)
        add_interval(&ratio, out);
    if (verdict == LIMIT_EXCEEDED && !limited.is_procedure)
        add_procedures(session, projection, ascii, out);
    free(limited.values);
    return verdict;
}
