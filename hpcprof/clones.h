/* Clones: procedures that a parallel language's compiler makes of one source procedure, such as
 * Cilk-5's fast and slow ones. An agent's rules file says by their names which they are:
 *
 *     clone PREFIX*SUFFIX      a procedure with such a name is a clone of the one of the same file
 *                              and line whose name stands in the place of the star
 *
 * hpcprof/rules.h says where the rules lie. */
#ifndef HPCPROF_CLONES_H
#define HPCPROF_CLONES_H

#include "hpcprof/program.h"

/* Sets program->original and has_clones by the run's rules. */
void clones_find(struct program *program, const struct inputs *inputs);

#endif
