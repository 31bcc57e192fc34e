/* The summary of a comparison: both runs side by side, and the procedures whose own costs differ
 * most. */
#ifndef VIEWER_PRINT_COMPARISON_H
#define VIEWER_PRINT_COMPARISON_H

#include "viewer-tui/output/print.h"

/* As print_summary. */
int print_comparison(struct session *session, const struct print_options *options, FILE *out);

#endif
