/* A library whose threads get their work as OpenBLAS's do in PyPI's wheels: its functions call each other directly,
 * not by way of the procedure linkage table, and exec_blas calls omp_in_parallel, if there is one. One thread of its
 * own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define INSIDE __attribute__((visibility("protected"), noinline))

int omp_in_parallel(void) __attribute__((weak));

struct queue {
    void (*routine)(void);
    struct queue *next;
};

static _Atomic(struct queue *) work;
static pthread_mutex_t one_caller = PTHREAD_MUTEX_INITIALIZER, sleeping = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

static void *thread_server(void *nothing)
{
    for (;;) {
        pthread_mutex_lock(&sleeping);
        while (!atomic_load(&work))
            pthread_cond_wait(&wake, &sleeping);
        pthread_mutex_unlock(&sleeping);
        atomic_load(&work)->routine();
        atomic_store(&work, NULL);
    }
    return nothing;
}

static void start(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_server, NULL);
}

INSIDE int exec_blas_async(long position, struct queue *queue);
INSIDE int exec_blas_async_wait(long count, struct queue *queue);
INSIDE int exec_blas(long count, struct queue *queue);

int exec_blas_async(long position, struct queue *queue)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    pthread_mutex_lock(&sleeping);
    atomic_store(&work, queue);
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&sleeping);
    return (int)position;
}

int exec_blas_async_wait(long count, struct queue *queue)
{
    while (queue && atomic_load(&work) == queue)
        ;
    return (int)count;
}

int exec_blas(long count, struct queue *queue)
{
    if (omp_in_parallel && count > 1 && omp_in_parallel() > 0)
        fputs("called in a parallel region of OpenMP\n", stderr);
    exec_blas_async(1, queue->next);
    queue->routine();
    exec_blas_async_wait(count - 1, queue->next);
    return 0;
}

static void burn(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    const long end = time.tv_sec * 1000000000 + time.tv_nsec + 5000000;
    while (time.tv_sec * 1000000000 + time.tv_nsec < end)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
}

INSIDE void sgemm_kernel(void), dgemm_kernel(void);

void sgemm_kernel(void)
{
    burn();
    __asm__ volatile("");
}

void dgemm_kernel(void)
{
    burn();
    __asm__ volatile("");
}

static void on_two_threads(void (*routine)(void))
{
    struct queue second = {routine, NULL}, first = {routine, &second};
    pthread_mutex_lock(&one_caller);
    exec_blas(2, &first);
    pthread_mutex_unlock(&one_caller);
}

void cblas_sgemm(void);
void dgetrf_(void);

void cblas_sgemm(void)
{
    on_two_threads(sgemm_kernel);
}

void dgetrf_(void)
{
    on_two_threads(dgemm_kernel);
}
