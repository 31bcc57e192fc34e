/* The lock for which threads wait longest, who keeps it, and where they wait for it. */
#ifndef VIEWER_LOCK_FACTS_H
#define VIEWER_LOCK_FACTS_H

#include "viewer-tui/advice/hotspots.h"
#include "viewer-tui/advice/share-interval.h"
#include "viewer-tui/advice/time-places.h"

struct lock_facts {
    char name[NAME_SIZE]; /* "queue_lock"; "" if no lock has a name */
    double share;         /* of the waiting for all locks; 0: no waiting is worth a word */
    struct share seconds; /* for all locks, summed over the threads that wait */
    double without_cpu;   /* further seconds, in which the holders had no CPU */
    bool is_lower_bound;
    bool is_much; /* it may be what limits the program */
    const char *remedy; /* what a program can do about it; NULL: it is a lock of the program */
    struct hotspot kept; /* where a thread keeps it for long; cost 0: nowhere */
    struct time_places waits; /* where threads wait for these locks */
};

/* What the facts follow from. */
struct lock_times {
    const struct time_places *held; /* the waiting, by the places of those who have the locks */
    struct time_places *waits;      /* by those of the threads that wait; taken */
    const char *event;              /* " (REALTIME)" */
    double wall;                    /* seconds of the run; 0: unknown */
    double largest;                 /* seconds that a sample may stand for */
};

/* All but `without_cpu` and `is_lower_bound`. The caller frees `waits`. */
struct lock_facts lock_facts_of(const struct view *view, const struct lock_times *times);

/* If the lock is that of critical sections of OpenMP, or of ordered blocks: the one of these, by its line, in which
 * others were kept waiting longest. `metric`: the waiting, by holders. cost 0: there is none. */
struct hotspot lock_facts_section(const struct lock_facts *lock, const struct view *view, size_t metric);

/* Whether threads wait at a place for these locks. */
bool lock_facts_wait_at(const struct lock_facts *lock, const struct time_place *place);

#endif
