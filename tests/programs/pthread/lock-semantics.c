/* Prints what libc's locks and waits do in all their kinds: the same under hpcrun as without. Every
 * wait has contention, so that the wrappers' slow paths are used. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t static_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t early_lock = PTHREAD_MUTEX_INITIALIZER;

/* Before hpcrun's constructor may have run, and before main. */
__attribute__((constructor)) static void lock_early(void)
{
    pthread_mutex_lock(&early_lock);
    pthread_mutex_unlock(&early_lock);
}

static void say(const char *what, int result)
{
    printf("%s: %d, errno %d\n", what, result, errno);
}

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += ms * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* ---- a thread that holds a mutex until it is told to stop ---- */

struct holder {
    pthread_mutex_t *mutex;
    sem_t holds, may_stop;
    bool dies; /* without unlocking */
    pthread_t thread;
};

static void *hold(void *data)
{
    struct holder *holder = data;
    pthread_mutex_lock(holder->mutex);
    sem_post(&holder->holds);
    sem_wait(&holder->may_stop);
    if (!holder->dies)
        pthread_mutex_unlock(holder->mutex);
    return NULL;
}

static void begin_hold(struct holder *holder, pthread_mutex_t *mutex, bool dies)
{
    *holder = (struct holder){.mutex = mutex, .dies = dies};
    sem_init(&holder->holds, 0, 0);
    sem_init(&holder->may_stop, 0, 0);
    pthread_create(&holder->thread, NULL, hold, holder);
    sem_wait(&holder->holds);
}

static void end_hold(struct holder *holder)
{
    sem_post(&holder->may_stop);
    pthread_join(holder->thread, NULL);
}

static void *lock_and_unlock(void *mutex)
{
    int result = pthread_mutex_lock(mutex);
    if (result == EOWNERDEAD)
        pthread_mutex_consistent(mutex);
    pthread_mutex_unlock(mutex);
    return (void *)(long)result;
}

/* ---- kinds of mutexes ---- */

static void try_mutex(const char *name, pthread_mutex_t *mutex)
{
    struct holder holder;
    struct timespec soon;
    pthread_t waiter;
    void *result;
    puts(name);
    errno = 77;
    begin_hold(&holder, mutex, false);
    say("trylock", pthread_mutex_trylock(mutex));
    soon = in_ms(CLOCK_REALTIME, 5);
    say("timedlock", pthread_mutex_timedlock(mutex, &soon));
    soon = in_ms(CLOCK_MONOTONIC, 5);
    say("clocklock", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon));
    pthread_create(&waiter, NULL, lock_and_unlock, mutex);
    end_hold(&holder);
    pthread_join(waiter, &result);
    say("lock in the waiter", (int)(long)result);
    say("lock", pthread_mutex_lock(mutex));
    soon = in_ms(CLOCK_REALTIME, 5);
    say("lock again", pthread_mutex_timedlock(mutex, &soon));
    say("unlock", pthread_mutex_unlock(mutex));
}

static void make_mutex(pthread_mutex_t *mutex, int type, int protocol, int robust, int shared)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setpshared(&attributes, shared);
    pthread_mutex_init(mutex, &attributes);
}

static void try_kinds(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int i = 0; i < 16; i++) {
        pthread_mutex_t mutex;
        char name[64];
        int protocol = i & 4 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE;
        int robust = i & 8 ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED;
        snprintf(name, sizeof name, "-- type %d, protocol %d, robust %d", types[i % 4], protocol,
                 robust);
        make_mutex(&mutex, types[i % 4], protocol, robust, PTHREAD_PROCESS_PRIVATE);
        try_mutex(name, &mutex);
    }
}

static void try_robust(void)
{
    pthread_mutex_t mutex;
    struct holder holder;
    make_mutex(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST,
               PTHREAD_PROCESS_PRIVATE);
    begin_hold(&holder, &mutex, true);
    end_hold(&holder);
    say("owner died", pthread_mutex_lock(&mutex));
    say("unlock", pthread_mutex_unlock(&mutex));
    say("not recoverable", pthread_mutex_lock(&mutex));
}

/* ---- processes ---- */

static void try_processes(void)
{
    struct {
        pthread_mutex_t mutex;
        int value;
    } *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct holder holder;
    int status;
    make_mutex(&shared->mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED,
               PTHREAD_PROCESS_SHARED);
    pthread_mutex_lock(&shared->mutex);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&shared->mutex);
        shared->value *= 2;
        pthread_mutex_unlock(&shared->mutex);
        _exit(3);
    }
    usleep(20000);
    shared->value = 21;
    pthread_mutex_unlock(&shared->mutex);
    waitpid(child, &status, 0);
    say("shared between processes", shared->value);

    /* A fork while another thread holds a lock: it is locked in the child forever. */
    begin_hold(&holder, &static_lock, false);
    child = fork();
    if (child == 0) {
        struct timespec soon = in_ms(CLOCK_REALTIME, 5);
        _exit(pthread_mutex_timedlock(&static_lock, &soon) == ETIMEDOUT ? 5 : 6);
    }
    waitpid(child, &status, 0);
    say("fork with a lock held", WEXITSTATUS(status));
    end_hold(&holder);
}

/* ---- condition variables ---- */

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_set, cleaned_up;

static void clean_up(void *mutex)
{
    cleaned_up = true;
    say("locked during cancellation", pthread_mutex_trylock(mutex));
    pthread_mutex_unlock(mutex);
}

static void *wait_until_cancelled(void *entered)
{
    pthread_mutex_lock(&static_lock);
    pthread_cleanup_push(clean_up, &static_lock);
    sem_post(entered);
    for (;;)
        pthread_cond_wait(&changed, &static_lock);
    pthread_cleanup_pop(0);
}

/* The object is freed by whoever sees that it is done. */
struct task {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool is_done;
};

static void *finish(void *data)
{
    struct task *task = data;
    pthread_mutex_lock(&task->mutex);
    task->is_done = true;
    pthread_cond_signal(&task->done);
    pthread_mutex_unlock(&task->mutex);
    return NULL;
}

static void try_conditions(void)
{
    sem_t entered;
    pthread_t thread;
    void *result;
    sem_init(&entered, 0, 0);
    pthread_create(&thread, NULL, wait_until_cancelled, &entered);
    sem_wait(&entered);
    pthread_mutex_lock(&static_lock); /* it waits */
    pthread_mutex_unlock(&static_lock);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    say("cancelled", result == PTHREAD_CANCELED && cleaned_up);
    pthread_mutex_lock(&static_lock);
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    say("cond_timedwait", pthread_cond_timedwait(&changed, &static_lock, &soon));
    soon = in_ms(CLOCK_MONOTONIC, 5);
    say("cond_clockwait",
        pthread_cond_clockwait(&changed, &static_lock, CLOCK_MONOTONIC, &soon));
    pthread_mutex_unlock(&static_lock);
    for (int i = 0; i < 500; i++) {
        struct task *task = malloc(sizeof *task);
        *task = (struct task){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
        pthread_create(&thread, NULL, finish, task);
        pthread_mutex_lock(&task->mutex);
        while (!task->is_done)
            pthread_cond_wait(&task->done, &task->mutex);
        pthread_mutex_unlock(&task->mutex);
        pthread_join(thread, NULL);
        pthread_cond_destroy(&task->done);
        pthread_mutex_destroy(&task->mutex);
        free(task);
    }
    is_set = true;
}

/* ---- the rest ---- */

static void *read_lock(void *lock)
{
    int result = pthread_rwlock_rdlock(lock);
    pthread_rwlock_unlock(lock);
    return (void *)(long)result;
}

static void try_others(void)
{
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_t thread;
    void *result;
    sem_t semaphore;
    say("wrlock", pthread_rwlock_wrlock(&rwlock));
    say("rdlock of the writer", pthread_rwlock_rdlock(&rwlock));
    say("wrlock of the writer", pthread_rwlock_wrlock(&rwlock));
    struct timespec soon = in_ms(CLOCK_REALTIME, 5);
    say("timedrdlock", pthread_rwlock_timedrdlock(&rwlock, &soon));
    pthread_create(&thread, NULL, read_lock, &rwlock);
    usleep(5000);
    pthread_rwlock_unlock(&rwlock);
    pthread_join(thread, &result);
    say("rdlock of another thread", (int)(long)result);
    pthread_rwlock_rdlock(&rwlock);
    soon = in_ms(CLOCK_REALTIME, 5);
    say("timedwrlock", pthread_rwlock_timedwrlock(&rwlock, &soon));
    sem_init(&semaphore, 0, 0);
    errno = 77;
    soon = in_ms(CLOCK_REALTIME, 5);
    say("sem_timedwait", sem_timedwait(&semaphore, &soon));
    errno = 77;
    sem_post(&semaphore);
    say("sem_wait", sem_wait(&semaphore));
    mtx_t mtx;
    mtx_init(&mtx, mtx_timed | mtx_recursive);
    say("mtx", mtx_lock(&mtx) + mtx_lock(&mtx) * 10);
    pthread_spinlock_t spin;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    say("spin", pthread_spin_lock(&spin));
    say("spin again", pthread_spin_trylock(&spin));
}

int main(void)
{
    try_kinds();
    try_robust();
    try_processes();
    try_conditions();
    try_others();
    return is_set ? 0 : 1;
}
