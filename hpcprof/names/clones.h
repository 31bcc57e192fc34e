/* Clones: procedures that the compiler of a parallel language makes of one source procedure, such
 * as Cilk-5's fast and slow versions. The rules files of agents (hpcprof/runtime/rules.h) recognize
 * them by name:
 *
 *     clone PREFIX*SUFFIX      a clone of the procedure of the same file and line whose name is the
 *                              text in place of the star
 *
 *     clone PREFIX*MIDDLE*     a part of a procedure: code that counts as if it stood there
 *                              (Cilk-5's inlets). The text in place of the first star begins with
 *                              the procedure's name and '_'. The procedure is declared in the same
 *                              file, before the part; if there are several, the last one
 *
 * Example: with `clone _cilk_*_slow`, `_cilk_fib_slow` is a clone of `fib`. */
#ifndef HPCPROF_CLONES_H
#define HPCPROF_CLONES_H

#include "hpcprof/names/symbol-table.h"
#include "hpcprof/runtime/runtime-code.h"

struct clones {
    uint32_t *original; /* by function: what it is a clone or part of; otherwise itself */
    bool *is_part;      /* by function: it is a part */
    bool has_clones, has_parts;
    bool *lacks_names; /* by module: it was stripped, so its clones cannot be recognized */
};

/* Finds the clones by the run's rules. Prints a note on stripped programs. */
void clones_find(struct clones *clones, const struct symbol_table *symbols,
                 const struct runtime_code *code);

void clones_free(struct clones *clones);

/* Why the clones of a module's procedures are shown separately; NULL: they are not, or the module
 * has none. */
const char *clones_why_separate(const struct clones *clones, uint32_t module);

#endif
