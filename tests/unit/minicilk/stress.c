/* usage: stress WORKERS STEALS [observed]
 *
 * Runs random computations, one after another, until at least STEALS continuations have been
 * stolen, and compares the result of each with a serial computation. Prints counts; status 1 if
 * anything was wrong. It is built in several ways: with sanitizers, with random yields in the
 * runtime, with checks of every frame. With `observed`, an observer wants to know nothing of a third of
 * the procedures, and checks that it is told everything else, in an order that is possible. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <minicilk.h>

/* A node of a random tree; its seed determines what it does. */
struct node {
    uint64_t seed;
    int depth;
};

enum { MOST_CHILDREN = 5 };

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static int children_of(struct node node)
{
    return node.depth == 0 ? 0 : (int)(mix(node.seed) % (MOST_CHILDREN + 1));
}

static struct node child_of(struct node node, int number)
{
    return (struct node){mix(node.seed + (uint64_t)number + 1), node.depth - 1};
}

/* Some nodes sync between their children, some at the end, some only by their return. */
static bool syncs_behind(struct node node, int number)
{
    return mix(node.seed ^ (uint64_t)number) % 3 == 0;
}

static uint64_t own_work(struct node node)
{
    uint64_t x = node.seed;
    for (uint64_t i = mix(node.seed) % 64; i > 0; i--)
        x = mix(x);
    return x;
}

static uint64_t sum_serially(struct node node)
{
    uint64_t sum = own_work(node);
    for (int i = 0; i < children_of(node); i++)
        sum += sum_serially(child_of(node, i)) * (uint64_t)(i + 1);
    return sum;
}

static _Atomic uint64_t steals;

/* The continuation of a spawn runs on another worker only if it was stolen. */
static void count_steal(const struct minicilk_worker *before, const struct minicilk_worker *after)
{
    if (before != after)
        atomic_fetch_add_explicit(&steals, 1, memory_order_relaxed);
}

CILK_STATIC_PROC(sum_in_large_frame, struct node node; uint64_t * sum; uint64_t part;
                 char ballast[3000];);

CILK_STATIC_PROC(sum, struct node node; uint64_t * sum; int i; const struct minicilk_worker *before;
                 uint64_t parts[MOST_CHILDREN];);

CILK_BODY(sum)
{
    CILK_BEGIN(sum);
    for (f->i = 0; f->i < children_of(f->node); f->i++) {
        f->before = minicilk_worker;
        if (mix(f->node.seed + 77) % 16 == 0) {
            CILK_SPAWN(sum_in_large_frame, a->node = child_of(f->node, f->i);
                       a->sum = &f->parts[f->i]);
        } else {
            CILK_SPAWN(sum, a->node = child_of(f->node, f->i); a->sum = &f->parts[f->i]);
        }
        count_steal(f->before, minicilk_worker);
        if (syncs_behind(f->node, f->i))
            CILK_SYNC();
    }
    CILK_SYNC();
    *f->sum = own_work(f->node);
    for (int i = 0; i < f->i; i++)
        *f->sum += f->parts[i] * (uint64_t)(i + 1);
    CILK_END;
}

/* Returns without a sync: the return waits. */
CILK_BODY(sum_in_large_frame)
{
    CILK_BEGIN(sum_in_large_frame);
    f->ballast[sizeof f->ballast - 1] = 1;
    f->part = 0;
    CILK_SPAWN(sum, a->node = f->node; a->sum = f->sum);
    f->part += 1;
    CILK_END;
}

static void add_square(long begin, long end, void *data)
{
    for (long i = begin; i < end; i++)
        atomic_fetch_add_explicit((_Atomic long *)data, i * i, memory_order_relaxed);
}

CILK_STATIC_PROC(loop, long count; _Atomic long *sum;);

CILK_BODY(loop)
{
    CILK_BEGIN(loop);
    CILK_FOR(0, f->count, 1 + f->count % 7, add_square, (void *)f->sum);
    CILK_END;
}

static bool tree_is_right(uint64_t seed)
{
    const struct node root = {mix(seed), 10};
    uint64_t result = 0;
    CILK_RUN(sum, a->node = root; a->sum = &result);
    if (result == sum_serially(root))
        return true;
    printf("tree %lu: wrong sum\n", (unsigned long)seed);
    return false;
}

static bool loop_is_right(long n)
{
    _Atomic long sum = 0;
    CILK_RUN(loop, a->count = n; a->sum = &sum);
    if (sum == (n - 1) * n * (2 * n - 1) / 6)
        return true;
    printf("loop of %ld: wrong sum\n", n);
    return false;
}

/* Memory of frames is bounded by the frames in use at once: it must not grow with the steals. */
static bool memory_is_bounded(int workers)
{
    const size_t used = mallinfo2().uordblks, bound = (size_t)(workers + 8) * 128 * 1024;
    if (used <= bound)
        return true;
    printf("%zu bytes are in use, more than %zu\n", used, bound);
    return false;
}

/* ---- the observer ---- */

/* What a worker executes, as told to the observer. */
static struct observed {
    _Alignas(64) bool has_base;
    int depth; /* procedures above the base */
    int grain; /* depth of the one of which the observer wants to know nothing; 0: none */
    uint64_t random;
} observed[MINICILK_MAX_WORKERS];

static atomic_bool is_wrong;
static _Atomic uint64_t grains, told_steals;

static void check(const char *event, unsigned worker, bool is_right)
{
    if (!is_right && !atomic_exchange(&is_wrong, true))
        printf("worker %u: %s: depth %d, grain %d\n", worker, event, observed[worker].depth,
               observed[worker].grain);
}

static void run_begins(unsigned worker, const struct minicilk_frame *root)
{
    check("run begins", worker, root != NULL);
}

static void run_ended(unsigned worker)
{
    check("run ended", worker, !observed[worker].has_base);
}

static void resumed(unsigned worker, const struct minicilk_frame *frame)
{
    struct observed *of = &observed[worker];
    check("resumed", worker, frame != NULL && !of->has_base);
    *of = (struct observed){.has_base = true, .random = of->random};
}

static void paused(unsigned worker)
{
    const struct observed *of = &observed[worker];
    check("paused", worker, of->has_base && (of->grain == 0 || of->grain == of->depth));
}

static bool spawned(unsigned worker, const struct minicilk_frame *child)
{
    struct observed *of = &observed[worker];
    check("spawned", worker, of->has_base && of->grain == 0 && child->body != NULL);
    of->depth++;
    of->random = mix(of->random + worker);
    if (of->random % 3 > 0)
        return false;
    of->grain = of->depth;
    atomic_fetch_add_explicit(&grains, 1, memory_order_relaxed);
    return true;
}

static void returned(unsigned worker)
{
    struct observed *of = &observed[worker];
    check("returned", worker,
          of->has_base && of->depth > 0 && (of->grain == 0 || of->grain == of->depth));
    of->depth--;
    of->grain = 0;
}

static void orphaned(unsigned worker)
{
    struct observed *of = &observed[worker];
    check("orphaned", worker, of->has_base && of->depth > 0);
    of->has_base = false;
}

static void synced(unsigned worker)
{
    check("synced", worker, observed[worker].has_base && observed[worker].grain == 0);
}

/* The base waits, or ends. */
static void left(unsigned worker, const struct minicilk_frame *base)
{
    struct observed *of = &observed[worker];
    check("left", worker, base != NULL && of->has_base && of->depth == 0 && of->grain == 0);
    of->has_base = false;
}

static void stolen(unsigned victim, const struct minicilk_frame *frame)
{
    check("stolen", victim, frame != NULL);
    atomic_fetch_add_explicit(&told_steals, 1, memory_order_relaxed);
}

static void observe(void)
{
    static const struct minicilk_observer observer = {.run_begins = run_begins,
                                                      .run_ended = run_ended,
                                                      .resumed = resumed,
                                                      .paused = paused,
                                                      .spawned = spawned,
                                                      .returned = returned,
                                                      .orphaned = orphaned,
                                                      .synced = synced,
                                                      .suspended = left,
                                                      .ended = left,
                                                      .stolen = stolen};
    struct minicilk_live *live = (struct minicilk_live *)(uintptr_t)minicilk_introspection.live;
    atomic_store(&live->observer, &observer);
}

static bool observer_is_content(void)
{
    if (atomic_load(&told_steals) >= atomic_load(&steals) && atomic_load(&grains) > 0)
        return !atomic_load(&is_wrong);
    printf("%lu steals were told, %lu grains\n", (unsigned long)atomic_load(&told_steals),
           (unsigned long)atomic_load(&grains));
    return false;
}

int main(int argc, char **argv)
{
    const bool is_observed = argc == 4 && strcmp(argv[3], "observed") == 0;
    if (argc != 3 && !is_observed) {
        fprintf(stderr, "usage: stress WORKERS STEALS [observed]\n");
        return 2;
    }
    if (is_observed)
        observe();
    const int workers = atoi(argv[1]);
    const uint64_t target = strtoull(argv[2], NULL, 10);
    uint64_t computations = 0;
    bool right = true;
    /* One worker can't steal: it computes a few trees. */
    while (right && (computations < 20 || (workers > 1 && atomic_load(&steals) < target))) {
        if (minicilk_workers() == 0 && minicilk_init(workers) != 0)
            return 1;
        right = tree_is_right(computations) && loop_is_right((long)(computations % 500)) &&
                memory_is_bounded(workers) && !atomic_load(&is_wrong);
        if (++computations % 50 == 0)
            minicilk_shutdown();
    }
    if (minicilk_workers() > 0)
        minicilk_shutdown();
    if (is_observed)
        right = observer_is_content() && right;
    const uint32_t working = atomic_load(&minicilk_introspection.live->n_w);
    if (working != 0)
        printf("%u workers are said to work\n", working);
    printf("%s: %d workers, %lu computations, %lu steals\n", right ? "right" : "WRONG", workers,
           (unsigned long)computations, (unsigned long)atomic_load(&steals));
    return right && working == 0 ? 0 : 1;
}
