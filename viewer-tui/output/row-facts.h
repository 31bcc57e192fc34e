/* What a row is, for the formats that programs read. */
#ifndef VIEWER_ROW_FACTS_H
#define VIEWER_ROW_FACTS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* Paths are NULL and lines 0 where they are unknown. A zeroed one is empty; the owner frees the
 * name with vec_free. */
struct row_facts {
    struct text name;
    const char *kind, *file, *module, *call_file;
    uint32_t line, call_line;
    bool has_call_site;
    const char *call_site_state; /* "unknown", "several": compared as one; else NULL */
};

/* Valid until the next ones are read. */
void row_facts_read(struct row_facts *facts, const struct view *view, uint32_t row);

#endif
