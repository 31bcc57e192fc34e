/* Rules files: what is known of a runtime's code by the names of its procedures. They lie in
 * ../lib/agents, seen from this program. The first line is one of
 *
 *     agent NAME VERSION       the rules of an agent (agents/agent.h): they are read where it took
 *                              part in a process, and apply to the modules of that process
 *     runtime NAME VERSION     the rules of a runtime that needs no agent: they apply to modules
 *                              whose base name a `runtime-module` line matches
 *
 * then, in any order, blank lines, lines that begin with '#', and
 *
 *     runtime-module PATTERN   base name of a module of the runtime's, or BASE NAME.<something>
 *     clone PATTERN            see hpcprof/names/clones.h
 *     overhead PATTERN [KIND]  time in such a procedure, also where it is inlined, is the runtime's
 *                              overhead of that kind (spawn, sync, steal, scheduler, loop, ...)
 *     fence PATTERN [KIND]     the same, of a procedure that ends with a memory fence or an atomic
 *                              operation: the processor takes no interrupt before that is done, so
 *                              its time is sampled at the instruction behind it, which the compiler
 *                              may have taken from the caller
 *     waiting PATTERN          time in such a procedure of a `runtime-module` is waiting, not work
 *     waiting-code PATTERN     so is time in such a procedure of a `runtime-module`, if it is in a
 *                              loop that has a `pause` instruction, or in a system call that waits
 *     waiting-call PATTERN     so is time in such a function of the C library, if it is called
 *                              from a `runtime-module`
 *     working PATTERN          time in such a procedure is not waiting, whoever called it
 *
 * Other lines that begin with `runtime-` are hpcrun's. In a PATTERN a star stands for any text. Of
 * several lines that match a name the first one counts. In modules that are not the runtime's, as
 * users' are, into which the compiler inlines procedures of its headers, only whole names count
 * and patterns that begin with two underscores, which C reserves: so no star takes a user's
 * procedure for the runtime's. Each line that makes no sense is reported
 * by file and number, and skipped. */
#ifndef HPCPROF_RULES_H
#define HPCPROF_RULES_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>

enum rule_key {
    RULE_RUNTIME_MODULE,
    RULE_CLONE,
    RULE_OVERHEAD,
    RULE_WAITING,
    RULE_WAITING_CODE,
    RULE_WAITING_CALL,
    RULE_WORKING,
};

struct rule {
    enum rule_key key;
    char *pattern;
    char *kind;          /* of overhead; "" for none */
    bool is_fence;       /* of overhead: what is sampled directly behind it is its own */
    uint32_t kind_index; /* of overhead: the kind in inputs->overhead_kinds (hpcprof/metrics/overhead-samples.h) */
};

struct rules_file {
    char *base;       /* "cilk5.rules" */
    bool is_of_agent; /* else of a runtime that needs none */
    VEC(struct rule) rules;
};

/* A zeroed one is empty. */
struct rules {
    VEC(struct rules_file) files;
};

/* Reads the rules of an agent by the base name of its file, once. Says so, and leaves an empty file
 * in `rules`, when there is none. */
void rules_read_agent(struct rules *rules, const char *base);

/* Reads the rules of all runtimes that need no agent. */
void rules_read_runtimes(struct rules *rules);

/* The file of that base name; NULL if it was not read. */
const struct rules_file *rules_find_file(const struct rules *rules, const char *base);

/* The first rule with that key that matches a name and, unless that is NULL, stands behind another
 * one; NULL for none. */
const struct rule *rules_match(const struct rules_file *file, enum rule_key key, const char *name,
                               const struct rule *behind);

/* The first rule for code, RULE_OVERHEAD, RULE_WAITING or RULE_WORKING, that matches the name of a
 * procedure in a module that is the runtime's own, or is not. */
const struct rule *rules_match_code(const struct rules_file *file, const char *name,
                                    bool is_in_own_module);

/* Whether there is a rule with that key. */
bool rules_have(const struct rules_file *file, enum rule_key key);

/* Whether a module, of which `path` is the path, is the runtime's. */
bool rules_have_module(const struct rules_file *file, const char *path);

void rules_free(struct rules *rules);

#endif
