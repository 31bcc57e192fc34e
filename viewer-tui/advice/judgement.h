/* What idleness and overhead say of a part of a parallel program: Table 1 of Tallent and
 * Mellor-Crummey, "Effective performance measurement and analysis of multithreaded applications"
 * (PPoPP 2009). Numbers in, verdict out. */
#ifndef VIEWER_JUDGEMENT_H
#define VIEWER_JUDGEMENT_H

#include <stdbool.h>

/* From this share of a scope's effort on idleness, or overhead, is high. Who gets rid of a
 * twentieth of the effort gains 5 % at most: less is seldom worth a change of the parallelization.
 * The paper calls 1.6 % "very effective" and 11.6 % "less effective". */
#define HIGH_SHARE 0.05

/* What wastes less than that share of the whole run's effort is not worth a change, however bad it
 * looks by itself. */
#define NOTABLE_SHARE_OF_RUN 0.01

/* Of fewer samples nothing is said: of so many, a share of HIGH_SHARE is known to 2.2 points (one
 * standard deviation, the square root of p (1 - p) / n). */
#define LEAST_SAMPLES 100

/* Of a scope, or of the whole run. */
struct efforts {
    double work, overhead, idleness; /* in the metric's unit */
};

enum verdict {
    VERDICT_TOO_FEW_SAMPLES,
    VERDICT_EFFECTIVE,         /* both low: look at serial performance */
    VERDICT_TOO_LITTLE,        /* idleness high: refine the grain of concurrency */
    VERDICT_TOO_FINE,          /* overhead high: coarsen it */
    VERDICT_WRONG_PARALLELISM, /* both high: no grain will do, parallelize in another way */
    VERDICT_OVERHEAD_UNKNOWN,  /* overhead is only a lower bound: no grain can be named */
    VERDICTS
};

/* Shares are 0..1, 0 where there is no effort. */
struct judgement {
    enum verdict verdict;
    double effort;                           /* of the scope */
    double idleness, overhead;               /* their shares of the scope's effort */
    double idleness_of_run, overhead_of_run; /* their shares of the whole run's */
    double effort_of_run;                    /* of the scope's effort in the whole run's */
    bool is_notable;                         /* what is high is notable in the whole run, too */
};

/* Judges a scope of a run. `period` is what a sample stands for, in the unit of the efforts, and
 * tells how many samples the numbers rest on; 0 when that is not known. */
struct judgement judge(const struct efforts *scope, const struct efforts *run, double period);

/* Whether one of the judgement's shares is high; none is where there are too few samples. */
bool judgement_is_high(const struct judgement *judgement, double share);

#endif
