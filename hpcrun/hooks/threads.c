/* Hooks on thread creation and end: pthread_create, thrd_create. A new thread starts in a function
 * of ours that adopts it; it ends in a destructor of thread-specific data, which runs however the
 * thread ends (return, pthread_exit, cancellation, thrd_exit), in the last round of destructors. */
#include "hpcrun/hooks/threads.h"

#include "hpcrun/hooks/real.h"
#include "hpcrun/life/thread-life.h"
#include "hpcrun/logical/agents.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/creation.h"
#include "hpcrun/thread/threads.h"

#include <limits.h>
#include <pthread.h>
#include <threads.h>

REAL_FUNCTION(pthread_create)
REAL_FUNCTION(thrd_create)

static pthread_key_t end_key;
static bool have_end_key;
static __thread unsigned destructor_rounds;

/* Later rounds run destructors of data that earlier ones set: stay for them all. */
static void on_thread_end(void *value)
{
    if (++destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(end_key, value);
    else if (process.active)
        thread_leave();
}

void hook_threads_init(void)
{
    have_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
}

/* What the start function needs lives in the thread's record. */
struct start {
    void *(*function)(void *);
    int (*c11_function)(void *);
    void *argument;
    size_t stack_size;
};

_Static_assert(sizeof(struct start) <= sizeof(((struct thread *)0)->start), "room for a start");

/* The thread's stack ends where its control block begins; glibc puts that block at the top of the
 * stack's memory, below it the static TLS and the frames of the thread's start. */
static void adopt(struct thread *thread, size_t stack_size, uint64_t function, uint64_t argument)
{
    uint64_t frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    uint64_t high = (uint64_t)(uintptr_t)__builtin_thread_pointer();
    uint64_t low = high - stack_size + 4 * 4096;
    bool known = frame > low && frame < high;
    thread->origin = (struct agent_origin){function, argument};
    thread_adopt(thread, known ? low : 0, known ? high : 0);
    if (have_end_key)
        pthread_setspecific(end_key, thread);
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
    if (!process.active || !process_is_ours())
        return NULL;
    agents_look();
    pthread_attr_t by_default;
    if (!attributes && pthread_attr_init(&by_default) == 0)
        attributes = &by_default;
    pthread_attr_getstacksize(attributes, &start.stack_size);
    struct thread *thread = thread_new(kind);
    if (!thread)
        return NULL;
    *(struct start *)thread->start = start;
    creation_note(thread);
    return thread;
}

HOOK int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *),
                        void *argument)
{
    struct start start = {.function = function, .argument = argument};
    struct thread *thread = prepare(THREAD_PTHREAD, start, attributes);
    if (!thread)
        return REAL(pthread_create)(id, attributes, function, argument);
    int result = REAL(pthread_create)(id, attributes, run_pthread, thread);
    if (result != 0)
        thread_discard(thread);
    return result;
}

HOOK int thrd_create(thrd_t *id, thrd_start_t function, void *argument)
{
    struct start start = {.c11_function = function, .argument = argument};
    struct thread *thread = prepare(THREAD_C11, start, NULL);
    if (!thread)
        return REAL(thrd_create)(id, function, argument);
    int result = REAL(thrd_create)(id, run_c11, thread);
    if (result != thrd_success)
        thread_discard(thread);
    return result;
}
