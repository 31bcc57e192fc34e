/* Advice on a whole run in the formats of the summary. */
#ifndef VIEWER_PRINT_ADVICE_H
#define VIEWER_PRINT_ADVICE_H

#include "lib/json.h"
#include "viewer-tui/advice/advice.h"
#include "viewer-tui/print/csv.h"

/* An array with a member for each time event. "verdict" is null where there is none; then "missing"
 * says what was not measured and why. */
void print_advice_json(struct json_writer *json, const struct advices *advices,
                       const struct database *db);

/* Records "advice", event, item, value. */
void print_advice_csv(struct csv *csv, const struct advices *advices, const struct database *db);

#endif
