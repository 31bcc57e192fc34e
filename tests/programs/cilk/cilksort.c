/* Mergesort with a parallel merge, after cilksort of the Cilk distribution: quarters are sorted in
 * parallel, then merged by splitting the larger half at its middle and the smaller one where that
 * value belongs. */
#include "driver.h"
#include "serial-sort.h"

CILK_PROC(merge, struct run x; struct run y; key * target; long i; long j;);

CILK_BODY(merge)
{
    CILK_BEGIN(merge);
    if (f->x.count < f->y.count) {
        const struct run shorter = f->x;
        f->x = f->y;
        f->y = shorter;
    }
    if (f->x.count + f->y.count <= MERGE_SERIALLY) {
        merge_serially(f->x, f->y, f->target);
        CILK_RETURN;
    }
    f->i = f->x.count / 2;
    f->j = count_less(f->y, f->x.keys[f->i]);
    CILK_SPAWN(merge, a->x = part(f->x, 0, f->i); a->y = part(f->y, 0, f->j);
               a->target = f->target);
    CILK_SPAWN(merge, a->x = part(f->x, f->i, f->x.count); a->y = part(f->y, f->j, f->y.count);
               a->target = f->target + f->i + f->j);
    CILK_END;
}

CILK_PROC(sort, struct run run; key * scratch; long quarter[5];);

CILK_BODY(sort)
{
    CILK_BEGIN(sort);
    if (f->run.count <= SORT_SERIALLY) {
        qsort(f->run.keys, (size_t)f->run.count, sizeof(key), compare);
        CILK_RETURN;
    }
    for (int i = 0; i <= 4; i++)
        f->quarter[i] = f->run.count * i / 4;
    CILK_SPAWN(sort, a->run = part(f->run, 0, f->quarter[1]); a->scratch = f->scratch);
    CILK_SPAWN(sort, a->run = part(f->run, f->quarter[1], f->quarter[2]);
               a->scratch = f->scratch + f->quarter[1]);
    CILK_SPAWN(sort, a->run = part(f->run, f->quarter[2], f->quarter[3]);
               a->scratch = f->scratch + f->quarter[2]);
    CILK_SPAWN(sort, a->run = part(f->run, f->quarter[3], f->quarter[4]);
               a->scratch = f->scratch + f->quarter[3]);
    CILK_SYNC();
    CILK_SPAWN(merge, a->x = part(f->run, 0, f->quarter[1]);
               a->y = part(f->run, f->quarter[1], f->quarter[2]); a->target = f->scratch);
    CILK_SPAWN(merge, a->x = part(f->run, f->quarter[2], f->quarter[3]);
               a->y = part(f->run, f->quarter[3], f->quarter[4]);
               a->target = f->scratch + f->quarter[2]);
    CILK_SYNC();
    CILK_SPAWN(merge, a->x = (struct run){f->scratch, f->quarter[2]};
               a->y = (struct run){f->scratch + f->quarter[2], f->run.count - f->quarter[2]};
               a->target = f->run.keys);
    CILK_END;
}

/* A permutation of 0..count-1. */
static void fill(struct run run)
{
    uint32_t state = 2463534242;
    for (long i = 0; i < run.count; i++) {
        const long j = driver_random(&state) % (i + 1);
        run.keys[i] = run.keys[j];
        run.keys[j] = (key)i;
    }
}

static bool is_sorted(struct run run)
{
    for (long i = 0; i < run.count; i++) {
        if (run.keys[i] != (key)i)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const long count = driver_start(argc, argv, 4000000, 1, INT32_MAX);
    struct run run = {driver_memory((size_t)count * sizeof(key)), count};
    key *scratch = driver_memory((size_t)count * sizeof(key));
    fill(run);
    CILK_RUN(sort, a->run = run; a->scratch = scratch);
    const bool right = is_sorted(run);
    free(scratch);
    free(run.keys);
    return driver_end("cilksort", count, right);
}
