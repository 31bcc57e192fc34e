/* The metrics of parallel efficiency of a time event, and effort, their sum.
 *
 * A database has `work` and, of programs with a runtime, `overhead` and `idleness`; with several
 * time events one of each per event, "work (CPUTIME)". Effort is the time that the workers had: the
 * sum of those of the three that were measured. It exists only if idleness or overhead was
 * measured; else it would be a copy of work. */
#ifndef VIEWER_EFFICIENCY_H
#define VIEWER_EFFICIENCY_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/metrics/metric.h"

enum efficiency_part { WORK, OVERHEAD, IDLENESS, EFFORT, EFFICIENCY_PARTS };

struct efficiency {
    const char *event;           /* "", or with several time events " (CPUTIME)" */
    size_t at[EFFICIENCY_PARTS]; /* indices of the metrics; metrics->n if absent */
};

/* Finds the next event, whose metric of work is at *from or later, and advances *from; false if
 * there is none. */
bool efficiency_next(const struct metrics *metrics, size_t *from, struct efficiency *found);

/* Appends an effort for each event that has one. */
void efficiency_add_efforts(struct metrics *metrics);

/* Finds the kinds of overhead (struct overhead_kind) by their names: "overhead:spawn (CPUTIME)" is
 * a kind of "overhead (CPUTIME)". Call it after efforts have been added. */
void efficiency_find_kinds(struct metrics *metrics);

/* Adds the names of an effort's parts without the event: "work + idleness". */
void efficiency_add_formula(const struct metrics *metrics, size_t effort, struct text *out);

/* "work", ... */
const char *efficiency_part_name(enum efficiency_part part);

#endif
