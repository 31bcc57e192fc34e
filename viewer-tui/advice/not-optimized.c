/* Code compiled without optimization, as the debug information records it. */
#include "viewer-tui/advice/situation.h"

#include <string.h>

/* Smaller shares of the CPU time are not reported. */
#define LEAST_SHARE 0.10

/* From this share on, optimization may change all other advice. */
#define MOST_OF_IT 0.50

/* A module in run.json; NULL if all of its code is optimized or that is unknown. */
static const json_t *unoptimized_module(const json_t *run, const char *path)
{
    size_t i;
    json_t *module;
    json_array_foreach(json_object_get(run, "modules"), i, module)
    {
        if (path && strcmp(run_text(module, "path"), path) == 0)
            return run_number(module, "unoptimized_units") > 0 ? module : NULL;
    }
    return NULL;
}

static void add_module(const struct situation *situation, const json_t *module, double seconds,
                       struct findings *findings)
{
    struct share share =
        share_of_samples(seconds, situation->cpu_places.total, situation->cpu_increment);
    double unoptimized = run_number(module, "unoptimized_units"),
           units = run_number(module, "units");
    struct text text = {0};
    if (share.low < LEAST_SHARE)
        return;
    text_add(&text, "Not optimized: ");
    share_describe(&share, "", &text);
    text_printf(&text, " of the CPU time is in %s, ", path_name(run_text(module, "path")));
    if (unoptimized < units)
        text_printf(&text, "of which %.0f of %.0f source files were compiled without -O.",
                    unoptimized, units);
    else
        text_add(&text, "which was compiled without -O: compile it with -O2 first.");
    struct finding *finding = findings_add(findings, FINDING_NOT_OPTIMIZED, &text);
    if (unoptimized == units && share.low > MOST_OF_IT)
        finding->order = FINDING_BEFORE_ALL;
    vec_free(&text);
}

void find_not_optimized(const struct situation *situation, struct findings *findings)
{
    const struct time_places *places = &situation->cpu_places;
    const json_t *found = NULL;
    double seconds = 0;
    for (size_t i = 0; i < places->list.n; i++) {
        const char *path =
            database_module_path(situation->view->db, places->list.at[i].leaf_module);
        const json_t *module = unoptimized_module(situation->run, path);
        if (module && (!found || module == found)) {
            found = module;
            seconds += places->list.at[i].seconds;
        }
    }
    if (found)
        add_module(situation, found, seconds, findings);
}
