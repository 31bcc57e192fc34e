/* What idleness and overhead say of a part of a parallel program: Table 1 of Tallent and
 * Mellor-Crummey, "Effective performance measurement and analysis of multithreaded applications"
 * (PPoPP 2009), with the uncertainty of samples. Numbers in, verdict out.
 *
 * A verdict says of shares on which side of a threshold they are, and is given only where the whole
 * interval (share-interval.h, 95 %) is on that side. For a run of a program whose true share is the
 * threshold itself
 *
 *     says "below"          2.5 %
 *     says "cannot tell"   95   %
 *     says "above"          2.5 %
 *
 * so that two runs contradict each other with less than 0.2 %, which is the worst case; where the
 * true share is 4 sigma from the threshold, 98 % of the runs say the same. In between, about 2
 * sigma from the threshold, a run may say either the verdict or "cannot tell", which leaves the
 * verdict open. No rule is free of that: some program stands where one outcome ends and the next
 * begins.
 *
 * Nothing follows from what was not measured. From a lower bound follows only what more of it would
 * not refute: overhead of at least 17 % is high; overhead of at least 0.1 % is not low, and no
 * grain of tasks is called right or wrong. */
#ifndef VIEWER_JUDGEMENT_H
#define VIEWER_JUDGEMENT_H

#include "viewer-tui/advice/share-interval.h"

#include <stdbool.h>

/* Idleness and overhead that take less than this share of a scope's effort together are fine: the
 * run can become 1.11 times as fast at most. The paper calls 1.6 % "very effective" and 11.6 %
 * "less effective". */
#define FINE_SHARE 0.10

/* Where they take more, each of the two that takes more than this is named as a cause: half of
 * FINE_SHARE, so that one of them always can. */
#define HIGH_SHARE (FINE_SHARE / 2)

/* What wastes less than this share of the whole run's effort is not worth a change, however bad it
 * looks by itself. */
#define NOTABLE_SHARE_OF_RUN 0.01

/* With fewer samples intervals are not those of a normal distribution. */
#define LEAST_SAMPLES 100

/* How well something is known. */
enum knowledge { NOT_KNOWN, KNOWN_AT_LEAST, KNOWN };

enum verdict {
    VERDICT_TOO_FEW_SAMPLES,
    VERDICT_OPEN,              /* cannot tell: it may be fine or not */
    VERDICT_FINE,              /* little is wasted: look at serial performance */
    VERDICT_WASTE,             /* too much is, but it is not certain on what */
    VERDICT_TOO_LITTLE,        /* idleness is high, overhead is not known to be */
    VERDICT_TOO_FINE,          /* overhead is high, idleness is not known to be */
    VERDICT_OVERHEAD,          /* the same of a lower bound: no word about grain */
    VERDICT_WRONG_PARALLELISM, /* both are high: no grain will do, parallelize in another way */
    VERDICTS
};

/* The sides of HIGH_SHARE that a share can be on. */
enum side { SIDE_OPEN, SIDE_LOW, SIDE_HIGH };

/* Shares are of what is known: of a lower bound they are the bound's, of what is not known 0. */
struct judgement {
    enum verdict verdict;
    enum knowledge idleness_known, overhead_known;
    double effort;                   /* of the scope */
    struct share idleness, overhead; /* of the scope's effort */
    struct share waste;              /* both together */
    enum side idleness_side, overhead_side;
    struct share idleness_of_run, overhead_of_run; /* shares of the whole run's effort */
    struct share waste_of_run;
    double effort_of_run; /* the scope's effort in the whole run's */
    bool is_notable;      /* what is high is notable in the whole run, too */
    bool would_rate_help; /* more samples a second would make the intervals narrower */
};

struct judged {
    struct efforts scope, run;
    enum knowledge idleness, overhead;
    struct sampling sampling;
};

/* Judges a scope of a run. */
struct judgement judge(const struct judged *judged);

#endif
