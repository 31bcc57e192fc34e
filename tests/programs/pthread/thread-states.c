/* thread-states SCENARIO THREADS ROUNDS [KIND-OF-LOCK]: threads that work and wait in one way, with
 * a ledger of the truth (state-ledger.h). */
#include "tests/programs/pthread/state-ledger.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static int threads, rounds;

/* ---- scenarios: each is run by every thread, numbered from 0 ---- */

/* A lock of some kind, which all threads want. */
pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static mtx_t queue_mtx;
static struct {
    int entries;
    pthread_rwlock_t lock;
} index_of_queue = {.lock = PTHREAD_RWLOCK_INITIALIZER};
static pthread_mutex_t *heap_lock;
static pthread_mutex_t priority_lock;
static pthread_spinlock_t spin_lock;

enum kind { BY_MUTEX, BY_MTX, BY_RWLOCK, BY_HEAP, BY_PRIORITY, BY_READERS, BY_ONE_READER, BY_SPINNING } kind;

/* Only an rwlock makes a difference between those that read and those that write. */
static void lock_it(bool reads)
{
    switch (kind) {
    case BY_MUTEX: pthread_mutex_lock(&queue_lock); break;
    case BY_MTX: mtx_lock(&queue_mtx); break;
    case BY_RWLOCK: pthread_rwlock_wrlock(&index_of_queue.lock); break;
    case BY_HEAP: pthread_mutex_lock(heap_lock); break;
    case BY_PRIORITY: pthread_mutex_lock(&priority_lock); break;
    case BY_READERS: (reads ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(&index_of_queue.lock); break;
    case BY_ONE_READER: (reads ? pthread_rwlock_wrlock : pthread_rwlock_rdlock)(&index_of_queue.lock); break;
    case BY_SPINNING: pthread_spin_lock(&spin_lock); break;
    }
}

static void unlock_it(void)
{
    switch (kind) {
    case BY_MUTEX: pthread_mutex_unlock(&queue_lock); break;
    case BY_MTX: mtx_unlock(&queue_mtx); break;
    case BY_READERS:
    case BY_ONE_READER:
    case BY_RWLOCK: pthread_rwlock_unlock(&index_of_queue.lock); break;
    case BY_HEAP: pthread_mutex_unlock(heap_lock); break;
    case BY_PRIORITY: pthread_mutex_unlock(&priority_lock); break;
    case BY_SPINNING: pthread_spin_unlock(&spin_lock); break;
    }
}

static void make_locks(void)
{
    pthread_mutexattr_t inherit;
    mtx_init(&queue_mtx, mtx_plain);
    heap_lock = malloc(sizeof *heap_lock);
    pthread_mutex_init(heap_lock, NULL);
    pthread_mutexattr_init(&inherit);
    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&priority_lock, &inherit);
    pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
}

enum { SITE_LONG, SITE_SHORT };

static double per_burn; /* turns of the loop for a microsecond */

static void turn_around(double turns)
{
    for (volatile double i = 0; i < turns; i += 1)
        ;
}

__attribute__((noinline)) static void hold_long(void)
{
    WAITING(0, lock_it(false));
    ledger_note(TAKE, 0, SITE_LONG);
    turn_around(12000 * per_burn);
    ledger_note(FREE, 0, -1);
    unlock_it();
}

__attribute__((noinline)) static void hold_short(void)
{
    WAITING(0, lock_it(true));
    ledger_note(TAKE, 0, SITE_SHORT);
    turn_around(3000 * per_burn);
    ledger_note(FREE, 0, -1);
    unlock_it();
}

/* One thread holds the lock four times as long as each of the others. */
static void convoy(int id)
{
    for (int i = 0; i < rounds; i++) {
        if (id == 0)
            hold_long();
        else
            hold_short();
        nap(50);
    }
}

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

static void table(int id)
{
    for (int i = 0; i < rounds; i++) {
        if (id == 0) {
            WAITING(0, pthread_rwlock_wrlock(&table_lock));
            ledger_note(TAKE, 0, SITE_LONG);
            nap(3000);
            ledger_note(FREE, 0, -1);
        } else {
            WAITING(0, pthread_rwlock_rdlock(&table_lock));
            nap(1000);
        }
        pthread_rwlock_unlock(&table_lock);
        nap(500);
    }
}

static pthread_mutex_t stage_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stage_changed = PTHREAD_COND_INITIALIZER;
static int items[LEDGER_THREADS]; /* waiting before each stage */

static void take_item(int stage)
{
    pthread_mutex_lock(&stage_lock);
    while (items[stage] == 0)
        WAITING(-1, pthread_cond_wait(&stage_changed, &stage_lock));
    items[stage]--;
    pthread_mutex_unlock(&stage_lock);
}

/* Each thread is a stage; the last one is the slowest. */
static void pipeline(int id)
{
    for (int i = 0; i < rounds; i++) {
        if (id > 0)
            take_item(id);
        nap(id == threads - 1 ? 3000 : 1000);
        pthread_mutex_lock(&stage_lock);
        items[id + 1]++;
        pthread_cond_broadcast(&stage_changed);
        pthread_mutex_unlock(&stage_lock);
    }
}

static sem_t permits, nobody;

static void semaphore(int id)
{
    (void)id;
    for (int i = 0; i < rounds; i++) {
        WAITING(-1, sem_wait(&permits));
        nap(2000);
        sem_post(&permits);
    }
}

static pthread_barrier_t all_here;

static void barrier(int id)
{
    for (int i = 0; i < rounds; i++) {
        nap(1000 * (unsigned)(id + 1));
        WAITING(-1, pthread_barrier_wait(&all_here));
    }
}

static void sleeps(int id)
{
    for (int i = 0; i < rounds; i++) {
        nap(2000);
        WAITING(-1, usleep(1000 * (unsigned)(id + 1)));
    }
}

static int turn;

/* One thread after the other, by bare futexes as C++20's atomic waits use them. */
static void turns(int id)
{
    for (int i = 0; i < rounds; i++) {
        int now;
        while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != i * threads + id)
            WAITING(-1, syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0));
        nap(1000);
        __atomic_fetch_add(&turn, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    }
}

static int relay_in[LEDGER_THREADS], relay_out[LEDGER_THREADS];

/* One thread after the other has the token: by pipes and by sockets. */
static void relay(int id)
{
    char token = 't';
    int next = (id + 1) % threads;
    for (int i = 0; i < rounds; i++) {
        if (id % 2)
            WAITING(-1, recv(relay_in[id], &token, 1, 0));
        else
            WAITING(-1, read(relay_in[id], &token, 1));
        nap(20000);
        if (write(relay_out[next], &token, 1) != 1)
            abort();
    }
}

static void make_relay(void)
{
    for (int id = 0; id < threads; id++) {
        int ends[2];
        if ((id % 2 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) != 0)
            abort();
        relay_in[id] = ends[0];
        relay_out[id] = ends[1];
    }
    if (write(relay_out[0], "t", 1) != 1)
        abort();
}

/* Threads that wait for a child each, which hpcrun does not measure. */
static void children(int id)
{
    for (int i = 0; i < rounds; i++) {
        nap(10000);
        pid_t child;
        __asm__ volatile("syscall" : "=a"(child) : "a"(SYS_fork) : "rcx", "r11", "memory");
        if (child == 0) {
            nap(10000 * (unsigned)(id + 1));
            __asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
        }
        WAITING(-1, waitpid(child, NULL, 0));
    }
}

/* Threads that work in the kernel together: calls that could wait, and do not. */
static void copies(int id)
{
    static char to[LEDGER_THREADS][65536];
    int zeros = open("/dev/zero", O_RDONLY);
    pthread_barrier_wait(&all_here);
    uint64_t end = ledger_cpu(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)rounds * 1000000;
    while (ledger_cpu(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 100; i++)
            if (read(zeros, to[id], sizeof to[id]) != sizeof to[id])
                abort();
    close(zeros);
}

static mtx_t c11_lock;
static cnd_t c11_changed;
static bool c11_open;

static void c11(int id)
{
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < rounds; i++) {
        nap(1000);
        WAITING(-1, thrd_sleep(&pause, NULL));
    }
    nap(20000 * (unsigned)id);
    mtx_lock(&c11_lock);
    c11_open |= id == threads - 1;
    cnd_broadcast(&c11_changed);
    while (!c11_open)
        WAITING(-1, cnd_wait(&c11_changed, &c11_lock));
    mtx_unlock(&c11_lock);
}

static pthread_mutex_t quiet_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void clean_up(void *unused)
{
    (void)unused;
    ledger_note(WORK, -1, -1);
    pthread_mutex_unlock(&quiet_lock);
    nap(300000);
    ledger_note(END, -1, -1);
}

/* The wait ends by a cancellation, whose handler works. */
static void cancel(int id)
{
    (void)id;
    pthread_mutex_lock(&quiet_lock);
    pthread_cleanup_push(clean_up, NULL);
    ledger_note(WAIT, -1, -1);
    for (;;)
        pthread_cond_wait(&never, &quiet_lock);
    pthread_cleanup_pop(0);
}

static sigjmp_buf after_wait;

static void on_alarm(int signal)
{
    (void)signal;
    siglongjmp(after_wait, 1);
}

/* The wait ends by a jump out of a signal handler. */
static void jump(int id)
{
    (void)id;
    signal(SIGUSR1, on_alarm);
    ledger_note(WAIT, -1, -1);
    if (sigsetjmp(after_wait, 1) == 0)
        for (;;)
            sem_wait(&nobody);
    ledger_note(WORK, -1, -1);
    nap(300000);
}

static const struct scenario {
    const char *name;
    void (*run)(int id);
} scenarios[] = {
    {"convoy", convoy},   {"table", table},   {"pipeline", pipeline}, {"semaphore", semaphore},
    {"barrier", barrier}, {"sleeps", sleeps}, {"turns", turns},       {"c11", c11},
    {"cancel", cancel},   {"jump", jump},     {"relay", relay},       {"children", children},
    {"copies", copies},
};

static const struct scenario *scenario;

static void *run(void *id)
{
    ledger_note(BEGIN, -1, -1);
    scenario->run((int)(intptr_t)id);
    ledger_note(END, -1, -1);
    return NULL;
}

static int run_c11(void *id)
{
    run(id);
    return 0;
}

static void run_all(bool by_c11)
{
    pthread_t thread[LEDGER_THREADS];
    thrd_t c11_thread[LEDGER_THREADS];
    for (int i = 0; i < threads; i++)
        if (by_c11)
            thrd_create(&c11_thread[i], run_c11, (void *)(intptr_t)i);
        else
            pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i);
    nap(50000);
    for (int i = 0; i < threads && scenario->run == cancel; i++)
        pthread_cancel(thread[i]);
    for (int i = 0; i < threads && scenario->run == jump; i++)
        pthread_kill(thread[i], SIGUSR1);
    for (int i = 0; i < threads; i++)
        if (by_c11)
            WAITING(-1, thrd_join(c11_thread[i], NULL));
        else
            WAITING(-1, pthread_join(thread[i], NULL));
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    kind = count > 4 ? (enum kind)atoi(arguments[4]) : BY_MUTEX;
    threads = atoi(arguments[2]);
    rounds = atoi(arguments[3]);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(arguments[1], scenarios[i].name) == 0)
            scenario = &scenarios[i];
    if (!scenario || threads < 1 || threads > LEDGER_THREADS - 2)
        return 2;
    ledger_note(BEGIN, -1, -1);
    make_locks();
    make_relay();
    uint64_t began = ledger_cpu(CLOCK_THREAD_CPUTIME_ID);
    turn_around(1e7);
    per_burn = 1e7 / ((double)(ledger_cpu(CLOCK_THREAD_CPUTIME_ID) - began) / 1000);
    sem_init(&permits, 0, 2);
    sem_init(&nobody, 0, 0);
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    mtx_init(&c11_lock, mtx_plain);
    cnd_init(&c11_changed);
    nap(20000); /* a serial phase */
    run_all(scenario->run == c11);
    ledger_note(END, -1, -1);
    ledger_print();
    return 0;
}
