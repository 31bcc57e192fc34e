/* Parts of the printers of time lines. */
#ifndef VIEWER_PRINT_TIMELINE_H
#define VIEWER_PRINT_TIMELINE_H

#include "viewer-tui/output/print.h"
#include "viewer-tui/output/timeline-lines.h"

/* "work", "nobody working": as in data formats. */
const char *trace_state_key(enum trace_state state);

/* The strip alone, with its axis, as an element of a page for browsers. */
void print_timeline_strip(struct timeline_lines *lines, FILE *out);

void print_timeline_svg(struct timeline_lines *lines, const char *command, FILE *out);
void print_timeline_chrome(struct timeline_lines *lines, const char *command, FILE *out);
void print_timeline_firefox(struct timeline_lines *lines, const char *command, FILE *out);

#endif
