/* Rules of advice: if a condition on the facts holds, there is something to say, and perhaps to gain. The table of all
 * rules is in advice.c; what they refer to is in machine-rules.c, code-rules.c, ... */
#ifndef VIEWER_ADVICE_RULES_H
#define VIEWER_ADVICE_RULES_H

#include "viewer-tui/advice/facts.h"
#include "viewer-tui/advice/finding.h"
#include "viewer-tui/advice/wording.h"

/* What a finding is about: set by the condition. */
struct subject {
    size_t entry; /* set by the driver: number of the entry to which the rule is applied */
    struct hotspot place; /* procedure NOTHING and no line: none */
    bool is_section;      /* the place is a critical section of OpenMP */
    struct share share;   /* of time, or seconds (blocked) */
    double seconds;
    const void *of;           /* an entry of the facts */
    enum finding_order order; /* that of the rule, unless the condition sets another one */
    struct gain gain;         /* factor 1, as the driver sets it: none is claimed */
    const char *where; /* for the words, set by the driver: the place, "the loop at pipe.cc:24 of score" */
};

typedef bool rule_condition(const struct facts *facts, struct subject *subject);
typedef void rule_words(const struct facts *facts, const struct subject *subject, struct text *text);

enum rule_flags {
    OF_RUN = 1,      /* it says nothing about a part of the program */
    NEEDS_QUIET = 2, /* it follows from wall time or idleness: not given if others had the CPUs */
    OF_ONE = 4,      /* it follows from the wall clock of the main process: not given if other processes matter */
    CLAIMS_GAIN = 8, /* the words name the gain; else it only orders findings */
    ANY_CPUS = 16,   /* the run's CPUs do not limit the gain, since it comes from more CPUs or from less work */
    ALLOWS_LOAD = 32 /* the gain's interval holds also if others had the CPUs */
};

/* What a rule is applied to: the facts once, or each entry of a list. */
enum rule_each { ONCE, EACH_WAIT, EACH_SHARED_WORK, EACH_EVENT };

struct rule {
    enum finding_kind kind;
    const char *name; /* of the kind, in JSON */
    enum finding_order order;
    unsigned flags;
    enum rule_each each;
    rule_condition *condition; /* sets the subject from its entry; false if there is nothing to say of it */
    rule_words *words;
};

rule_condition is_lost, starts_many, others_had_cpus, is_throttled, have_too_few_cpus, is_of_system; /* machine-rules.c */
rule_words say_lost, say_starts, say_others, say_quota, say_too_few_cpus, say_programs;
rule_condition is_hot, is_hidden, has_no_names, has_no_lines, is_not_optimized; /* code-rules.c */
rule_condition has_system_calls, moves_memory;
rule_words say_hot, say_hidden, say_no_names, say_no_lines, say_not_optimized, say_system_calls, say_memory_calls;
rule_condition wait_for_locks, is_blocked, are_asleep, wait_in_runtime;                 /* wait-rules.c */
rule_words say_locks, say_blocked, say_asleep, say_waiting;
rule_condition has_unequal_parts, have_unequal_ranks, runs_alone;                       /* thread-rules.c */
rule_words say_unequal_parts, say_unequal_ranks, say_alone;
rule_condition is_judged, has_limit;                                                    /* parallel-rules.c */
rule_words say_verdict, say_limit;
rule_condition has_work_span;                                                           /* parallelism.c */
rule_words say_parallelism;

/* Adds details to the finding of say_verdict: idleness and overhead in numbers, and the places with most of each. */
void add_details(const struct facts *facts, const struct subject *subject, struct finding *finding);

/* Smaller gains are not named; close to what judgement.h calls fine. */
#define LEAST_GAIN 1.05

/* Adds "the loop at pipe.cc:24 of score". */
static inline void add_place(const struct facts *facts, const struct hotspot *place, struct text *text)
{
    hotspot_describe(facts->view->db, place, false, text);
}

/* Adds "MPI_Allreduce, hybrid.c:14": what the place calls, and where; the place alone if it calls
 * nothing, or a template. */
void add_call(const struct facts *facts, const struct subject *subject, struct text *text);

/* Adds how many of the threads that work live at the same time: "5 threads"; "Up to 5 threads" if on average fewer than 4.5
 * do. */
void add_threads(const struct main_process *process, struct text *text);

/* Adds the gain between two texts, "; could win 1.9x without it", if one is claimed. That is no bound where threads
 * contend, since they also work slower: they pass the lock and its data between CPUs, and wake others up. */
void add_gain(const struct subject *subject, const char *before, const char *after, struct text *text);

#endif
