/* deadlock: two threads of a child process take two locks in opposite orders and wait forever; the
 * parent waits for the child. The stress tests' watchdog must find it. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold_one;

__attribute__((noinline)) static void take_second(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

static void *left_then_right(void *unused)
{
    pthread_mutex_lock(&left);
    pthread_barrier_wait(&both_hold_one);
    take_second(&right);
    pthread_mutex_unlock(&left);
    return unused;
}

static void *right_then_left(void *unused)
{
    pthread_mutex_lock(&right);
    pthread_barrier_wait(&both_hold_one);
    take_second(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void)
{
    pthread_t other;
    pid_t child = fork();
    if (child != 0)
        return waitpid(child, NULL, 0) != child;
    setsid(); /* leaves its parent's session; the watchdog must find it nevertheless */
    pthread_barrier_init(&both_hold_one, NULL, 2);
    pthread_create(&other, NULL, right_then_left, NULL);
    left_then_right(NULL);
    pthread_join(other, NULL);
    return 0;
}
