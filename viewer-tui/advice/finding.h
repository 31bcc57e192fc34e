/* Findings: what a reader of a profile can act on, one statement each. */
#ifndef VIEWER_FINDING_H
#define VIEWER_FINDING_H

#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* The factor by which a run becomes faster, at most, when a part of its time is saved. The part is
 * a share of the time of the run's workers, or of its wall clock: without it they need 1 - share of
 * the time. "At most": the rest may turn out to be serial.
 *
 * 1 for no gain, INFINITY if all of the time may be saved; low and high are a 95 % interval. */
struct gain {
    double factor, low, high;
};

struct gain gain_without(const struct share *share);

/* Adds "1.19x faster (1.17x to 1.21x)"; the interval only if it differs in two decimals. */
void gain_describe(const struct gain *gain, struct text *out);

/* Adds "15.8% (14.5% to 17.1%)"; with `more` "15.8% (14.5% to 17.1%; more)"; "" for none. */
void share_describe(const struct share *share, const char *more, struct text *out);

/* finding_kind_name gives their names in JSON and CSV. */
enum finding_kind {
    FINDING_PARALLELIZATION, /* idleness and overhead of a runtime's workers */
    FINDING_LOCK,            /* a lock, and the line that holds it while threads wait */
    FINDING_PARALLELISM,     /* work and span */
    FINDING_SPAN,            /* a limit to the speed with any number of workers */
    FINDING_NO_NAMES,        /* code made at run time without names */
    FINDING_NO_LINES,        /* code without line information */
    FINDING_IMBALANCE,       /* threads with unequal parts of a procedure's work */
    FINDING_ONE_THREAD,      /* a time in which only one thread runs */
    FINDING_BLOCKED,         /* threads that wait at a line */
    FINDING_NOT_OPTIMIZED,   /* code compiled without optimization */
    FINDING_SYSTEM_CALLS,    /* CPU time in system calls */
    FINDING_MEMORY_CALLS,    /* CPU time in the allocator's system calls */
    FINDING_TOO_MANY_THREADS, /* of a parallel runtime, for too few CPUs */
    FINDING_NO_CPU,          /* threads that could run but had no CPU */
    FINDING_WAITING,         /* CPU time in a runtime's waiting procedures */
    FINDING_HOT_PLACE,       /* the loop or line with most CPU time */
    FINDING_KINDS
};

/* What it would gain to act on a finding. */
enum gain_state {
    GAIN_NONE,    /* nothing is known */
    GAIN_AT_MOST, /* the run becomes faster by this factor at most */
    GAIN_LIMIT,   /* the same with any number of workers; findings are not ordered by it */
};

struct finding {
    enum finding_kind kind;
    enum gain_state gain_state;
    struct gain gain; /* of the whole run; undefined for GAIN_NONE */
    int order; /* ascending, of findings without a gain or with equal gains; or FINDING_BEFORE_ALL
                */
    uint32_t procedure, file, line; /* the place; NOTHING, NOTHING and 0 if there is none */
    const void *source; /* of more members in JSON, by kind (parallelization.h); NULL: none */
    char *text;         /* a few sentences, the cause and the place first */
    VEC(char *)
    details; /* further paragraphs; items of a list begin with FINDING_ITEM */
};

/* Comes before all other findings, whatever their gains. */
#define FINDING_BEFORE_ALL (-1)

#define FINDING_ITEM '\t'

/* A zeroed one is empty. */
struct findings {
    VEC(struct finding) list;
};

/* Adds a finding without a place; the result is valid until the next one is added. */
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

/* Sorts by the lower end of the gain's interval, the largest first; then those without a gain. */
void findings_sort(struct findings *findings);

void findings_free(struct findings *findings);

/* "parallelization" */
const char *finding_kind_name(enum finding_kind kind);

#endif
