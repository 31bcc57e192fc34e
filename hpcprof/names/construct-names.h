/* Constructs: procedures that a compiler makes of the body of a parallel construct, such as gcc's
 * `solve._omp_fn.0`. Rules (hpcprof/runtime/rules.h) name an agent's procedures that call them:
 *
 *     construct PATTERN WORDS      what such a procedure calls is the body of a construct WORDS
 *     outlined PATTERN WORDS       a procedure of such a name is the body of some construct; WORDS are
 *                                  used if no sample has its caller
 *
 * Example: with `construct run_region parallel`, the procedure at line 12 of solve.c that
 * run_region called in some sample is shown as `parallel @ solve.c:12`.
 *
 * A body that ended with a jump has no frame, but an l-note that the agent added: that is renamed, not
 * the function that the construct seems to call.
 *
 * clang makes two procedures of a body, and inlines the inner one. That one is not shown. */
#ifndef HPCPROF_CONSTRUCT_NAMES_H
#define HPCPROF_CONSTRUCT_NAMES_H

#include "hpcprof/names/symbol-table.h"
#include "hpcprof/runtime/runtime-code.h"

/* Renames the procedures of the run's constructs. */
void constructs_find(struct symbol_table *symbols, const struct runtime_code *code);

#endif
