/* calls_raw_queues: as calls_raw. Here: what keeps data between calls, System V's objects, sockets with a
 * timeout, the kernel's asynchronous input, and io_uring. */
#include "raw-calls.h"

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>

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


static const struct call calls[] = {
    BOTH("msgrcv", prepare_messages, do_msgrcv, put_message, 0, false),
    BOTH("msgsnd", prepare_full_messages, do_msgsnd, take_message, 0, false),
    BOTH("semop", prepare_semaphore, do_semop, up, 0, false),
    BOTH("semtimedop", prepare_semaphore, do_semtimedop, NULL, 0, true),
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
};

int main(int count, char **arguments)
{
    return INTERRUPT_ALL(count, arguments, calls);
}
