/* What idleness and overhead say about a part of a parallel program: Table 1 of Tallent and
 * Mellor-Crummey, "Effective performance measurement and analysis of multithreaded applications"
 * (PPoPP 2009), with the uncertainty of samples. Numbers in, verdict out.
 *
 * A verdict says on which side of a threshold shares are. It is given only if the whole interval
 * (share-interval.h, 95 %) is on that side. A run whose true share is the threshold itself
 *
 *     is judged "below"          2.5 %
 *     is judged "cannot tell"   95   %
 *     is judged "above"          2.5 %
 *
 * of the time, so two runs contradict each other with less than 0.2 %. That is the worst case: if
 * the true share is 4 sigma from the threshold, 98 % of the runs get the same verdict. About 2
 * sigma from the threshold, some runs get the verdict and others "cannot tell". Every rule has such
 * a region between two verdicts.
 *
 * Nothing follows from what was not measured. From a lower bound follows only what a larger value
 * would not refute: overhead of at least 17 % is high; overhead of at least 0.1 % is not low, and
 * the grain of tasks is not judged. The same holds for what is left of both if others had the CPUs: a second for which a
 * worker wanted a CPU can have made all others wait for it later, idle or in the runtime, but for no longer than a second.
 *
 * Table 1 knows idleness only while some worker works. In very short regions, and between very near barriers, often
 * none does: all are in the runtime. Then the grain is too fine, whatever the idleness, which is a consequence. The
 * same holds where the runtime's own code takes several times as long as the program's. */
#ifndef VIEWER_JUDGEMENT_H
#define VIEWER_JUDGEMENT_H

#include "viewer-tui/advice/share-interval.h"

#include <stdbool.h>

/* If idleness and overhead together take less than this share of a scope's effort, they are fine:
 * the run can become 1.11 times as fast at most. The paper calls 1.6 % "very effective" and 11.6 %
 * "less effective". */
#define FINE_SHARE 0.10

/* If they take more, each of the two above this share is named as a cause. Half of FINE_SHARE, so
 * that at least one of them is above it. */
#define HIGH_SHARE (FINE_SHARE / 2)

/* From this share of the CPU time on, the runtime's code has so much more than the program's that the grain is too
 * fine, whatever the idleness. */
#define SHARE_OF_RUNTIME 0.75

/* Waste of less than this share of the whole run's effort is not worth a change. */
#define NOTABLE_SHARE_OF_RUN 0.01

/* With fewer samples the normal distribution does not hold. */
#define LEAST_SAMPLES 100

/* How well a number is known. */
enum knowledge { NOT_KNOWN, KNOWN_AT_LEAST, KNOWN };

enum verdict {
    VERDICT_TOO_FEW_SAMPLES,
    VERDICT_OPEN,              /* cannot tell: it may be fine or not */
    VERDICT_FINE,              /* little is wasted; the serial code comes next */
    VERDICT_BUSY,              /* idleness is not too much; overhead is not known, or only a lower bound */
    VERDICT_WASTE,             /* too much is wasted, but the samples do not tell on what */
    VERDICT_TOO_LITTLE,        /* idleness is high; overhead is not known to be */
    VERDICT_TOO_FINE,          /* overhead is high, idleness is not known to be; or see above */
    VERDICT_OVERHEAD,          /* the same from a lower bound, so the grain is not judged */
    VERDICT_WRONG_PARALLELISM, /* both are high: the grain cannot be right, parallelize differently
                                */
    VERDICTS
};

/* Where a share is, compared with HIGH_SHARE. */
enum side { SIDE_OPEN, SIDE_LOW, SIDE_HIGH };

/* Shares are those of what is known: of a lower bound, the bound's; 0 if not known. */
struct judgement {
    enum verdict verdict;
    enum knowledge idleness_known, overhead_known;
    bool is_disturbed;               /* others had the CPUs: the lower ends are what they cannot have caused */
    double effort;                   /* of the scope */
    struct share idleness, overhead; /* shares of the scope's effort */
    struct share waste;              /* of both together */
    enum side idleness_side, overhead_side;
    struct share idleness_of_run; /* as a share of the whole run's effort */
    struct share saved;           /* the same of what the verdict is about; 0 if there are too few samples */
    struct share nobody;     /* share of the time in which no worker worked */
    bool is_nobody_high;
    struct share of_runtime; /* share of the CPU time that is the runtime's: what others do does not change it */
    bool is_mostly_runtime;
    double effort_of_run; /* share of the scope's effort in that of the whole run */
    bool is_notable;      /* what is high is worth a change */
};

struct judged {
    struct efforts scope, run;
    enum knowledge idleness, overhead;
    struct sampling sampling;
    double disturbed; /* for how long workers wanted a CPU and others had it, at most, if that was notable; else 0 */
    double nobody; /* time in which no worker worked, in samples of one of them, in the unit of the efforts; 0: unknown,
                      or the scope is a part of the run */
};

/* Judges a scope of a run. */
struct judgement judge(const struct judged *judged);

#endif
