/* How evenly threads share the work of a procedure or an OpenMP construct, and ranks that of a parallel job.
 *
 * What threads share is an OpenMP construct (`parallel @ file:line`), or the first procedure of the user's own on the paths
 * of created threads: the start routine or, below a library's procedures, the body of a parallel loop. Threads of Go share
 * nothing: goroutines move between them. If its threads have CPU times c with mean m, the longest is busy for max c - m
 * longer than with equal parts. While it waits itself, others may work that it does not keep waiting: without a construct,
 * that time is subtracted. */
#ifndef VIEWER_BALANCE_H
#define VIEWER_BALANCE_H

#include "viewer-tui/advice/facts.h"

/* The balance of the CPU time of the facts' row in a top-down view. The caller frees the list. */
struct balance balance_of(const struct facts *facts);

#endif
