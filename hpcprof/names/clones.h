/* Clones: procedures that a parallel language's compiler makes of one source procedure, such as
 * Cilk-5's fast and slow ones. An agent's rules file says by their names which they are:
 *
 *     clone PREFIX*SUFFIX      a procedure with such a name is a clone of the one of the same file
 *                              and line whose name stands in the place of the star
 *
 *     clone PREFIX*MIDDLE*     such a procedure is a part of one of the same file that is declared
 *                              before it, and whose name and a '_' begin what the first star stands
 *                              for; of several, of the last one. Its code is that procedure's, as
 *                              if it stood there: Cilk-5's inlets
 *
 * hpcprof/runtime/rules.h says where the rules lie. */
#ifndef HPCPROF_CLONES_H
#define HPCPROF_CLONES_H

#include "hpcprof/names/symbol-table.h"

/* Sets program->original, is_part and has_clones by the run's rules. */
void clones_find(struct program *program, const struct inputs *inputs);

/* Reports stripped programs: without names their clones can't be recognized and are shown apart.
 * The modules' `why` says so, too. Call it after runtime_code_find. */
void clones_note_missing(struct inputs *inputs);

#endif
