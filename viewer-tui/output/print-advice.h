/* Advice on a whole run in the formats of the summary. */
#ifndef VIEWER_PRINT_ADVICE_H
#define VIEWER_PRINT_ADVICE_H

#include "lib/json.h"
#include "viewer-tui/advice/advice.h"
#include "viewer-tui/output/csv.h"

/* An array of findings (advice.h), the largest gain first; doc/FORMAT-database.md describes it. */
void print_advice_json(struct json_writer *json, const struct advice *advice,
                       const struct database *db);

/* Records "advice", kind of finding, item, value. */
void print_advice_csv(struct csv *csv, const struct advice *advice, const struct database *db);

#endif
