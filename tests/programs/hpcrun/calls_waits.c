/* calls_waits: calls that wait for events, threads, time or input; see interrupted-calls.h. */
#include "interrupted-calls.h"

#include <aio.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <threads.h>

/* ---- events ---- */

EVERY_CALL(poll, prepare_pipe, put_byte)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    return MADE(poll(&at, 1, -1), SYS_poll, &at, 1, -1);
}

EVERY_CALL(poll_in_time, prepare_pipe, .timed = true)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    return MADE(poll(&at, 1, (int)wait_ms), SYS_poll, &at, 1, wait_ms);
}

/* What is to leave the rest of the time, if a signal ends it. */
static long leaves(bool is_left, long result)
{
    return is_left == (result == -1) ? result : -2;
}

static bool is_left(const struct timespec *time)
{
    return time->tv_sec || time->tv_nsec;
}

EVERY_CALL(ppoll_in_time, NULL, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    sigset_t none;
    sigemptyset(&none);
    long result = MADE(ppoll(NULL, 0, &time, &none), SYS_ppoll, NULL, 0, &time, &none, 8);
    return way == LIBC ? result : leaves(is_left(&time), result);
}

/* A time in read-only memory. */
static struct timespec *read_only_time(void)
{
    static struct timespec *page;
    if (!page)
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    *page = in_ms(wait_ms);
    mprotect(page, 4096, PROT_READ);
    return page;
}

RAW_CALL(ppoll_read_only, NULL, .timed = true)
{
    const struct timespec *time = read_only_time();
    return RAW(SYS_ppoll, NULL, 0, time, NULL, 0, 0, 0);
}

CALL(select, prepare_pipe, put_byte)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fds[0], &set);
    return select(fds[0] + 1, &set, NULL, NULL, NULL);
}

EVERY_CALL(select_in_time, NULL, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    struct timeval left = {time.tv_sec, time.tv_nsec / 1000};
    long result = MADE(select(0, NULL, NULL, NULL, &left), SYS_select, 0, NULL, NULL, NULL, &left);
    return leaves(left.tv_sec || left.tv_usec, result);
}

EVERY_CALL(pselect_in_time, NULL, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    uint64_t none = 0, mask[2] = {(uint64_t)(uintptr_t)&none, 8};
    long result = MADE(pselect(0, NULL, NULL, NULL, &time, NULL), SYS_pselect6, 0, NULL, NULL, NULL,
                       &time, mask);
    return way == LIBC ? result : leaves(is_left(&time), result);
}

static void prepare_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    prepare_pipe();
    fds[2] = (int)must(epoll_create1(EPOLL_CLOEXEC));
    must(epoll_ctl(fds[2], EPOLL_CTL_ADD, fds[0], &event));
}

EVERY_CALL(epoll_wait, prepare_epoll, put_byte)
{
    struct epoll_event event;
    return MADE(epoll_wait(fds[2], &event, 1, -1), SYS_epoll_wait, fds[2], &event, 1, -1);
}

EVERY_CALL(epoll_wait_in_time, prepare_epoll, .timed = true)
{
    struct epoll_event event;
    return MADE(epoll_wait(fds[2], &event, 1, (int)wait_ms), SYS_epoll_pwait, fds[2], &event, 1,
                wait_ms, NULL, 8);
}

EVERY_CALL(epoll_pwait2_in_time, prepare_epoll, .timed = true)
{
    struct epoll_event event;
    struct timespec time = in_ms(wait_ms);
    return MADE(epoll_pwait2(fds[2], &event, 1, &time, NULL), SYS_epoll_pwait2, fds[2], &event, 1,
                &time, NULL, 8);
}

/* ---- time ---- */

EVERY_CALL(nanosleep, .timed = true)
{
    struct timespec time = in_ms(wait_ms), left = {0};
    long result = MADE(nanosleep(&time, &left), SYS_nanosleep, &time, &left);
    /* The system call may leave a rest that it has slept in the end. */
    return way == LIBC                       ? leaves(is_left(&left), result)
           : result == -1 && !is_left(&left) ? -2
                                             : result;
}

RAW_CALL(nanosleep_alone, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    return RAW(SYS_nanosleep, &time, NULL, 0, 0, 0, 0, 0);
}

/* Of functions that return the error. */
static long failed(int error)
{
    errno = error;
    return error ? -1 : 0;
}

EVERY_CALL(clock_nanosleep, .timed = true)
{
    struct timespec time = in_ms(wait_ms), left = {0};
    long result = MADE(failed(clock_nanosleep(CLOCK_BOOTTIME, 0, &time, &left)),
                       SYS_clock_nanosleep, CLOCK_BOOTTIME, 0, &time, NULL);
    return way == LIBC ? leaves(is_left(&left), result) : result;
}

EVERY_CALL(clock_nanosleep_until, .timed = true)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return MADE(failed(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL)),
                SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time);
}

CALL(thrd_sleep, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    return thrd_sleep(&time, NULL);
}

CALL(usleep, .timed = true)
{
    return usleep((useconds_t)wait_ms * 1000);
}

CALL(sleep, .modes = SAMPLES)
{
    return sleep(1);
}

/* ---- threads ---- */

static sem_t semaphore;

static void prepare_semaphore(void)
{
    must(sem_init(&semaphore, 0, 0));
}

static void post(void)
{
    sem_post(&semaphore);
}

CALL(sem_wait, prepare_semaphore, post)
{
    return sem_wait(&semaphore);
}

CALL(sem_timedwait, prepare_semaphore, .timed = true)
{
    struct timespec time = at_ms(CLOCK_REALTIME, wait_ms);
    return sem_timedwait(&semaphore, &time);
}

CALL(sem_clockwait, prepare_semaphore, .timed = true)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool signalled;

static void signal_condition(void)
{
    pthread_mutex_lock(&mutex);
    signalled = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

CALL(cond_wait, NULL, signal_condition)
{
    pthread_mutex_lock(&mutex);
    for (signalled = false; !signalled;)
        pthread_cond_wait(&condition, &mutex);
    return -pthread_mutex_unlock(&mutex);
}

CALL(cond_timedwait, .modes = SAMPLES, .timed = true)
{
    struct timespec time = at_ms(CLOCK_REALTIME, wait_ms);
    pthread_mutex_lock(&mutex);
    int error = pthread_cond_timedwait(&condition, &mutex, &time);
    pthread_mutex_unlock(&mutex);
    return failed(error);
}

static _Atomic int word;

static void clear_word(void)
{
    word = 0;
}

static void wake(void)
{
    word = 1;
    while (!round_.returned) {
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        sched_yield();
    }
}

/* Woken, or too late to be woken: both are right. */
static long woken(long result)
{
    return result == -1 && errno == EAGAIN ? 0 : result;
}

RAW_CALL(futex, clear_word, wake, SAMPLES | HANDLER)
{
    return woken(RAW(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0, 0));
}

RAW_CALL(futex_in_time, clear_word, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    return RAW(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0, 0);
}

RAW_CALL(futex_until, clear_word, .timed = true)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return RAW(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &time, NULL, FUTEX_BITSET_MATCH_ANY,
               0);
}

/* ---- asynchronous input: POSIX's, the kernel's ---- */

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

CALL(aio_suspend, prepare_aio, put_byte)
{
    return suspend(NULL);
}

CALL(aio_suspend_in_time, prepare_aio, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    return suspend(&time);
}

/* libaio's function, where a library has it. */
int io_getevents(aio_context_t context, long least, long most, struct io_event *events,
                 struct timespec *timeout) __attribute__((weak));

static aio_context_t aio;

static void prepare_kernel_aio(void)
{
    aio = 0;
    must(syscall(SYS_io_setup, 4, &aio));
    prepare_pipe();
}

#define END_AIO syscall(SYS_io_destroy, aio)

static long events_by_libaio(struct io_event *event, struct timespec *time)
{
    if (!io_getevents)
        return syscall(SYS_io_getevents, aio, 1, 1, event, time);
    int result = io_getevents(aio, 1, 1, event, time);
    return result < 0 ? failed(-result) : result;
}

EVERY_CALL(io_getevents, prepare_kernel_aio, .timed = true)
{
    struct io_event event;
    struct timespec time = in_ms(wait_ms);
    return THEN(MADE(events_by_libaio(&event, &time), SYS_io_getevents, aio, 1, 1, &event, &time),
                END_AIO);
}

RAW_CALL(io_pgetevents, prepare_kernel_aio, .timed = true)
{
    struct io_event event;
    struct timespec time = in_ms(wait_ms);
    uint64_t none = 0, mask[2] = {(uint64_t)(uintptr_t)&none, 8};
    return THEN(RAW(SYS_io_pgetevents, aio, 1, 1, &event, &time, mask, 0), END_AIO);
}

/* Events come by polling pipes. */
static void submit_poll(int which)
{
    static struct iocb requests[2];
    struct iocb *poll = &requests[which];
    *poll = (struct iocb){
        .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)fds[2 * which], .aio_buf = POLLIN};
    must(syscall(SYS_io_submit, aio, 1, &poll));
}

static void prepare_two_events(void)
{
    prepare_kernel_aio();
    must(pipe(fds + 2));
    submit_poll(0);
    submit_poll(1);
    put_byte();
}

static void put_second_byte(void)
{
    must(write(fds[3], "x", 1));
}

/* One event is there, another comes. There is room for no third one. */
RAW_CALL(io_getevents_part, prepare_two_events, put_second_byte)
{
    struct io_event events[3] = {[2] = {.data = 77}};
    long result = RAW(SYS_io_getevents, aio, 2, 2, events, NULL, 0, 0);
    bool all = result != 2 || (events[0].obj != events[1].obj && events[1].obj);
    return THEN(events[2].data == 77 && all ? result : -2, END_AIO);
}

/* ---- io_uring ---- */

static int ring = -1;
static unsigned *tail, *array;
static struct io_uring_sqe *entries;

/* The program has no ring if the kernel allows none. */
static void make_ring(void)
{
    struct io_uring_params parameters = {0};
    int fd = (int)syscall(SYS_io_uring_setup, 4, &parameters);
    if (fd < 0)
        return;
    char *submissions =
        mmap(NULL, parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned),
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
    entries = mmap(NULL, parameters.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
    if (submissions == MAP_FAILED || (void *)entries == MAP_FAILED)
        return;
    tail = (unsigned *)(submissions + parameters.sq_off.tail);
    array = (unsigned *)(submissions + parameters.sq_off.array);
    ring = fd;
}

static void queue_read(void)
{
    unsigned at = *tail & 3;
    entries[at] = (struct io_uring_sqe){
        .opcode = IORING_OP_READ, .fd = fds[0], .addr = (uint64_t)(uintptr_t)&byte, .len = 1};
    array[at] = at;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* A ring of its own for each call: completions stay in it. */
static void prepare_ring(void)
{
    prepare_pipe();
    if (ring >= 0)
        close(ring);
    make_ring();
    if (ring >= 0)
        queue_read();
}

static void prepare_submitted(void)
{
    prepare_ring();
    if (ring >= 0)
        must(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0));
}

#define ENTER(submit, flags, argument, size)                                                       \
    (ring < 0 ? 0                                                                                  \
              : RAW(SYS_io_uring_enter, ring, submit, 1, IORING_ENTER_GETEVENTS | (flags),         \
                    argument, size, 0))

RAW_CALL(io_uring_wait, prepare_submitted, put_byte)
{
    return ENTER(0, 0, NULL, 0);
}

/* The number of requests that were submitted; whether it came too early tells the byte. */
RAW_CALL(io_uring_submit, prepare_ring, put_byte)
{
    long result = ENTER(1, 0, NULL, 0);
    bool waited = mode != SAMPLES || ring < 0 || round_.ended;
    return waited ? result : -2;
}

RAW_CALL(io_uring_in_time, prepare_submitted, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    struct io_uring_getevents_arg argument = {.ts = (uint64_t)(uintptr_t)&time};
    return ENTER(0, IORING_ENTER_EXT_ARG, &argument, sizeof argument);
}
