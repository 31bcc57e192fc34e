/* Joins that a thread has made of threads that it created, until they are written. */
#ifndef HPCRUN_THREAD_JOINS_H
#define HPCRUN_THREAD_JOINS_H

#include <stdbool.h>
#include <stdint.h>

/* The deepest frame that stayed live from the creation to the join. */
struct join {
    uint32_t thread; /* index of the joined thread */
    uint32_t node;   /* of the frame in the creation path, in the joining thread's tree */
    uint64_t ip;     /* where the frame waits for the join, as in cct.h */
    bool is_cut;     /* frames inside it were not compared */
};

#define JOINS_KEPT 64

struct joins {
    uint32_t count;
    struct join at[JOINS_KEPT];
};

#endif
