/* Findings: what a run's data says that a reader can act on, one statement each. */
#ifndef VIEWER_FINDING_H
#define VIEWER_FINDING_H

#include "viewer-tui/advice/gain.h"
#include "viewer-tui/tree/view.h"

/* Their names in JSON and CSV: finding_kind_name. */
enum finding_kind {
    FINDING_PARALLELIZATION, /* idleness and overhead of a runtime's workers */
    FINDING_SPAN,            /* what no number of workers makes faster */
    FINDING_NO_NAMES,        /* code made at run time without names */
    FINDING_NO_LINES,        /* code without line information */
    FINDING_IMBALANCE,       /* threads have unequal parts of a procedure's work */
    FINDING_ONE_THREAD,      /* only one thread runs */
    FINDING_BLOCKED,         /* threads wait at a line */
    FINDING_NOT_OPTIMIZED,   /* code compiled without optimization */
    FINDING_SYSTEM_CALLS,    /* CPU time in system calls */
    FINDING_NO_CPU,          /* threads that could run had no CPU */
    FINDING_WAITING,         /* CPU time in a runtime's waiting procedures */
    FINDING_HOT_PLACE,       /* the loop or line with most CPU time */
    FINDING_KINDS
};

/* What it saves to act on a finding. */
enum gain_state {
    GAIN_NONE,    /* it says nothing about time */
    GAIN_AT_MOST, /* the run becomes that much faster at most */
    GAIN_LIMIT,   /* it does with whatever number of workers: no order follows from that */
};

struct finding {
    enum finding_kind kind;
    enum gain_state gain_state;
    struct gain gain; /* of the whole run; where there is one */
    int order;        /* of findings without a gain, and of equal gains: the least first; or
                         FINDING_BEFORE_ALL */
    uint32_t procedure, file, line; /* where it is; NOTHING, NOTHING and 0 where it has no place */
    const void *source; /* what else JSON says of it: its kind knows (parallelization.h); NULL */
    char *text;         /* a few sentences, the cause and the place first */
    VEC(char *)
    details; /* more of them, a paragraph each; those that begin with FINDING_ITEM are
                items of a list below the one before */
};

/* It comes before all others, whatever these gain. */
#define FINDING_BEFORE_ALL (-1)

#define FINDING_ITEM '\t'

/* A zeroed one is empty. */
struct findings {
    VEC(struct finding) list;
};

/* Adds one without a place; it is valid until the next one is added. */
struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             const struct text *text);
void finding_set_text(struct finding *finding, const struct text *text);

bool findings_have(const struct findings *findings, enum finding_kind kind);

void finding_add_detail(struct finding *finding, const struct text *text);

static inline void finding_set_gain(struct finding *finding, struct gain gain)
{
    finding->gain_state = GAIN_AT_MOST;
    finding->gain = gain;
}

/* The largest gain first, by the least that it is with 95 %; then what has none. */
void findings_sort(struct findings *findings);

void findings_free(struct findings *findings);

/* "parallelization" */
const char *finding_kind_name(enum finding_kind kind);

#endif
