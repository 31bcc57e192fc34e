/* Grains: activations that are executed as one strand each. The runtime reports nothing of what a
 * grain and its descendants do.
 *
 * WHY. Measuring adds tens of nanoseconds to a strand, some of which nobody can tell from the strand
 * (strand-clock.h), and reporting a spawn takes more than 100 ns. Where strands are as short, most of a
 * measurement would be the instrument. But a steal takes microseconds: what happens in a subtree of as
 * little work matters to no scheduler.
 *
 * METHOD. Activations of one procedure with the same parent context and the same depth of spawns are
 * a *class*. The first ones of a class are observed, and one in OBSERVED_ONE_IN at random later. The
 * others are grains, if
 *
 *     - their mean work is at most GRAIN_NS,
 *     - the class has spawned something, and its activations and all that they spawn are in one
 *       context, as in recursion: the grain's time is then that context's,
 *     - activations of far more work than that are rare.
 *
 * The work of a grain is measured. Its span is estimated: by the line that fits the spans and the work
 * of those activations of its class that were observed.
 *
 * TRIALS. Chance decides which activations are observed, so these would take as long as grains if
 * measuring were free. The difference, divided by the number of their strands, is what measuring adds
 * to a strand, in this program, on this machine and beside these workers.
 *
 * Each worker learns its own classes: nothing is shared. Normal context. */
#ifndef HPCRUN_SPAN_GRAINS_H
#define HPCRUN_SPAN_GRAINS_H

#include "hpcrun/span/critical-path.h"

#define GRAIN_NS        30000u
#define OBSERVED_FIRST  16u
#define OBSERVED_ONE_IN 16u

/* Of a worker. With more, the rarest are forgotten; so are those that are no longer used. */
#define GRAIN_CLASSES 256u

/* What an activation, with all that it has spawned, contributes. */
struct grain_lengths {
    uint64_t work, strands, spawns;
    struct {
        uint64_t length, strands;
    } path[KINDS];
};

/* Activations that chance has chosen; sums over them. */
struct grain_group {
    double count, work, squares, strands;
};

struct grain_class {
    uint64_t key;                /* 0: free */
    uint64_t last_lookup;        /* its number */
    uint64_t count, work, large; /* all activations; the work of large ones */
    bool is_mixed;               /* some are in several contexts */
    struct {
        double count, spawns, work, squares; /* sums; without what measuring adds */
        double path[KINDS], products[KINDS]; /* of path and work */
    } observed;
    struct grain_group trials, grains;
};

/* Zeroed memory has no classes. */
struct grain_classes {
    struct grain_class at[GRAIN_CLASSES];
    uint64_t lookups, random;
    uint64_t ended; /* grains */
    double excess;  /* what measuring adds to a strand, as known so far */
};

enum grain_choice { GRAIN_NO, GRAIN_TRIAL, GRAIN_YES };

/* The class of a procedure that is spawned from a context. It is valid until the next call. */
struct grain_class *grain_class_of(struct grain_classes *classes, uint32_t parent, uint64_t code,
                                   uint32_t depth);

/* What the next activation of the class is. A trial is observed by chance. */
enum grain_choice grain_choose(struct grain_classes *classes, const struct grain_class *class);

/* An observed activation of the class has ended. */
void grain_observed(const struct grain_classes *classes, struct grain_class *class,
                    const struct grain_lengths *lengths, bool is_mixed, bool is_trial);

/* A grain of the class has ended. */
void grain_ended(struct grain_classes *classes, struct grain_class *class, uint64_t work);

/* What a grain of this work contributes, or a part of one that was stolen. */
struct grain_lengths grain_lengths_of(const struct grain_classes *classes,
                                      const struct grain_class *class, uint64_t work,
                                      bool is_part);

/* ---- what measuring adds to a strand ---- */

/* In the unit of strand-clock.h. */
struct strand_excess {
    double mean, error; /* the mean is right within the error */
};

/* What each class says of the mean counts by how exactly the class knows it. Zeroed memory is the
 * empty sum. */
struct grain_trials {
    double classes, weight, sum, squares; /* number; of 1 / variance, of means, of their squares */
};

void grain_trials_add(struct grain_trials *trials, const struct grain_classes *classes);

/* Without trials: what was found in other programs. */
struct strand_excess grain_excess(const struct grain_trials *trials);

#endif
