/* The lock for which threads wait longest, who keeps it, and where they wait for it. */
#ifndef VIEWER_LOCK_FACTS_H
#define VIEWER_LOCK_FACTS_H

#include "viewer-tui/advice/facts.h"

/* Sets `lock`, `lock_waits` and, where the waiting is nothing to say, clears `held_in`. `held`, `waits`: the places of the
 * waiting for locks, by its holders and by who waits; takes the latter. */
void lock_facts_find(struct facts *facts, const struct time_places *held, struct time_places *waits);

#endif
