/* lock-costs: the cost of locking and unlocking a free lock of libc (construct-cost.h). */
#include "tests/programs/bench/construct-cost.h"

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static sem_t semaphore;
static mtx_t mtx;

int main(void)
{
    enum { COUNT = 200000 };
    pthread_spin_init(&spinlock, 0);
    sem_init(&semaphore, 0, 1);
    mtx_init(&mtx, mtx_plain);
    COST("mutex", COUNT, (pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex)));
    COST("recursive", COUNT, (pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive)));
    COST("rwlock,read", COUNT, (pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock)));
    COST("rwlock,write", COUNT, (pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock)));
    COST("spinlock", COUNT, (pthread_spin_lock(&spinlock), pthread_spin_unlock(&spinlock)));
    COST("semaphore", COUNT, (sem_wait(&semaphore), sem_post(&semaphore)));
    COST("mtx", COUNT, (mtx_lock(&mtx), mtx_unlock(&mtx)));
    return 0;
}
