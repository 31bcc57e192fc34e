/* hidden_threads KIND MS: uses MS milliseconds of CPU time in a thread that the program did not create
 * by pthread_create or thrd_create. KIND: `timer`, the thread of a SIGEV_THREAD timer; `clone`, a
 * thread created by the bare system call; `main`, the main thread, for comparison. Prints the time that
 * it used on purpose, in ns. */
#include "burn.h"

#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>

static uint64_t wanted, burned;
static sem_t done;

static void on_timer(union sigval value)
{
    (void)value;
    burned = burn(wanted);
    sem_post(&done);
}

static int burn_by_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD};
    struct itimerspec soon = {.it_value.tv_nsec = 1};
    timer_t timer;
    event.sigev_notify_function = on_timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &soon, NULL) != 0)
        return 1;
    while (sem_wait(&done) != 0)
        ;
    return 0;
}

/* Has the thread-specific data of the main thread, which waits: nothing here may use any. */
static int run_clone(void *argument)
{
    (void)argument;
    burned = burn(wanted);
    return 0;
}

static int burn_by_clone(void)
{
    static _Alignas(16) char stack[65536];
    static volatile int tid = 1;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_CHILD_CLEARTID;
    if (clone(run_clone, stack + sizeof stack, flags, NULL, NULL, NULL, &tid) < 0)
        return 1;
    while (tid)
        syscall(SYS_futex, &tid, FUTEX_WAIT, 1, NULL, NULL, 0);
    return 0;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    wanted = (uint64_t)(atof(arguments[2]) * 1e6);
    sem_init(&done, 0, 0);
    int status = 0;
    if (strcmp(arguments[1], "timer") == 0)
        status = burn_by_timer();
    else if (strcmp(arguments[1], "clone") == 0)
        status = burn_by_clone();
    else
        on_timer((union sigval){.sival_int = 0});
    printf("%lu\n", (unsigned long)burned);
    return status;
}
