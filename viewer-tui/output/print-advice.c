#include "viewer-tui/output/run-summary.h"

#include "viewer-tui/advice/advice-text.h"

#include <math.h>

static const char *name_of(const struct database *db, uint32_t procedure, char buffer[NAME_SIZE])
{
    return procedure == NOTHING ? NULL : database_procedure_name(db, procedure, buffer);
}

static void write_hotspots(struct json_writer *json, const char *key,
                           const struct hotspots *hotspots, const struct database *db)
{
    char buffer[NAME_SIZE];
    json_print(json, "%s:[", key);
    for (size_t i = 0; i < hotspots->n; i++) {
        const struct hotspot *hotspot = &hotspots->at[i];
        json_print(json, "{name:%s", name_of(db, hotspot->procedure, buffer));
        json_put_place(json, database_file_path(db, hotspot->at.file), hotspot->at.line);
        json_print(json, "loop:%i exclusive:%g}", hotspot->is_loop, hotspot->cost);
    }
    json_print(json, "]");
}

/* An array of the two ends; empty if they are not known. */
static void write_interval(struct json_writer *json, bool is_known, double low, double high)
{
    if (is_known)
        json_print(json, "[%g %g]", low, high);
    else
        json_print(json, "[]");
}

/* "idleness_percent_of_effort", "idleness_interval" and "idleness_state". */
static void write_share(struct json_writer *json, const char *name, const struct share *share,
                        enum knowledge known)
{
    static const char *const states[] = {
        [NOT_KNOWN] = "not measurable", [KNOWN_AT_LEAST] = "lower bound", [KNOWN] = "measured"};
    bool is_known = known != NOT_KNOWN;
    autofree char *percent = mem_printf("%s_percent_of_effort", name);
    autofree char *interval = mem_printf("%s_interval", name), *state = mem_printf("%s_state", name);
    json_print(json, "%s:%g %s:", percent, is_known ? 100 * share->value : NAN, interval);
    write_interval(json, is_known, 100 * share->low, 100 * share->high);
    json_print(json, "%s:%s", state, states[known]);
}

static void write_parallelization(struct json_writer *json, const struct parallelization *of,
                                  const struct database *db)
{
    const struct judgement *judgement = &of->judgement;
    autofree struct text event = {0};
    advice_event(of->event, &event);
    json_print(json, "event:%s verdict:%s effort:%g", event.n ? text_string(&event) : NULL,
               verdict_name(judgement->verdict), judgement->effort);
    write_share(json, "idleness", &judgement->idleness, judgement->idleness_known);
    write_share(json, "overhead", &judgement->overhead, judgement->overhead_known);
    json_print(json, "overhead_kinds_percent_of_effort:{");
    for (size_t i = 0; i < of->kinds.n; i++) {
        autofree char *name = overhead_kind_name(of->kinds.at[i].metric);
        json_put_percent(json, name, of->kinds.at[i].cost, judgement->effort);
    }
    json_print(json, "}");
    write_hotspots(json, "idleness_in", &of->hotspots[WASTED_IDLE], db);
    write_hotspots(json, "overhead_in", &of->hotspots[WASTED_ON_OVERHEAD], db);
}

/* An infinite factor becomes null. */
static void write_finding(struct json_writer *json, const struct finding *finding,
                          const struct database *db)
{
    char buffer[NAME_SIZE];
    json_print(json, "{kind:%s gain:%g gain_interval:", finding->name, finding->is_gain_claimed ? finding->gain.factor : NAN);
    write_interval(json, finding->is_gain_claimed, finding->gain.low, finding->gain.high);
    json_print(json, "scope:%s", name_of(db, finding->procedure, buffer));
    json_put_place(json, database_file_path(db, finding->file), finding->line);
    json_print(json, "text:%s", finding->text);
    if (finding->phase)
        json_print(json, "phase:%u percent_in_phase:%g", finding->phase, 100 * finding->part_in_phase);
    json_print(json, "details:[");
    for (size_t i = 0; i < finding->details.n; i++)
        json_write_string(json, finding->details.at[i] + (*finding->details.at[i] == FINDING_ITEM));
    json_print(json, "]");
    if (finding->kind == FINDING_PARALLELIZATION)
        write_parallelization(json, finding->source, db);
    json_print(json, "}");
}

void print_advice_json(struct json_writer *json, const struct advice *advice,
                       const struct database *db)
{
    json_print(json, "advice:[");
    for (size_t i = 0; i < advice->findings.list.n; i++)
        write_finding(json, &advice->findings.list.at[i], db);
    json_print(json, "]");
}
