/* Finds the code of parallel runtimes in the load modules, by the rules (hpcprof/runtime/rules.h).
 *
 * - A scope belongs to the rule that the name of its procedure or inlined procedure matches.
 * - Code inlined into such a procedure belongs to that rule as well, if it is declared in the same
 *   folder or below it, in a file of a `helper` rule, or if the module is the runtime's own. So helpers of
 *   the runtime belong to it, but a user's procedure that the compiler inlined into the runtime does not.
 * - The rules of an agent apply to all modules of the processes where it took part, since the
 *   compiler inlines procedures of the runtime's headers into the user's modules. */
#ifndef HPCPROF_RUNTIME_CODE_H
#define HPCPROF_RUNTIME_CODE_H

#include "hpcprof/measurement/measurements.h"
#include "hpcprof/modules/structure-finder.h"
#include "hpcprof/runtime/rules.h"

struct runtime_code {
    const struct measurements *measurements;
    const struct structures *structures;
    struct rules rules;
    const struct rule ***rule_of_scope; /* by module and scope of its structure; NULL: no rule */
    bool has_mixed_code; /* some module has code of a runtime's headers, and no debug information */
};

/* Reads the rules that apply to the measurements. */
void runtime_rules_read(struct rules *rules, const struct measurements *measurements);

/* Whether the rules concern all code of each module, not only that of call paths: whether the runtime, or
 * a part of it, is built in, and by which names procedures go. The caller frees the array. */
bool *runtime_rules_need_whole(const struct rules *rules, const struct measurements *measurements);

/* Finds the code that the rules match. Takes the rules; the result refers to the measurements and
 * structures. */
void runtime_code_find(struct runtime_code *code, struct rules *rules,
                       const struct measurements *measurements,
                       const struct structures *structures);

void runtime_code_free(struct runtime_code *code);

/* The rule RULE_OVERHEAD, RULE_OVERHEAD_FILE, RULE_WAITING, RULE_WORKING or RULE_GLUE that a statement of a module
 * belongs to; NULL if it belongs to none, or is NULL itself. */
const struct rule *runtime_code_rule(const struct runtime_code *code, uint32_t module,
                                     const struct structure_statement *statement);

/* Whether some code of a module belongs to a rule that makes it overhead. */
bool runtime_code_has_overhead(const struct runtime_code *code, uint32_t module);

/* The code of a frame of a call path. */
struct frame_code {
    bool has_module;  /* false: the code is in no known module, the rest is unset */
    uint32_t module;  /* index in measurements.modules */
    uint64_t address; /* in the module */
    uint64_t flags;   /* MODULE_LIBC, ... of the module instance */
    const struct structure *structure;           /* NULL: the module has none */
    const struct structure_statement *statement; /* NULL: no structure describes the address */
};

/* The code at the instruction pointer of a node. */
struct frame_code frame_code_of(const struct runtime_code *code,
                                const struct measurement_file *file,
                                const struct measurement_node *node);

/* Whether the code works for whoever called it: the C library, the vdso, the kernel, or a PLT stub. */
bool frame_code_is_callee(const struct frame_code *frame);

#endif
