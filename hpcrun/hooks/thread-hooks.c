/* Hooks on thread creation, end, join and detach. A new thread starts in a function of ours. It
 * ends in a destructor of thread-specific data, which runs however the thread ends (return,
 * pthread_exit, cancellation, thrd_exit), in the last round of destructors. */
#include "hpcrun/hooks/hook-init.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/hooks/fork.h"
#include "hpcrun/life/thread-life.h"
#include "hpcrun/logical/agent-loader.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/creation.h"
#include "hpcrun/sample/span-tree.h"
#include "hpcrun/sample/wake-up-record.h"
#include "hpcrun/span/strand-clock.h"
#include "hpcrun/thread/joinable.h"
#include "hpcrun/thread/live-threads.h"

#include <limits.h>
#include <pthread.h>
#include <threads.h>

REAL_FUNCTION(pthread_create)
REAL_FUNCTION(thrd_create)
REAL_FUNCTION(pthread_join)
REAL_FUNCTION(pthread_tryjoin_np)
REAL_FUNCTION(pthread_timedjoin_np)
REAL_FUNCTION(pthread_clockjoin_np)
REAL_FUNCTION(thrd_join)
REAL_FUNCTION(pthread_detach)
REAL_FUNCTION(thrd_detach)

static pthread_key_t end_key;
static bool have_end_key;
static __thread unsigned destructor_rounds;

/* Waits for the last round, since each round runs destructors of data that earlier rounds have set.
 */
static void on_thread_end(void *value)
{
    if (++destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(end_key, value);
    else if (fork_is_measured())
        thread_leave();
}

void hook_threads_init(void)
{
    have_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
}

/* ---- work and span ---- */

/* To create and join threads is no strand's work: their number is that of the run's workers. */
static struct strand_pause pause_strand(void)
{
    return span_tree_is_on() ? strand_pause(true) : (struct strand_pause){0};
}

static void resume_strand(const struct strand_pause *pause)
{
    if (span_tree_is_on())
        strand_go_on(pause);
}

/* ---- creation ---- */

/* The data of our start function, in thread->start. */
struct start {
    void *(*function)(void *);
    int (*c11_function)(void *);
    void *argument;
    size_t stack_size;
};

_Static_assert(sizeof(struct start) <= sizeof(((struct thread *)0)->start), "room for a start");

/* Sets thread->start_ip to the ip of the start routine; 0 if its module can't be read. */
static void set_start_ip(struct thread *thread, uint64_t function)
{
    struct unwinder *u = &thread->unwinder;
    rule_cache_renew(u->cache, modules_generation());
    thread->start_ip = rule_cache_ask(&u->guard, rule_cache_ip, u->cache, function);
}

/* The thread's stack ends at its control block. glibc puts that at the top of the stack's memory,
 * and below it the static TLS and the frames of the thread's start. */
static void adopt(struct thread *thread, size_t stack_size, uint64_t function, uint64_t argument)
{
    uint64_t frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    uint64_t high = (uint64_t)(uintptr_t)__builtin_thread_pointer();
    uint64_t low = high - stack_size + 4 * 4096;
    bool known = frame > low && frame < high;
    thread->routine = (struct agent_start_routine){function, argument};
    set_start_ip(thread, function);
    thread_adopt(thread, known ? low : 0, known ? high : 0);
    if (have_end_key)
        pthread_setspecific(end_key, thread);
    joinable_begin(thread->joinable, (uint64_t)pthread_self(), thread->index);
}

static void *run_pthread(void *record)
{
    struct start start = *(struct start *)((struct thread *)record)->start;
    adopt(record, start.stack_size, (uint64_t)start.function, (uint64_t)start.argument);
    return start.function(start.argument);
}

static int run_c11(void *record)
{
    struct start start = *(struct start *)((struct thread *)record)->start;
    adopt(record, start.stack_size, (uint64_t)start.c11_function, (uint64_t)start.argument);
    return start.c11_function(start.argument);
}

static struct thread *prepare(enum thread_kind kind, struct start start,
                              const pthread_attr_t *attributes)
{
    if (!fork_is_measured())
        return NULL;
    agents_update();
    agents_expect_thread((uint64_t)start.function | (uint64_t)start.c11_function);
    pthread_attr_t by_default;
    if (!attributes && pthread_attr_init(&by_default) == 0)
        attributes = &by_default;
    int detached = PTHREAD_CREATE_JOINABLE;
    pthread_attr_getstacksize(attributes, &start.stack_size);
    pthread_attr_getdetachstate(attributes, &detached);
    struct thread *thread = thread_new(kind);
    if (!thread)
        return NULL;
    *(struct start *)thread->start = start;
    creation_record(thread, detached == PTHREAD_CREATE_JOINABLE);
    thread->created_wall = sys_clock(CLOCK_MONOTONIC);
    return thread;
}

/* After the real function; `thread` may already be another thread's record. */
static void created(struct thread *thread, struct joinable *joinable, bool success, const void *id)
{
    if (!success && joinable)
        joinable_cancel(joinable);
    if (!success)
        thread_discard(thread);
    else if (joinable)
        joinable_created(joinable, id);
}

static int create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *),
                  void *argument)
{
    struct start start = {.function = function, .argument = argument};
    struct thread *thread = prepare(THREAD_PTHREAD, start, attributes);
    if (!thread)
        return REAL(pthread_create)(id, attributes, function, argument);
    struct joinable *joinable = thread->joinable;
    int result = REAL(pthread_create)(id, attributes, run_pthread, thread);
    created(thread, joinable, result == 0, id);
    return result;
}

HOOK int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *),
                        void *argument)
{
    struct strand_pause pause = pause_strand();
    int result = create(id, attributes, function, argument);
    resume_strand(&pause);
    return result;
}

HOOK int thrd_create(thrd_t *id, thrd_start_t function, void *argument)
{
    struct start start = {.c11_function = function, .argument = argument};
    struct thread *thread = prepare(THREAD_C11, start, NULL);
    if (!thread)
        return REAL(thrd_create)(id, function, argument);
    struct joinable *joinable = thread->joinable;
    int result = REAL(thrd_create)(id, run_c11, thread);
    created(thread, joinable, result == thrd_success, id);
    return result;
}

static uint64_t serial_of(pthread_t id)
{
    bool known = fork_is_measured();
    return known ? joinable_await((uint64_t)id) : 0;
}

/* After a join that failed, the thread can still be joined. (A cancellation during the join skips
 * this.) `since`: when it began to wait, ticks_now(); 0: it does not wait. */
static int after_join(pthread_t id, uint64_t serial, uint64_t since, int result)
{
    struct joinable *joined = serial && result == 0 ? joinable_joined((uint64_t)id, serial) : NULL;
    if (joined) {
        if (since)
            wake_up_add(&(struct arena_wake_up){.ticks = ticks_now(), .began = since, .thread = joined->thread});
        creation_joined(joined);
        joinable_release(joined);
    }
    return result;
}

/* A join that waits. */
struct join {
    pthread_t id;
    uint64_t serial, since;
    struct strand_pause pause;
    struct wait wait;
};

/* Inlined, as wait_begin must be. */
__attribute__((always_inline)) static inline struct join join_begin(pthread_t id)
{
    uint64_t serial = serial_of(id);
    struct strand_pause pause = pause_strand();
    return (struct join){id, serial, ticks_now(), pause, wait_begin(own_slot, NULL, NULL)};
}

static int join_end(struct join *join, int result)
{
    wait_end(&join->wait);
    result = after_join(join->id, join->serial, join->since, result);
    resume_strand(&join->pause);
    return result;
}

HOOK int pthread_join(pthread_t id, void **value)
{
    struct join join = join_begin(id);
    return join_end(&join, REAL(pthread_join)(id, value));
}

HOOK int pthread_tryjoin_np(pthread_t id, void **value)
{
    uint64_t serial = serial_of(id);
    return after_join(id, serial, 0, REAL(pthread_tryjoin_np)(id, value));
}

HOOK int pthread_timedjoin_np(pthread_t id, void **value, const struct timespec *deadline)
{
    struct join join = join_begin(id);
    return join_end(&join, REAL(pthread_timedjoin_np)(id, value, deadline));
}

HOOK int pthread_clockjoin_np(pthread_t id, void **value, clockid_t clock,
                              const struct timespec *deadline)
{
    struct join join = join_begin(id);
    return join_end(&join, REAL(pthread_clockjoin_np)(id, value, clock, deadline));
}

_Static_assert(thrd_success == 0, "after_join takes results of both kinds");

HOOK int thrd_join(thrd_t id, int *value)
{
    struct join join = join_begin(id);
    return join_end(&join, REAL(thrd_join)(id, value));
}

/* Before the real function, since afterwards the id may be another thread's. */
HOOK int pthread_detach(pthread_t id)
{
    if (fork_is_measured())
        joinable_detach((uint64_t)id);
    return REAL(pthread_detach)(id);
}

HOOK int thrd_detach(thrd_t id)
{
    if (fork_is_measured())
        joinable_detach((uint64_t)id);
    return REAL(thrd_detach)(id);
}
