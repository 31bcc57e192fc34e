/* calls_raw: system calls that the kernel does not restart, without libc's functions for them; see
 * interrupted-calls.h. Each is made by syscall() and by an instruction of its own. The latter also tells
 * whether the registers of the arguments are unchanged, as the kernel leaves them. */
#include "interrupted-calls.h"

#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

enum way { BY_SYSCALL, INLINED, WAYS };

#define REGISTERS_CHANGED (-77)

static inline __attribute__((always_inline)) long inlined(long number, long a, long b, long c,
                                                          long d, long e, long f)
{
    long result, rdi = a, rsi = b, rdx = c;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), "+r"(r8), "+r"(r9)
                     : "a"(number)
                     : "rcx", "r11", "memory");
    if (rdi != a || rsi != b || rdx != c || r10 != d || r8 != e || r9 != f)
        return REGISTERS_CHANGED;
    errno = result < 0 ? (int)-result : 0;
    return result < 0 ? -1 : result;
}

#define ARG(x) ((long)(x))
#define RAW6(number, a, b, c, d, e, f)                                                             \
    (way == INLINED ? inlined(number, ARG(a), ARG(b), ARG(c), ARG(d), ARG(e), ARG(f))              \
                    : syscall(number, ARG(a), ARG(b), ARG(c), ARG(d), ARG(e), ARG(f)))

/* Defines both ways of a call, in which the parameter `way` is a constant. */
#define CALL(name)                                                                                 \
    static inline __attribute__((always_inline)) long name(enum way way);                          \
    static long name##_by_syscall(void)                                                            \
    {                                                                                              \
        return name(BY_SYSCALL);                                                                   \
    }                                                                                              \
    static long name##_inlined(void)                                                               \
    {                                                                                              \
        return name(INLINED);                                                                      \
    }                                                                                              \
    static inline __attribute__((always_inline)) long name(enum way way)

/* ---- events ---- */

static void prepare_pipe(void)
{
    must(pipe(fds));
}

static void put_byte(void)
{
    must(write(fds[1], "x", 1));
}

CALL(do_poll)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    return RAW6(SYS_poll, &at, 1, -1, 0, 0, 0);
}

CALL(do_poll_in_time)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    return RAW6(SYS_poll, &at, 1, wait_ms, 0, 0, 0);
}

static bool is_left(const struct timespec *time)
{
    return time->tv_sec || time->tv_nsec;
}

/* The system call leaves the rest of the time. */
static long rest_result(long result, const struct timespec *time)
{
    return is_left(time) == (result == -1) ? result : -2;
}

CALL(do_ppoll_in_time)
{
    struct timespec time = in_ms(wait_ms);
    sigset_t none;
    sigemptyset(&none);
    return rest_result(RAW6(SYS_ppoll, NULL, 0, &time, &none, 8, 0), &time);
}

/* A time in memory that nobody can write to. */
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

CALL(do_ppoll_read_only)
{
    const struct timespec *time = read_only_time();
    return RAW6(SYS_ppoll, NULL, 0, time, NULL, 0, 0);
}

CALL(do_select_in_time)
{
    struct timespec time = in_ms(wait_ms);
    time.tv_nsec /= 1000; /* a struct timeval */
    return rest_result(RAW6(SYS_select, 0, NULL, NULL, NULL, &time, 0), &time);
}

CALL(do_pselect_in_time)
{
    struct timespec time = in_ms(wait_ms);
    uint64_t none = 0, mask[2] = {(uint64_t)(uintptr_t)&none, 8};
    return rest_result(RAW6(SYS_pselect6, 0, NULL, NULL, NULL, &time, mask), &time);
}

static void prepare_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    prepare_pipe();
    fds[2] = (int)must(epoll_create1(EPOLL_CLOEXEC));
    must(epoll_ctl(fds[2], EPOLL_CTL_ADD, fds[0], &event));
}

CALL(do_epoll_wait)
{
    struct epoll_event event;
    return RAW6(SYS_epoll_wait, fds[2], &event, 1, -1, 0, 0);
}

CALL(do_epoll_pwait_in_time)
{
    struct epoll_event event;
    return RAW6(SYS_epoll_pwait, fds[2], &event, 1, wait_ms, NULL, 8);
}

CALL(do_epoll_pwait2_in_time)
{
    struct epoll_event event;
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_epoll_pwait2, fds[2], &event, 1, &time, NULL, 8);
}

/* ---- time ---- */

CALL(do_nanosleep)
{
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_nanosleep, &time, NULL, 0, 0, 0, 0);
}

CALL(do_nanosleep_rest)
{
    struct timespec time = in_ms(wait_ms), left = {0};
    long result = RAW6(SYS_nanosleep, &time, &left, 0, 0, 0, 0);
    return result == -1 && !is_left(&left) ? -2 : result;
}

CALL(do_clock_nanosleep)
{
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_clock_nanosleep, CLOCK_BOOTTIME, 0, &time, NULL, 0, 0);
}

CALL(do_clock_nanosleep_until)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return RAW6(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL, 0, 0);
}

/* ---- threads ---- */

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

CALL(do_futex)
{
    return woken(RAW6(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
}

CALL(do_futex_in_time)
{
    struct timespec time = in_ms(wait_ms);
    return RAW6(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

CALL(do_futex_until)
{
    struct timespec time = at_ms(CLOCK_MONOTONIC, wait_ms);
    return RAW6(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &time, NULL,
                FUTEX_BITSET_MATCH_ANY);
}

/* ---- System V; objects outlive the process: the caller removes them after its call ---- */

static int object;

static long removed(long result, bool is_semaphore)
{
    int error = errno;
    round_.returned = true;
    if (is_semaphore)
        semctl(object, 0, IPC_RMID);
    else
        msgctl(object, IPC_RMID, NULL);
    errno = error;
    return result;
}

static struct {
    long type;
    char text[8192];
} message = {.type = 1};

static void prepare_messages(void)
{
    object = (int)must(msgget(IPC_PRIVATE, 0600));
}

static void prepare_full_messages(void)
{
    prepare_messages();
    while (msgsnd(object, &message, sizeof message.text, IPC_NOWAIT) == 0)
        continue;
}

CALL(do_msgrcv)
{
    return removed(RAW6(SYS_msgrcv, object, &message, sizeof message.text, 0, 0, 0), false);
}

static void put_message(void)
{
    msgsnd(object, &message, 1, IPC_NOWAIT);
}

CALL(do_msgsnd)
{
    return removed(RAW6(SYS_msgsnd, object, &message, sizeof message.text, 0, 0, 0), false);
}

static void take_message(void)
{
    static char taken[sizeof message];
    msgrcv(object, taken, sizeof message.text, 0, IPC_NOWAIT);
}

static void prepare_semaphore(void)
{
    object = (int)must(semget(IPC_PRIVATE, 1, 0600));
}

static void up(void)
{
    struct sembuf operation = {.sem_op = 1};
    semop(object, &operation, 1);
}

CALL(do_semop)
{
    struct sembuf operation = {.sem_op = -1};
    return removed(RAW6(SYS_semop, object, &operation, 1, 0, 0, 0), true);
}

CALL(do_semtimedop)
{
    struct sembuf operation = {.sem_op = -1};
    struct timespec time = in_ms(wait_ms);
    return removed(RAW6(SYS_semtimedop, object, &operation, 1, &time, 0, 0), true);
}

/* ---- signals: SIGUSR2, which is blocked except in some calls ---- */

static uint64_t usr2(void)
{
    return (uint64_t)1 << (SIGUSR2 - 1);
}

static void block_usr2(void)
{
    uint64_t set = usr2();
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
    signal(SIGUSR2, count_signal);
}

static void send_usr2_alone(void)
{
    if (mode == SAMPLES)
        pthread_kill(caller, SIGUSR2);
}

CALL(do_pause)
{
    uint64_t set = usr2();
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
    return RAW6(SYS_pause, 0, 0, 0, 0, 0, 0);
}

CALL(do_sigsuspend)
{
    uint64_t none = 0;
    return RAW6(SYS_rt_sigsuspend, &none, 8, 0, 0, 0, 0);
}

CALL(do_sigtimedwait)
{
    struct timespec time = in_ms(wait_ms);
    uint64_t set = usr2();
    return RAW6(SYS_rt_sigtimedwait, &set, NULL, &time, 8, 0, 0);
}

/* A signal that only the call blocks comes at its end. */
static _Atomic bool may_end, came_early;

static void note_when(int number)
{
    (void)number;
    came_early = came_early || !may_end;
}

static void send_blocked(void)
{
    pthread_kill(caller, SIGUSR2);
    expose();
    may_end = true;
    put_byte();
}

static void prepare_blocked(void)
{
    prepare_pipe();
    signal(SIGUSR2, note_when);
    may_end = came_early = false;
}

/* Afterwards the thread has its own mask again. */
CALL(do_blocked)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    struct timespec time = in_ms(LONG_MS);
    uint64_t set = usr2(), after = 0;
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
    long result = RAW6(SYS_ppoll, &at, 1, &time, &set, 8, 0);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &after, 8);
    return came_early ? -2 : after & set ? -3 : result;
}

/* ---- sockets with a timeout ---- */

static char memory[1 << 16];

static void set_timeout(int fd, int option)
{
    struct timespec time = in_ms(wait_ms);
    struct timeval timeout = {time.tv_sec, time.tv_nsec / 1000};
    must(setsockopt(fd, SOL_SOCKET, option, &timeout, sizeof timeout));
}

static void prepare_pair(void)
{
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
    set_timeout(fds[0], SO_RCVTIMEO);
    set_timeout(fds[0], SO_SNDTIMEO);
}

static void prepare_full_pair(void)
{
    prepare_pair();
    while (send(fds[0], memory, 1000, MSG_DONTWAIT) > 0)
        continue;
}

CALL(do_read_in_time)
{
    return RAW6(SYS_read, fds[0], memory, 10, 0, 0, 0);
}

CALL(do_recvfrom_in_time)
{
    return RAW6(SYS_recvfrom, fds[0], memory, 10, 0, NULL, NULL);
}

CALL(do_sendto_in_time)
{
    return RAW6(SYS_sendto, fds[0], memory, 10, 0, NULL, 0);
}

static struct sockaddr_un address;

static socklen_t set_address(void)
{
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static void prepare_listener(void)
{
    for (int i = 0; i < 3; i++)
        fds[i] = (int)must(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    must(bind(fds[0], (struct sockaddr *)&address, set_address()));
    must(listen(fds[0], 0));
    set_timeout(fds[0], SO_RCVTIMEO);
    set_timeout(fds[2], SO_SNDTIMEO);
}

CALL(do_accept_in_time)
{
    return RAW6(SYS_accept, fds[0], NULL, NULL, 0, 0, 0);
}

/* One connection is waiting: there is no room for another. */
static void prepare_full_listener(void)
{
    prepare_listener();
    must(connect(fds[1], (struct sockaddr *)&address, set_address()));
}

CALL(do_connect_in_time)
{
    return RAW6(SYS_connect, fds[2], &address, set_address(), 0, 0, 0);
}

/* ---- the kernel's asynchronous input ---- */

static aio_context_t aio;
static struct iocb requests[2];

static void prepare_aio(void)
{
    aio = 0;
    must(syscall(SYS_io_setup, 4, &aio));
    prepare_pipe();
}

/* Events come by polling pipes. */
static void submit_poll(int which)
{
    struct iocb *request = &requests[which];
    *request = (struct iocb){
        .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)fds[2 * which], .aio_buf = POLLIN};
    must(syscall(SYS_io_submit, aio, 1, &request));
}

static long end_aio(long result)
{
    int error = errno;
    syscall(SYS_io_destroy, aio);
    errno = error;
    return result;
}

CALL(do_io_getevents)
{
    struct io_event event;
    struct timespec time = in_ms(wait_ms);
    return end_aio(RAW6(SYS_io_getevents, aio, 1, 1, &event, &time, 0));
}

CALL(do_io_pgetevents)
{
    struct io_event event;
    struct timespec time = in_ms(wait_ms);
    uint64_t none = 0, mask[2] = {(uint64_t)(uintptr_t)&none, 8};
    return end_aio(RAW6(SYS_io_pgetevents, aio, 1, 1, &event, &time, mask));
}

static void prepare_two_events(void)
{
    prepare_aio();
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
CALL(do_io_getevents_part)
{
    struct io_event events[3] = {[2] = {.data = 77}};
    long result = RAW6(SYS_io_getevents, aio, 2, 2, events, NULL, 0);
    bool all = result != 2 || (events[0].obj != events[1].obj && events[1].obj);
    return end_aio(events[2].data == 77 && all ? result : -2);
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
    char *queue = mmap(NULL, parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned),
                       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
    entries = mmap(NULL, parameters.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
    if (queue == MAP_FAILED || (void *)entries == MAP_FAILED)
        return;
    tail = (unsigned *)(queue + parameters.sq_off.tail);
    array = (unsigned *)(queue + parameters.sq_off.array);
    ring = fd;
}

static void queue_read(void)
{
    static char byte;
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
              : RAW6(SYS_io_uring_enter, ring, submit, 1, IORING_ENTER_GETEVENTS | (flags),        \
                     argument, size))

CALL(do_uring_wait)
{
    return ENTER(0, 0, NULL, 0);
}

/* The number of requests that were submitted; whether it came too early tells the byte. */
CALL(do_uring_submit)
{
    long result = ENTER(1, 0, NULL, 0);
    bool waited = mode != SAMPLES || ring < 0 || round_.ended;
    return waited ? result : -2;
}

CALL(do_uring_in_time)
{
    struct timespec time = in_ms(wait_ms);
    struct io_uring_getevents_arg argument = {.ts = (uint64_t)(uintptr_t)&time};
    return ENTER(0, IORING_ENTER_EXT_ARG, &argument, sizeof argument);
}

/* ---- memory: a large file in tmpfs, of which a signal undoes all ---- */

#define LARGE (64 << 20)

static void prepare_memory_file(void)
{
    fds[0] = (int)must(memfd_create("large", MFD_CLOEXEC));
}

CALL(do_fallocate)
{
    return RAW6(SYS_fallocate, fds[0], 0, 0, LARGE, 0, 0);
}

#define BOTH(name, prepare, make, end, modes, timed)                                               \
    {name " by syscall", prepare, make##_by_syscall, end, modes, timed},                           \
    {                                                                                              \
        name " inlined", prepare, make##_inlined, end, modes, timed                                \
    }

static const struct call calls[] = {
    BOTH("poll", prepare_pipe, do_poll, put_byte, 0, false),
    BOTH("poll-in-time", prepare_pipe, do_poll_in_time, NULL, 0, true),
    BOTH("ppoll-in-time", NULL, do_ppoll_in_time, NULL, 0, true),
    BOTH("ppoll-read-only", NULL, do_ppoll_read_only, NULL, 0, true),
    BOTH("select-in-time", NULL, do_select_in_time, NULL, 0, true),
    BOTH("pselect-in-time", NULL, do_pselect_in_time, NULL, 0, true),
    BOTH("epoll_wait", prepare_epoll, do_epoll_wait, put_byte, 0, false),
    BOTH("epoll_pwait-in-time", prepare_epoll, do_epoll_pwait_in_time, NULL, 0, true),
    BOTH("epoll_pwait2-in-time", prepare_epoll, do_epoll_pwait2_in_time, NULL, 0, true),
    BOTH("nanosleep", NULL, do_nanosleep, NULL, 0, true),
    BOTH("nanosleep-rest", NULL, do_nanosleep_rest, NULL, 0, true),
    BOTH("clock_nanosleep", NULL, do_clock_nanosleep, NULL, 0, true),
    BOTH("clock_nanosleep-until", NULL, do_clock_nanosleep_until, NULL, 0, true),
    BOTH("futex", clear_word, do_futex, wake, SAMPLES | HANDLER, false),
    BOTH("futex-in-time", clear_word, do_futex_in_time, NULL, 0, true),
    BOTH("futex-until", clear_word, do_futex_until, NULL, 0, true),
    BOTH("msgrcv", prepare_messages, do_msgrcv, put_message, 0, false),
    BOTH("msgsnd", prepare_full_messages, do_msgsnd, take_message, 0, false),
    BOTH("semop", prepare_semaphore, do_semop, up, 0, false),
    BOTH("semtimedop", prepare_semaphore, do_semtimedop, NULL, 0, true),
    BOTH("pause", block_usr2, do_pause, send_usr2_alone, 0, false),
    BOTH("sigsuspend", block_usr2, do_sigsuspend, send_usr2_alone, 0, false),
    BOTH("sigtimedwait", block_usr2, do_sigtimedwait, NULL, 0, true),
    BOTH("blocked-signal", prepare_blocked, do_blocked, send_blocked, SAMPLES, false),
    BOTH("read-in-time", prepare_pair, do_read_in_time, NULL, 0, true),
    BOTH("recvfrom-in-time", prepare_pair, do_recvfrom_in_time, NULL, 0, true),
    BOTH("sendto-in-time", prepare_full_pair, do_sendto_in_time, NULL, 0, true),
    BOTH("accept-in-time", prepare_listener, do_accept_in_time, NULL, 0, true),
    BOTH("connect-in-time", prepare_full_listener, do_connect_in_time, NULL, 0, true),
    BOTH("io_getevents", prepare_aio, do_io_getevents, NULL, 0, true),
    BOTH("io_pgetevents", prepare_aio, do_io_pgetevents, NULL, 0, true),
    BOTH("io_getevents-part", prepare_two_events, do_io_getevents_part, put_second_byte, 0, false),
    BOTH("io_uring-wait", prepare_submitted, do_uring_wait, put_byte, 0, false),
    BOTH("io_uring-submit", prepare_ring, do_uring_submit, put_byte, 0, false),
    BOTH("io_uring-in-time", prepare_submitted, do_uring_in_time, NULL, 0, true),
    BOTH("fallocate", prepare_memory_file, do_fallocate, NULL, SAMPLES, false),
};

int main(int count, char **arguments)
{
    return INTERRUPT_ALL(count, arguments, calls);
}
