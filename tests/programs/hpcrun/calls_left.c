/* calls_left: calls with a timeout that end in other ways than by their return: the thread is canceled, a
 * handler jumps out, or handlers interrupt each other in calls of their own. Prints a line for each kind. */
#include "burn.h"

#include <poll.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/select.h>

#define MS      1000000
#define FOREVER 600 /* seconds; longer than any test may take */

/* ---- cancellation ---- */

static void wait_in_poll(void)
{
    poll(NULL, 0, FOREVER * 1000);
}

static void wait_in_nanosleep(void)
{
    struct timespec time = {.tv_sec = FOREVER};
    nanosleep(&time, NULL);
}

static void wait_in_select(void)
{
    struct timeval time = {.tv_sec = FOREVER};
    select(0, NULL, NULL, NULL, &time);
}

static void wait_in_epoll(void)
{
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_wait(epoll, &event, 1, FOREVER * 1000);
}

static _Atomic int cleaned;

static void clean(void *argument)
{
    (void)argument;
    cleaned++;
}

static void *wait_to_be_canceled(void *wait)
{
    pthread_cleanup_push(clean, NULL);
    for (;;)
        ((void (*)(void))wait)();
    pthread_cleanup_pop(0);
}

static void pause_for(long ms)
{
    struct timespec time = {.tv_nsec = ms * MS};
    nanosleep(&time, NULL);
}

static void cancel_threads(const char *name, void (*wait)(void))
{
    enum { THREADS = 20 };
    int canceled = 0;
    cleaned = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, wait_to_be_canceled, (void *)wait);
        pause_for(1 + i % 5);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        canceled += result == PTHREAD_CANCELED;
    }
    printf("%s: %d canceled, %d cleaned up\n", name, canceled, cleaned);
}

/* ---- jumps out of handlers ---- */

static sigjmp_buf out;

static void jump(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void alarm_every(long first_ms, long then_ms)
{
    struct itimerspec times = {.it_value.tv_nsec = first_ms * MS,
                               .it_interval.tv_nsec = then_ms * MS};
    static timer_t timer;
    if (!timer)
        timer_create(CLOCK_MONOTONIC, NULL,
                     &timer); /* SIGALRM to the process, which has one thread */
    timer_settime(timer, 0, &times, NULL);
}

static bool is_early(long ms)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    poll(NULL, 0, (int)ms);
    return clock_ns(CLOCK_MONOTONIC) - begin < (uint64_t)ms * MS;
}

/* More often than calls can be left open. */
static void jump_out(void)
{
    enum { TIMES = 20 };
    volatile int jumps = 0, early = 0;
    signal(SIGALRM, jump);
    for (volatile int i = 0; i < TIMES; i++) {
        if (sigsetjmp(out, 1) == 0) {
            alarm_every(5, 0);
            poll(NULL, 0, FOREVER * 1000);
        } else {
            jumps++;
        }
    }
    for (int i = 0; i < 5; i++)
        early += is_early(20);
    printf("%d jumps, %d early\n", jumps, early);
}

/* ---- nested calls ---- */

static volatile sig_atomic_t depth, wrong;

static void wait_in_handler(int number)
{
    (void)number;
    if (depth == 4)
        return;
    depth++;
    if (poll(NULL, 0, 20) != 0 && errno != EINTR)
        wrong++;
    struct timespec time = {.tv_nsec = 20 * MS};
    if (nanosleep(&time, NULL) != 0 && errno != EINTR)
        wrong++;
    depth--;
}

static void nest(void)
{
    struct sigaction action = {.sa_handler = wait_in_handler, .sa_flags = SA_NODEFER};
    int ended = 0;
    sigaction(SIGALRM, &action, NULL);
    alarm_every(7, 7);
    for (int i = 0; i < 5; i++)
        ended += poll(NULL, 0, FOREVER * 1000) == -1 && errno == EINTR;
    alarm_every(0, 0);
    printf("%d ended by handlers, %d wrong\n", ended, (int)wrong);
}

int main(void)
{
    cancel_threads("poll", wait_in_poll);
    cancel_threads("nanosleep", wait_in_nanosleep);
    cancel_threads("select", wait_in_select);
    cancel_threads("epoll_wait", wait_in_epoll);
    jump_out();
    nest();
    return 0;
}
