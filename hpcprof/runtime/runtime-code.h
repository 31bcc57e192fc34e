/* Which code of the load modules is a runtime's, by the rules (hpcprof/runtime/rules.h).
 *
 * A scope belongs to the rule that its procedure, or inlined procedure, matches by name. What is
 * inlined into such a procedure belongs to it as well if it is declared in the same folder: helpers
 * of the runtime do, and a procedure of the user's that a compiler inlined into the runtime's does
 * not. The rules of an agent apply to all modules of the processes where it took part, since the
 * compiler inlines procedures of the runtime's headers into the user's: they name procedures as
 * only the runtime may (reserved names, or whole names that it exports). */
#ifndef HPCPROF_RUNTIME_CODE_H
#define HPCPROF_RUNTIME_CODE_H

#include "hpcprof/measurement/measurements.h"
#include "hpcprof/runtime/rules.h"

/* Reads the rules, and finds the code that they are about. Once the modules have their structures.
 */
void runtime_code_find(struct inputs *inputs);

/* The rule, RULE_OVERHEAD, RULE_WAITING or RULE_WORKING, that a statement of a module belongs to;
 * NULL for none, and for a statement that is NULL. */
const struct rule *runtime_code_rule(const struct module *module,
                                     const struct structure_statement *statement);

/* Whether some code of a module belongs to a rule with that key. */
bool runtime_code_has(const struct module *module, enum rule_key key);

#endif
