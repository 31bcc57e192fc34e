/* waits: calls that a signal handler would end with EINTR, each with a second thread keeping the
 * CPU, so that samples arrive. Prints a line for every call that did not do what it does in an
 * unprofiled process; the exit status is their number. With an argument, the program's own SIGUSR1
 * must still interrupt them: then a call that was not interrupted is reported. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#define MS 60

static int expect_interrupts, failures;
static sem_t semaphore;
static pthread_t main_thread;
static volatile int waiting;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct timespec ms(long milliseconds)
{
    return (struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000};
}

static struct timespec in(clockid_t clock, long milliseconds)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += milliseconds * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int do_nanosleep(void)
{
    struct timespec t = ms(MS);
    return nanosleep(&t, NULL);
}
static int do_clock_nanosleep(void)
{
    struct timespec t = in(CLOCK_MONOTONIC, MS);
    return (errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)) ? -1 : 0;
}
static int do_usleep(void)
{
    return usleep(MS * 1000);
}
static int do_sleep(void)
{
    return sleep(1) ? -1 : 0;
}
static int do_poll(void)
{
    return poll(NULL, 0, MS);
}
static int do_ppoll(void)
{
    struct timespec t = ms(MS);
    sigset_t none;
    sigemptyset(&none);
    return ppoll(NULL, 0, &t, &none);
}
static int do_select(void)
{
    struct timeval t = {0, MS * 1000};
    return select(0, NULL, NULL, NULL, &t);
}
static int do_pselect(void)
{
    struct timespec t = ms(MS);
    return pselect(0, NULL, NULL, NULL, &t, NULL);
}
static int do_epoll_wait(void)
{
    int epoll = epoll_create1(0);
    struct epoll_event event;
    int result = epoll_wait(epoll, &event, 1, MS);
    int error = errno;
    close(epoll);
    errno = error;
    return result;
}
static int do_sem_timedwait(void)
{
    struct timespec t = in(CLOCK_REALTIME, MS);
    int result = sem_timedwait(&semaphore, &t);
    return result == -1 && errno == ETIMEDOUT ? 0 : result;
}
static int do_sigtimedwait(void)
{
    struct timespec t = ms(MS);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    int result = sigtimedwait(&set, NULL, &t);
    return result == -1 && errno == EAGAIN ? 0 : result;
}
static int do_semtimedop(void)
{
    int set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf operation = {0, -1, 0};
    struct timespec t = ms(MS);
    int result = semtimedop(set, &operation, 1, &t);
    int error = errno;
    semctl(set, 0, IPC_RMID);
    errno = error;
    return result == -1 && error == EAGAIN ? 0 : result;
}

static void on_usr1(int signal)
{
    (void)signal;
}

/* Samples of CPUTIME need a thread that runs; the interrupting signal needs one that sends it. */
static void *keep_busy(void *argument)
{
    volatile unsigned long n = 0;
    (void)argument;
    for (;;) {
        for (int i = 0; i < 1000000; i++)
            n++;
        if (expect_interrupts && waiting)
            pthread_kill(main_thread, SIGUSR1);
    }
    return NULL;
}

static void check(const char *name, int (*call)(void))
{
    double before = now(), wanted = call == do_sleep ? 1 : MS * 1e-3;
    errno = 0;
    waiting = 1;
    int result = call();
    int error = errno;
    waiting = 0;
    double took = now() - before;
    int interrupted = result == -1 && error == EINTR;
    int good = expect_interrupts ? interrupted : result == 0 && took > wanted * 0.95;
    if (!good) {
        printf("%s: result %d, %s, after %.3f s\n", name, result, strerror(error), took);
        failures++;
    }
}

int main(int count, char **arguments)
{
    (void)arguments;
    expect_interrupts = count > 1;
    main_thread = pthread_self();
    sem_init(&semaphore, 0, 0);
    struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, keep_busy, NULL);
    for (int round = 0; round < 5; round++) {
        check("nanosleep", do_nanosleep);
        check("clock_nanosleep", do_clock_nanosleep);
        check("usleep", do_usleep);
        check("poll", do_poll);
        check("ppoll", do_ppoll);
        check("select", do_select);
        check("pselect", do_pselect);
        check("epoll_wait", do_epoll_wait);
        check("sem_timedwait", do_sem_timedwait);
        check("sigtimedwait", do_sigtimedwait);
        check("semtimedop", do_semtimedop);
    }
    if (!expect_interrupts) /* an interrupted sleep(1) returns 0: less than a second is left */
        check("sleep", do_sleep);
    return failures;
}
