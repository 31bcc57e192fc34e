/* Threads that pass work on by a lock, a condition, a barrier and a join: a program of known critical path.
 *
 *     relay MILLISECONDS [kill]       the length of a stage; kills itself at its end
 *
 *     main    prepare |      aside(1/2) |                       barrier | finish(1/2) join
 *     locker          | locked          | unlocks
 *     waiter          | wait for the lock         | after_lock  | signals
 *     signaled        | wait for the condition                  | signaled | barrier
 *     tail            | wait for the barrier                               | tail |
 *
 * All stages but those of a half are on the path. */
#include "tests/programs/hpcrun/burn.h"
#include "tests/programs/pthread/path-stages.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, ready_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready_condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static _Atomic int is_locked, is_ready;

ON_PATH(prepare)
ON_PATH(locked)
ON_PATH(after_lock)
ON_PATH(signaled)
ON_PATH(tail)
ASIDE(aside, 2)
ASIDE(finish, 2)

static void *locker(void *unused)
{
    pthread_mutex_lock(&lock);
    is_locked = 1;
    locked();
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    after_lock();
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&ready_lock);
    is_ready = 1;
    pthread_cond_signal(&ready_condition);
    pthread_mutex_unlock(&ready_lock);
    return unused;
}

static void *waits_for_signal(void *unused)
{
    pthread_mutex_lock(&ready_lock);
    while (!is_ready)
        pthread_cond_wait(&ready_condition, &ready_lock);
    pthread_mutex_unlock(&ready_lock);
    signaled();
    pthread_barrier_wait(&barrier);
    return unused;
}

static void *waits_at_barrier(void *unused)
{
    pthread_barrier_wait(&barrier);
    tail();
    return unused;
}

static pthread_t start(void *(*routine)(void *))
{
    pthread_t thread;
    errno = pthread_create(&thread, NULL, routine, NULL);
    if (errno) {
        perror("pthread_create");
        exit(1);
    }
    return thread;
}

int main(int argc, char **argv)
{
    read_length(argc, argv);
    pthread_barrier_init(&barrier, NULL, 3);
    prepare();
    pthread_t threads[4] = {start(locker)};
    while (!is_locked)
        ;
    threads[1] = start(waiter);
    threads[2] = start(waits_for_signal);
    threads[3] = start(waits_at_barrier);
    aside();
    pthread_barrier_wait(&barrier);
    finish();
    for (int i = 3; i >= 0; i--)
        pthread_join(threads[i], NULL);
    if (argc > 2) /* "kill" */
        kill(getpid(), SIGKILL);
    print_stages();
    return 0;
}
