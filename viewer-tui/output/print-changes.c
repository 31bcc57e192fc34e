#include "viewer-tui/output/print-changes.h"

#include "viewer-tui/compare/changes-text.h"
#include "viewer-tui/output/metric-json.h"

#include <math.h>
#include <stdlib.h>

static const char *const direction_names[DIRECTIONS] = {[MORE] = "more", [LESS] = "less"};

static const struct database *database_of(const struct changes_printed *changes,
                                          const struct changed_hotspot *hotspot)
{
    return merged_side(changes->view, hotspot->side)->db;
}

/* "" of the scope itself, where that is no procedure. */
static const char *name_of(const struct changes_printed *changes,
                           const struct changed_hotspot *hotspot, char buffer[NAME_SIZE])
{
    uint32_t procedure = hotspot->hotspot.procedure;
    return procedure == NOTHING
               ? ""
               : database_procedure_name(database_of(changes, hotspot), procedure, buffer);
}

static void write_both(struct json_writer *json, const struct changes_printed *changes,
                       const struct costs_of_both *costs)
{
    for (int side = 0; side < SIDES; side++) {
        json_write_key(json, changes->comparison->options->names[side]);
        json_write_double(json, costs->sides[side]);
    }
    json_write_key(json, comparison_column(changes->comparison, MERGED_DIFFERENCE));
    json_write_double(json, costs->difference);
}

static void write_hotspots(struct json_writer *json, const struct changes_printed *changes,
                           const struct changed_hotspots *hotspots)
{
    char buffer[NAME_SIZE];
    json_write_array(json);
    for (size_t i = 0; i < hotspots->n; i++) {
        const struct changed_hotspot *hotspot = &hotspots->at[i];
        const struct database *db = database_of(changes, hotspot);
        json_write_object(json);
        json_write_text(json, "name", name_of(changes, hotspot, buffer));
        json_write_place(json, database_file_path(db, hotspot->hotspot.file),
                         hotspot->hotspot.line);
        write_both(json, changes, &hotspot->costs);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_part(struct json_writer *json, const struct changes_printed *changes,
                       const struct change *change, enum efficiency_part part)
{
    json_write_key(json, efficiency_part_name(part));
    json_write_object(json);
    json_write_text(json, "verdict", change_verdict_name(change->verdict));
    write_both(json, changes, &change->costs);
    for (int direction = MORE; part != EFFORT && direction < DIRECTIONS; direction++) {
        json_write_key(json, direction_names[direction]);
        write_hotspots(json, changes, &change->hotspots[direction]);
    }
    json_write_object_end(json);
}

void print_changes_json(struct json_writer *json, const struct changes_printed *changes)
{
    struct text event = {0};
    json_write_array(json);
    for (size_t i = 0; i < changes->list.n; i++) {
        const struct changes *of_event = &changes->list.at[i];
        advice_event(of_event->event, &event);
        json_write_object(json);
        json_write_text(json, "event", event.n ? text_string(&event) : NULL);
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            if (of_event->parts[part].verdict != CHANGE_NOT_MEASURED)
                write_part(json, changes, &of_event->parts[part], (enum efficiency_part)part);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    vec_free(&event);
}

static void write_record(struct csv *csv, const char *section, const char *name,
                         const struct costs_of_both *costs)
{
    csv_text(csv, section);
    csv_text(csv, name);
    for (int side = 0; side < SIDES; side++)
        csv_number(csv, costs->sides[side]);
    csv_number(csv, costs->difference);
    double expected = costs->sides[1] - costs->difference;
    if (expected != 0)
        csv_number(csv, costs->sides[1] / expected);
    else
        csv_text(csv, "-");
    csv_end_record(csv);
}

static void write_part_records(struct csv *csv, const struct changes_printed *changes,
                               const struct changes *of_event, enum efficiency_part part)
{
    const struct change *change = &of_event->parts[part];
    char buffer[NAME_SIZE], *name = mem_printf("%s%s", efficiency_part_name(part), of_event->event);
    if (change->verdict != CHANGE_NOT_MEASURED)
        write_record(csv, change_verdict_name(change->verdict), name, &change->costs);
    for (int direction = MORE; direction < DIRECTIONS; direction++) {
        const struct changed_hotspots *hotspots = &change->hotspots[direction];
        char *section = mem_printf("%s %s", direction_names[direction], name);
        for (size_t i = 0; i < hotspots->n; i++)
            write_record(csv, section, name_of(changes, &hotspots->at[i], buffer),
                         &hotspots->at[i].costs);
        free(section);
    }
    free(name);
}

void print_changes_csv(struct csv *csv, const struct changes_printed *changes)
{
    for (size_t i = 0; i < changes->list.n; i++)
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            write_part_records(csv, changes, &changes->list.at[i], (enum efficiency_part)part);
}
