#include "viewer-tui/output/print-advice.h"

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/output/metric-json.h"

#include <math.h>
#include <stdlib.h>

static void write_number(struct json_writer *json, const char *key, double number)
{
    json_write_key(json, key);
    json_write_double(json, number);
}

static const char *name_of(const struct database *db, uint32_t procedure, char buffer[NAME_SIZE])
{
    return procedure == NOTHING ? NULL : database_procedure_name(db, procedure, buffer);
}

static void write_hotspots(struct json_writer *json, const struct hotspots *hotspots,
                           const struct database *db)
{
    char buffer[NAME_SIZE];
    json_write_array(json);
    for (size_t i = 0; i < hotspots->n; i++) {
        const struct hotspot *hotspot = &hotspots->at[i];
        json_write_object(json);
        json_write_text(json, "name", name_of(db, hotspot->procedure, buffer));
        json_write_place(json, database_file_path(db, hotspot->file), hotspot->line);
        json_write_key(json, "callers");
        json_write_array(json);
        for (int c = 0; c < MOST_CALLERS && hotspot->callers[c] != NOTHING; c++)
            json_write_string(json, name_of(db, hotspot->callers[c], buffer));
        json_write_array_end(json);
        json_write_key(json, "has_other_callers");
        json_write_bool(json, hotspot->has_other_callers);
        write_number(json, "exclusive", hotspot->cost);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

/* "idleness_percent_of_effort" and its interval; null where it is not known. */
static void write_share(struct json_writer *json, const char *name, const struct share *share,
                        enum knowledge known)
{
    static const char *const states[] = {
        [NOT_KNOWN] = "not measurable", [KNOWN_AT_LEAST] = "lower bound", [KNOWN] = "measured"};
    char *key = mem_printf("%s_percent_of_effort", name);
    json_write_key(json, key);
    if (known == NOT_KNOWN)
        json_write_null(json);
    else
        json_write_double(json, 100 * share->value);
    free(key);
    key = mem_printf("%s_interval", name);
    json_write_key(json, key);
    json_write_array(json);
    if (known != NOT_KNOWN) {
        json_write_double(json, 100 * share->low);
        json_write_double(json, 100 * share->high);
    }
    json_write_array_end(json);
    free(key);
    key = mem_printf("%s_state", name);
    json_write_text(json, key, states[known]);
    free(key);
}

static void write_kinds(struct json_writer *json, const struct parallelization *of)
{
    json_write_key(json, "overhead_kinds_percent_of_effort");
    json_write_object(json);
    for (size_t i = 0; i < of->kinds.n; i++) {
        char *name = overhead_kind_name(of->kinds.at[i].metric);
        json_write_percent(json, name, of->kinds.at[i].cost, of->judgement.effort);
        free(name);
    }
    json_write_object_end(json);
}

static void write_parallelization(struct json_writer *json, const struct parallelization *of,
                                  const struct database *db)
{
    const struct judgement *judgement = &of->judgement;
    struct text event = {0};
    advice_event(of->event, &event);
    json_write_text(json, "event", event.n ? text_string(&event) : NULL);
    vec_free(&event);
    json_write_text(json, "verdict", verdict_name(judgement->verdict));
    write_number(json, "effort", judgement->effort);
    write_share(json, "idleness", &judgement->idleness, judgement->idleness_known);
    write_share(json, "overhead", &judgement->overhead, judgement->overhead_known);
    write_kinds(json, of);
    json_write_key(json, "idleness_in");
    write_hotspots(json, &of->hotspots[WASTED_IDLE], db);
    json_write_key(json, "overhead_in");
    write_hotspots(json, &of->hotspots[WASTED_ON_OVERHEAD], db);
}

/* Infinite factors are null. */
static void write_gain(struct json_writer *json, const struct finding *finding)
{
    bool has_gain = finding->gain_state != GAIN_NONE;
    json_write_key(json, "gain");
    json_write_double(json, has_gain ? finding->gain.factor : NAN);
    json_write_key(json, "gain_interval");
    json_write_array(json);
    if (has_gain) {
        json_write_double(json, finding->gain.low);
        json_write_double(json, finding->gain.high);
    }
    json_write_array_end(json);
}

static void write_finding(struct json_writer *json, const struct finding *finding,
                          const struct database *db)
{
    char buffer[NAME_SIZE];
    json_write_object(json);
    json_write_text(json, "kind", finding_kind_name(finding->kind));
    write_gain(json, finding);
    json_write_text(json, "scope", name_of(db, finding->procedure, buffer));
    json_write_place(json, database_file_path(db, finding->file), finding->line);
    json_write_text(json, "text", finding->text);
    json_write_key(json, "details");
    json_write_array(json);
    for (size_t i = 0; i < finding->details.n; i++)
        json_write_string(json, finding->details.at[i] + (*finding->details.at[i] == FINDING_ITEM));
    json_write_array_end(json);
    if (finding->kind == FINDING_PARALLELIZATION)
        write_parallelization(json, finding->source, db);
    json_write_object_end(json);
}

void print_advice_json(struct json_writer *json, const struct advice *advice,
                       const struct database *db)
{
    json_write_array(json);
    for (size_t i = 0; i < advice->findings.list.n; i++)
        write_finding(json, &advice->findings.list.at[i], db);
    json_write_array_end(json);
}

static void begin_record(struct csv *csv, const char *subject, const char *item)
{
    csv_text(csv, "advice");
    csv_text(csv, subject);
    csv_text(csv, item);
}

static void add_text_record(struct csv *csv, const char *subject, const char *item,
                            const char *text)
{
    begin_record(csv, subject, item);
    csv_text(csv, text);
    csv_end_record(csv);
}

static void add_number_record(struct csv *csv, const char *subject, const char *item, double number)
{
    begin_record(csv, subject, item);
    csv_number(csv, number);
    csv_end_record(csv);
}

static void add_hotspot_records(struct csv *csv, const char *subject, const char *waste,
                                const struct hotspots *hotspots, const struct database *db)
{
    char buffer[NAME_SIZE];
    for (size_t i = 0; i < hotspots->n; i++) {
        struct text item = {0};
        const char *name = name_of(db, hotspots->at[i].procedure, buffer);
        text_printf(&item, "%s in %s", waste, name ? name : "");
        add_number_record(csv, subject, text_string(&item), hotspots->at[i].cost);
        vec_free(&item);
    }
}

static void add_share_record(struct csv *csv, const char *subject, const char *item,
                             const struct share *share, enum knowledge known)
{
    if (known != NOT_KNOWN)
        add_number_record(csv, subject, item, 100 * share->value);
}

static void add_parallelization_records(struct csv *csv, const char *subject,
                                        const struct parallelization *of, const struct database *db)
{
    const struct judgement *judgement = &of->judgement;
    add_text_record(csv, subject, "verdict", verdict_name(judgement->verdict));
    add_number_record(csv, subject, "effort", judgement->effort);
    add_share_record(csv, subject, "idleness_percent_of_effort", &judgement->idleness,
                     judgement->idleness_known);
    add_share_record(csv, subject, "overhead_percent_of_effort", &judgement->overhead,
                     judgement->overhead_known);
    for (size_t i = 0; i < of->kinds.n; i++) {
        char *name = overhead_kind_name(of->kinds.at[i].metric);
        char *item = mem_printf("overhead_percent_of_effort: %s", name);
        begin_record(csv, subject, item);
        csv_percent(csv, of->kinds.at[i].cost, judgement->effort);
        csv_end_record(csv);
        free(item);
        free(name);
    }
    for (int waste = 0; waste < WASTES; waste++)
        add_hotspot_records(csv, subject, waste_name((enum waste)waste), &of->hotspots[waste], db);
}

/* The subject of a finding's records is its kind, with several time events "parallelization
 * (CPUTIME)". */
static void add_finding_records(struct csv *csv, const struct finding *finding,
                                const struct database *db)
{
    const struct parallelization *of =
        finding->kind == FINDING_PARALLELIZATION ? finding->source : NULL;
    char *subject = mem_printf("%s%s", finding_kind_name(finding->kind), of ? of->event : "");
    add_text_record(csv, subject, "text", finding->text);
    if (finding->gain_state != GAIN_NONE) {
        add_number_record(csv, subject, "gain", finding->gain.factor);
        add_number_record(csv, subject, "gain low", finding->gain.low);
        add_number_record(csv, subject, "gain high", finding->gain.high);
    }
    if (of)
        add_parallelization_records(csv, subject, of, db);
    free(subject);
}

void print_advice_csv(struct csv *csv, const struct advice *advice, const struct database *db)
{
    for (size_t i = 0; i < advice->findings.list.n; i++)
        add_finding_records(csv, &advice->findings.list.at[i], db);
}
