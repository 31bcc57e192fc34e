/* What changed between two runs (changes.h), as a section of their summary. */
#ifndef VIEWER_PRINT_CHANGES_H
#define VIEWER_PRINT_CHANGES_H

#include "lib/json.h"
#include "viewer-tui/compare/changes.h"
#include "viewer-tui/output/csv.h"

/* `view` is the one of which the changes are, `row` that row. */
struct changes_printed {
    const struct comparison *comparison;
    const struct view *view;
    uint32_t row;
    struct changes_list list;
};

/* An array with an object for each event: of each part of effort that both measured its verdict,
 * difference and, of work, overhead and idleness, the procedures that have more and less. */
void print_changes_json(struct json_writer *json, const struct changes_printed *changes);

/* Records of a section and a name, then a value of each column: section "worse", "better" or
 * "hardly changed" of the parts, "more work" and the like of procedures. */
void print_changes_csv(struct csv *csv, const struct changes_printed *changes);

#endif
