/* calls_waits: calls that wait for events, threads or time; see interrupted-calls.h. */
#include "interrupted-calls.h"

#include <aio.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>

static void prepare_pipe(void)
{
    must(pipe(fds));
}

static void put_byte(void)
{
    must(write(fds[1], "x", 1));
}

static int timeout_or(bool none)
{
    return none ? -1 : (int)wait_ms;
}

static long poll_for(bool none)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    return poll(&at, 1, timeout_or(none));
}

static long do_poll(void)
{
    return poll_for(true);
}

static long do_poll_in_time(void)
{
    return poll_for(false);
}

static long do_ppoll_in_time(void)
{
    struct timespec time = in_ms(wait_ms);
    sigset_t none;
    sigemptyset(&none);
    return ppoll(NULL, 0, &time, &none);
}

/* Linux's select leaves what is left. */
static long do_select_in_time(void)
{
    struct timespec time = in_ms(wait_ms);
    struct timeval left = {time.tv_sec, time.tv_nsec / 1000};
    int result = select(0, NULL, NULL, NULL, &left);
    bool some_left = left.tv_sec || left.tv_usec;
    return some_left == (result == -1) ? result : -2;
}

static long do_select(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fds[0], &set);
    return select(fds[0] + 1, &set, NULL, NULL, NULL);
}

static long do_pselect_in_time(void)
{
    struct timespec time = in_ms(wait_ms);
    return pselect(0, NULL, NULL, NULL, &time, NULL);
}

static void prepare_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    prepare_pipe();
    fds[2] = (int)must(epoll_create1(EPOLL_CLOEXEC));
    must(epoll_ctl(fds[2], EPOLL_CTL_ADD, fds[0], &event));
}

static long do_epoll_wait(void)
{
    struct epoll_event event;
    return epoll_wait(fds[2], &event, 1, -1);
}

static long do_epoll_wait_in_time(void)
{
    struct epoll_event event;
    return epoll_wait(fds[2], &event, 1, (int)wait_ms);
}

static long do_epoll_pwait2_in_time(void)
{
    struct epoll_event event;
    struct timespec time = in_ms(wait_ms);
    return epoll_pwait2(fds[2], &event, 1, &time, NULL);
}

/* Sleeps are to leave what is left. */
static long sleep_result(int error, const struct timespec *left)
{
    errno = error;
    bool some_left = left->tv_sec || left->tv_nsec;
    return some_left == (error == EINTR) ? (error ? -1 : 0) : -2;
}

static long do_nanosleep(void)
{
    struct timespec time = in_ms(wait_ms), left = {0};
    return sleep_result(nanosleep(&time, &left) == 0 ? 0 : errno, &left);
}

static long do_clock_nanosleep(void)
{
    struct timespec time = in_ms(wait_ms), left = {0};
    return sleep_result(clock_nanosleep(CLOCK_BOOTTIME, 0, &time, &left), &left);
}

static long do_clock_nanosleep_until(void)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    return errno ? -1 : 0;
}

static long do_thrd_sleep(void)
{
    struct timespec time = in_ms(wait_ms);
    return thrd_sleep(&time, NULL);
}

static long do_usleep(void)
{
    return usleep((useconds_t)wait_ms * 1000);
}

static long do_sleep(void)
{
    return sleep(1);
}

static sem_t semaphore;

static void prepare_semaphore(void)
{
    must(sem_init(&semaphore, 0, 0));
}

static void post(void)
{
    sem_post(&semaphore);
}

static long do_sem_wait(void)
{
    return sem_wait(&semaphore);
}

static long do_sem_timedwait(void)
{
    struct timespec time = at_ms(CLOCK_REALTIME, wait_ms);
    return sem_timedwait(&semaphore, &time);
}

static long do_sem_clockwait(void)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool signalled;

static long do_cond_wait(void)
{
    pthread_mutex_lock(&mutex);
    for (signalled = false; !signalled;)
        pthread_cond_wait(&condition, &mutex);
    return -pthread_mutex_unlock(&mutex);
}

static long do_cond_timedwait(void)
{
    struct timespec time = at_ms(CLOCK_REALTIME, wait_ms);
    pthread_mutex_lock(&mutex);
    errno = pthread_cond_timedwait(&condition, &mutex, &time);
    pthread_mutex_unlock(&mutex);
    return errno ? -1 : 0;
}

static void signal_condition(void)
{
    pthread_mutex_lock(&mutex);
    signalled = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static struct aiocb request;
static char byte;

static void prepare_aio(void)
{
    prepare_pipe();
    request = (struct aiocb){.aio_fildes = fds[0], .aio_buf = &byte, .aio_nbytes = 1};
    must(aio_read(&request));
}

static long suspend(const struct timespec *timeout)
{
    const struct aiocb *const requests[] = {&request};
    long result = aio_suspend(requests, 1, timeout);
    int error = errno;
    if (result != 0)
        put_byte(); /* lets the request end */
    while (aio_error(&request) == EINPROGRESS)
        sched_yield();
    errno = error;
    return result;
}

static long do_aio_suspend(void)
{
    return suspend(NULL);
}

static long do_aio_suspend_in_time(void)
{
    struct timespec time = in_ms(wait_ms);
    return suspend(&time);
}

/* libaio's function, where a library has it. */
int io_getevents(aio_context_t context, long least, long most, struct io_event *events,
                 struct timespec *timeout) __attribute__((weak));

static aio_context_t kernel_aio;

static void prepare_kernel_aio(void)
{
    kernel_aio = 0;
    must(syscall(SYS_io_setup, 1, &kernel_aio));
}

static long do_io_getevents(void)
{
    struct io_event event;
    struct timespec time = in_ms(wait_ms);
    long result;
    if (io_getevents) {
        result = io_getevents(kernel_aio, 1, 1, &event, &time);
        errno = result < 0 ? (int)-result : 0;
        result = result < 0 ? -1 : result;
    } else {
        result = syscall(SYS_io_getevents, kernel_aio, 1, 1, &event, &time);
    }
    int error = errno;
    syscall(SYS_io_destroy, kernel_aio);
    errno = error;
    return result;
}

static const struct call calls[] = {
    {"poll", prepare_pipe, do_poll, put_byte, 0, false},
    {"poll-in-time", prepare_pipe, do_poll_in_time, NULL, 0, true},
    {"ppoll-in-time", NULL, do_ppoll_in_time, NULL, 0, true},
    {"select", prepare_pipe, do_select, put_byte, 0, false},
    {"select-in-time", NULL, do_select_in_time, NULL, 0, true},
    {"pselect-in-time", NULL, do_pselect_in_time, NULL, 0, true},
    {"epoll_wait", prepare_epoll, do_epoll_wait, put_byte, 0, false},
    {"epoll_wait-in-time", prepare_epoll, do_epoll_wait_in_time, NULL, 0, true},
    {"epoll_pwait2-in-time", prepare_epoll, do_epoll_pwait2_in_time, NULL, 0, true},
    {"nanosleep", NULL, do_nanosleep, NULL, 0, true},
    {"clock_nanosleep", NULL, do_clock_nanosleep, NULL, 0, true},
    {"clock_nanosleep-until", NULL, do_clock_nanosleep_until, NULL, 0, true},
    {"thrd_sleep", NULL, do_thrd_sleep, NULL, 0, true},
    {"usleep", NULL, do_usleep, NULL, 0, true},
    {"sleep", NULL, do_sleep, NULL, SAMPLES, false},
    {"sem_wait", prepare_semaphore, do_sem_wait, post, 0, false},
    {"sem_timedwait", prepare_semaphore, do_sem_timedwait, NULL, 0, true},
    {"sem_clockwait", prepare_semaphore, do_sem_clockwait, NULL, 0, true},
    {"cond_wait", NULL, do_cond_wait, signal_condition, 0, false},
    {"cond_timedwait", NULL, do_cond_timedwait, NULL, SAMPLES, true},
    {"aio_suspend", prepare_aio, do_aio_suspend, put_byte, 0, false},
    {"aio_suspend-in-time", prepare_aio, do_aio_suspend_in_time, NULL, 0, true},
    {"io_getevents", prepare_kernel_aio, do_io_getevents, NULL, 0, true},
};

int main(int count, char **arguments)
{
    return INTERRUPT_ALL(count, arguments, calls);
}
