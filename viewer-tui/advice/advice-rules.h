/* Rules of advice: if a condition on the facts holds, there is something to say, and perhaps to gain. */
#ifndef VIEWER_ADVICE_RULES_H
#define VIEWER_ADVICE_RULES_H

#include "viewer-tui/advice/facts.h"
#include "viewer-tui/advice/finding.h"
#include "viewer-tui/advice/wording.h"

/* What a finding is about: set by the condition. */
struct subject {
    struct hotspot place; /* procedure NOTHING and no line: none */
    struct share share;   /* of time, or seconds (blocked) */
    double seconds;
    const void *of;         /* an entry of the facts */
    enum finding_order order; /* that of the rule, unless the condition sets another one */
    struct gain gain;         /* set by the driver; factor 1: none is claimed */
};

struct rule {
    enum finding_kind kind;
    enum finding_order order;
    bool is_of_run;   /* it says nothing about a part of the program */
    bool needs_quiet; /* it follows from wall time or idleness: not given if others had the CPUs */
    bool needs_gain;  /* it is not worth saying without a gain */
    bool claims_gain; /* the words name the gain; else it only orders findings */
    /* Sets the next subject from *from on, and advances *from; false if there is none. */
    bool (*condition)(const struct facts *facts, size_t *from, struct subject *subject);
    struct gain (*gain)(const struct facts *facts, const struct subject *subject); /* NULL: none */
    void (*words)(const struct facts *facts, const struct subject *subject, struct text *text);
    void (*details)(const struct facts *facts, const struct subject *subject, struct finding *finding); /* or NULL */
};

extern const struct rule others_rule, quota_rule, too_few_cpus_rule; /* machine-rules.c */
extern const struct rule hot_rule, no_names_rule, no_lines_rule, not_optimized_rule;      /* code-rules.c */
extern const struct rule system_calls_rule, memory_calls_rule;
extern const struct rule lock_rule, blocked_rule, waiting_rule;                           /* wait-rules.c */
extern const struct rule imbalance_rule, ranks_rule, alone_rule; /* thread-rules.c */
extern const struct rule parallelization_rule, limit_rule;                                /* parallel-rules.c */
extern const struct rule parallelism_rule;                                                /* parallelism.c */

/* All of them; the last one is NULL. */
extern const struct rule *const all_rules[];

/* Smaller gains are not named; close to what judgement.h calls fine. */
#define LEAST_GAIN 1.05

/* True once, for conditions that have one subject. */
static inline bool is_first(size_t *from)
{
    return (*from)++ == 0;
}

/* A subject without a place and a gain. */
struct subject subject_of_rule(const struct rule *rule);

/* Adds "the loop at pipe.cc:24 of score". */
void add_place(const struct facts *facts, const struct hotspot *place, struct text *text);

/* Adds "MPI_Allreduce, hybrid.c:14": what the place calls, and where; the place if it calls nothing. */
void add_call(const struct facts *facts, const struct hotspot *place, struct text *text);

/* Adds "; could win 1.9x without it" if a gain is claimed. That is no bound: threads that contend also work slower, since
 * they pass the lock and its data between CPUs, and wake others up. */
void add_gain_without_it(const struct subject *subject, struct text *text);

#endif
