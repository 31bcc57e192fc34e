/* Rules files: which procedures belong to a parallel runtime, by their names. They lie in
 * ../lib/agents, seen from this program's folder. The first line is one of
 *
 *     agent NAME VERSION       rules of an agent (agents/agent.h); they are read if the agent took
 *                              part in a process, and apply to the modules of that process
 *     runtime NAME VERSION     rules of a runtime that needs no agent; they apply to modules whose
 *                              base name matches a `runtime-module` line
 *
 * The other lines are, in any order:
 *
 *     # TEXT                   comment; empty lines are ignored, too
 *     runtime-module PATTERN   base name of a module of the runtime; BASE.<anything> matches, too
 *     runtime-export NAME      a module that defines this procedure is a module of the runtime, too
 *     glue PATTERN             the logical projection does not show such a procedure of a module of the
 *                              runtime: the machinery of an interpreter between the calls of a program.
 *                              Its time belongs to its caller. Lines before it may except some
 *     clone PATTERN            see hpcprof/names/clones.h
 *     construct PATTERN WORDS  see hpcprof/names/construct-names.h
 *     outlined PATTERN WORDS   the same
 *     header PATTERN           see hpcprof/names/header-functions.h
 *     overhead PATTERN [KIND]  time in such a procedure, inlined or not, is overhead of that kind
 *                              (spawn, sync, steal, scheduler, loop, ...)
 *     overhead-file PATTERN [KIND]
 *                              the same for procedures that are declared in such a file, and that no
 *                              line matches by their names
 *     compiled-in PATTERN      procedures of the runtime's headers that may contain code of the program:
 *                              templates call what the program gives them, and the compiler inlines that.
 *                              Where one has no debug information, no other line matches it
 *     helper PATTERN           procedures that are declared in such a file belong, where they are inlined, to
 *                              the runtime or to the program, as the code around them does
 *     fence PATTERN [KIND]     like `overhead`, for a procedure that ends with a memory fence or an
 *                              atomic operation. The processor takes no interrupt before that is
 *                              done, so its time is sampled at the next instruction, which may be
 *                              the caller's
 *     overhead-complete yes    the runtime has no other code than that of its `runtime-module`s, of the
 *                              agent, and what is named here: the overhead found is no lower bound
 *     overhead-complete debug  the same if procedures that are `compiled-in` have debug information
 *     waiting PATTERN          time in such a procedure of a `runtime-module` is waiting, not work
 *     waiting-code PATTERN     the same, but only in a loop with a `pause` instruction, or eight `nop`s in
 *                              a row, or at a waiting system call
 *     waiting-call PATTERN     time in such a function of the C library is waiting if a
 *                              `runtime-module` called it
 *     working PATTERN          time in such a procedure is never waiting, whoever called it
 *     runtime-...              any other key that begins so is for hpcrun, and ignored here
 *
 * In a PATTERN, * matches any text. If several lines match a name, the first one counts.
 *
 * The compiler inlines procedures of a runtime's headers into the user's modules. There, a pattern
 * counts only if it has no star, begins with two underscores (names that C reserves), or with a
 * namespace (`tbb::detail::*`), so that it cannot match a procedure of the user.
 *
 * An invalid line is reported with file and line number, and skipped. */
#ifndef HPCPROF_RULES_H
#define HPCPROF_RULES_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>

enum rule_key {
    RULE_RUNTIME_MODULE,
    RULE_RUNTIME_EXPORT,
    RULE_GLUE,
    RULE_CLONE,
    RULE_CONSTRUCT,
    RULE_OUTLINED,
    RULE_HEADER,
    RULE_OVERHEAD,
    RULE_OVERHEAD_FILE,
    RULE_COMPILED_IN,
    RULE_HELPER,
    RULE_OVERHEAD_COMPLETE, /* pattern: yes, debug */
    RULE_WAITING,
    RULE_WAITING_CODE,
    RULE_WAITING_CALL,
    RULE_WORKING,
};

struct rule {
    enum rule_key key;
    char *pattern;
    char *kind; /* of overhead; RULE_CONSTRUCT, RULE_OUTLINED: the construct's words; empty: none */
    bool is_fence; /* RULE_OVERHEAD: the instruction behind it is sampled in its place */
    uint32_t id;   /* number among all rules of the run, from 0 */
};

struct rules_file {
    char *base;       /* "cilk5.rules" */
    bool is_of_agent; /* else of a runtime that needs none */
    VEC(struct rule) rules;
};

/* All rules of a run; zeroed, it is empty. */
struct rules {
    VEC(struct rules_file) files;
    uint32_t n_rules;
};

/* Reads the rules of an agent from the file with that base name, unless it was read before. If
 * there is no such file, prints a note and adds a file without rules. */
void rules_read_agent(struct rules *rules, const char *base);

/* Reads the rules of all runtimes that need no agent. */
void rules_read_runtimes(struct rules *rules);

/* The file with that base name; NULL if it was not read. */
const struct rules_file *rules_find_file(const struct rules *rules, const char *base);

/* The first rule with that key that matches a name; NULL for none. If `after` is not NULL, only
 * rules that come after it are considered. */
const struct rule *rules_match(const struct rules_file *file, enum rule_key key, const char *name,
                               const struct rule *after);

/* The first of the rules RULE_OVERHEAD, RULE_WAITING, RULE_WORKING and RULE_GLUE that matches the name
 * of a procedure; NULL for none. `is_in_own_module`: the procedure is in a module of the runtime. */
const struct rule *rules_match_code(const struct rules_file *file, const char *name,
                                    bool is_in_own_module);

/* Whether a rule makes time in the code that belongs to it overhead. */
bool rule_is_overhead(const struct rule *rule);

/* Whether the file has a rule with that key. */
bool rules_have(const struct rules_file *file, enum rule_key key);

/* Whether the module at `path` belongs to the runtime, or is the agent itself. */
bool rules_have_module(const struct rules_file *file, const char *path);

void rules_free(struct rules *rules);

#endif
