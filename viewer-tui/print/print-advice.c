#include "viewer-tui/print/print-advice.h"

#include "viewer-tui/advice/advice-text.h"
#include "viewer-tui/print/metric-json.h"

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

static void write_carriers(struct json_writer *json, const struct carriers *carriers,
                           const struct database *db)
{
    char buffer[NAME_SIZE];
    json_write_array(json);
    for (size_t i = 0; i < carriers->n; i++) {
        const struct carrier *carrier = &carriers->at[i];
        json_write_object(json);
        json_write_text(json, "name", name_of(db, carrier->procedure, buffer));
        json_write_place(json, database_file_path(db, carrier->file), carrier->line);
        json_write_key(json, "callers");
        json_write_array(json);
        for (int c = 0; c < MOST_CALLERS && carrier->callers[c] != NOTHING; c++)
            json_write_string(json, name_of(db, carrier->callers[c], buffer));
        json_write_array_end(json);
        json_write_key(json, "has_other_callers");
        json_write_bool(json, carrier->has_other_callers);
        write_number(json, "exclusive", carrier->cost);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_judgement(struct json_writer *json, const struct advice *advice,
                            const struct database *db)
{
    const struct judgement *judgement = &advice->judgement;
    json_write_text(json, "verdict", verdict_name(judgement->verdict));
    json_write_text(json, "meaning", verdict_meaning(judgement->verdict));
    write_number(json, "effort", judgement->effort);
    write_number(json, "idleness_percent_of_effort", 100 * judgement->idleness);
    write_number(json, "overhead_percent_of_effort", 100 * judgement->overhead);
    if (advice->bound) {
        json_write_text(json, "overhead_lower_bound", advice->bound);
    }
    json_write_key(json, "overhead_kinds_percent_of_effort");
    json_write_object(json);
    for (size_t i = 0; i < advice->kinds.n; i++) {
        char *name = overhead_kind_name(advice->kinds.at[i].metric);
        json_write_percent(json, name, advice->kinds.at[i].cost, judgement->effort);
        free(name);
    }
    json_write_object_end(json);
    json_write_key(json, "idleness_in");
    write_carriers(json, &advice->carriers[WASTED_IDLE], db);
    json_write_key(json, "overhead_in");
    write_carriers(json, &advice->carriers[WASTED_ON_OVERHEAD], db);
}

static void write_missing(struct json_writer *json, const struct advice *advice)
{
    json_write_text(json, "verdict", NULL);
    json_write_key(json, "missing");
    json_write_object(json);
    for (int waste = 0; waste < WASTES; waste++)
        if (advice->missing[waste])
            json_write_text(json, waste_name((enum waste)waste), advice->missing[waste]);
    json_write_object_end(json);
}

void print_advice_json(struct json_writer *json, const struct advices *advices,
                       const struct database *db)
{
    struct text event = {0};
    json_write_array(json);
    for (size_t i = 0; i < advices->list.n; i++) {
        const struct advice *advice = &advices->list.at[i];
        advice_event(advice->event, &event);
        json_write_object(json);
        json_write_text(json, "event", event.n ? text_string(&event) : NULL);
        if (advice_is_there(advice))
            write_judgement(json, advice, db);
        else
            write_missing(json, advice);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    vec_free(&event);
}

static void begin_record(struct csv *csv, const char *event, const char *item)
{
    csv_text(csv, "advice");
    csv_text(csv, event);
    csv_text(csv, item);
}

static void add_text_record(struct csv *csv, const char *event, const char *item, const char *text)
{
    begin_record(csv, event, item);
    csv_text(csv, text);
    csv_end_record(csv);
}

static void add_number_record(struct csv *csv, const char *event, const char *item, double number)
{
    begin_record(csv, event, item);
    csv_number(csv, number);
    csv_end_record(csv);
}

static void add_carrier_records(struct csv *csv, const char *event, const char *waste,
                                const struct carriers *carriers, const struct database *db)
{
    char buffer[NAME_SIZE];
    for (size_t i = 0; i < carriers->n; i++) {
        struct text item = {0};
        const char *name = name_of(db, carriers->at[i].procedure, buffer);
        text_printf(&item, "%s in %s", waste, name ? name : "");
        add_number_record(csv, event, text_string(&item), carriers->at[i].cost);
        vec_free(&item);
    }
}

static void add_records(struct csv *csv, const char *event, const struct advice *advice,
                        const struct database *db)
{
    const struct judgement *judgement = &advice->judgement;
    add_text_record(csv, event, "verdict", verdict_name(judgement->verdict));
    add_text_record(csv, event, "meaning", verdict_meaning(judgement->verdict));
    add_number_record(csv, event, "effort", judgement->effort);
    add_number_record(csv, event, "idleness_percent_of_effort", 100 * judgement->idleness);
    add_number_record(csv, event, "overhead_percent_of_effort", 100 * judgement->overhead);
    if (advice->bound)
        add_text_record(csv, event, "overhead lower bound", advice->bound);
    for (size_t i = 0; i < advice->kinds.n; i++) {
        char *name = overhead_kind_name(advice->kinds.at[i].metric);
        char *item = mem_printf("overhead_percent_of_effort: %s", name);
        begin_record(csv, event, item);
        csv_percent(csv, advice->kinds.at[i].cost, judgement->effort);
        csv_end_record(csv);
        free(item);
        free(name);
    }
    for (int waste = 0; waste < WASTES; waste++)
        add_carrier_records(csv, event, waste_name((enum waste)waste), &advice->carriers[waste],
                            db);
}

void print_advice_csv(struct csv *csv, const struct advices *advices, const struct database *db)
{
    struct text event = {0};
    for (size_t i = 0; i < advices->list.n; i++) {
        const struct advice *advice = &advices->list.at[i];
        advice_event(advice->event, &event);
        if (advice_is_there(advice))
            add_records(csv, text_string(&event), advice, db);
        for (int waste = 0; waste < WASTES; waste++)
            if (advice->missing[waste])
                add_text_record(csv, text_string(&event),
                                waste == WASTED_IDLE ? "idleness not measured"
                                                     : "overhead not measured",
                                advice->missing[waste]);
    }
    vec_free(&event);
}
