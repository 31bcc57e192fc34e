/* calls_files: calls on files, pipes, terminals and devices; see interrupted-calls.h. */
#include "interrupted-calls.h"

#include <pty.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <termios.h>

#define MANY (1 << 20) /* bytes: more than a pipe holds */

static char memory[8 * MANY];

/* ---- pipes ---- */

CALL(read_pipe, prepare_pipe, put_byte)
{
    return read(fds[0], memory, 10);
}

CALL(readv_pipe, prepare_pipe, put_byte)
{
    struct iovec at[2] = {{memory, 4}, {memory + 4, 4}};
    return readv(fds[0], at, 2);
}

/* Reads everything that the caller writes. */
static void drain(void)
{
    static char sink[65536];
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    for (;;) {
        ssize_t got = read(fds[0], sink, sizeof sink);
        if (got <= 0 && round_.returned)
            return;
        if (got <= 0)
            sched_yield();
    }
}

CALL(write_pipe, prepare_pipe, drain)
{
    return write(fds[1], memory, MANY);
}

CALL(writev_pipe, prepare_pipe, drain)
{
    static struct iovec at[100];
    for (int i = 0; i < 100; i++)
        at[i] = (struct iovec){memory + i * 10000, 10000};
    return writev(fds[1], at, 100);
}

static void prepare_full_pipe(void)
{
    prepare_pipe();
    fcntl(fds[1], F_SETFL, O_NONBLOCK);
    while (write(fds[1], memory, 4096) > 0)
        continue;
    fcntl(fds[1], F_SETFL, 0);
}

CALL(write_full_pipe, prepare_full_pipe, drain)
{
    return write(fds[1], memory, 100);
}

static void prepare_two_pipes(void)
{
    must(pipe(fds));
    must(pipe(fds + 2));
}

CALL(splice, prepare_two_pipes, put_byte)
{
    return splice(fds[0], NULL, fds[3], NULL, 10, 0);
}

CALL(tee, prepare_two_pipes, put_byte)
{
    return tee(fds[0], fds[3], 10, 0);
}

static char *fifo(void)
{
    static char path[80];
    snprintf(path, sizeof path, "/tmp%s", name);
    return path;
}

static void prepare_fifo(void)
{
    must(mkfifo(fifo(), 0600));
}

/* The fifo stays until somebody has opened its other end. */
static void open_other_end(void)
{
    while (fds[1] <= 0 && !round_.returned)
        fds[1] = open(fifo(), O_WRONLY | O_NONBLOCK);
    unlink(fifo());
}

CALL(open_fifo, prepare_fifo, open_other_end)
{
    fds[0] = open(fifo(), O_RDONLY);
    return fds[0] > 0 ? 0 : -1;
}

/* ---- descriptors of events, terminals ---- */

static void prepare_eventfd(void)
{
    fds[0] = (int)must(eventfd(0, EFD_CLOEXEC));
    fds[1] = (int)must(dup(fds[0]));
}

static void put_event(void)
{
    uint64_t one = 1;
    must(write(fds[1], &one, sizeof one));
}

CALL(read_eventfd, prepare_eventfd, put_event)
{
    return read(fds[0], memory, 10);
}

static void prepare_timerfd(void)
{
    fds[0] = (int)must(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

static void expire(void)
{
    struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
    timerfd_settime(fds[0], 0, &soon, NULL);
}

CALL(read_timerfd, prepare_timerfd, expire)
{
    return read(fds[0], memory, 10);
}

static void prepare_inotify(void)
{
    prepare_fifo();
    fds[0] = (int)must(inotify_init1(IN_CLOEXEC));
    must(inotify_add_watch(fds[0], fifo(), IN_ATTRIB));
}

static void touch(void)
{
    chmod(fifo(), 0644);
}

CALL(read_inotify, prepare_inotify, touch)
{
    long size = read(fds[0], memory, 1000);
    unlink(fifo());
    return size;
}

static void prepare_terminal(void)
{
    struct termios raw;
    must(openpty(&fds[0], &fds[1], NULL, NULL, NULL));
    tcgetattr(fds[1], &raw);
    cfmakeraw(&raw);
    tcsetattr(fds[1], TCSANOW, &raw);
}

static void prepare_terminal_for_input(void)
{
    prepare_terminal();
    int terminal = fds[1]; /* as for pipes: the read end first */
    fds[1] = fds[0];
    fds[0] = terminal;
}

CALL(write_terminal, prepare_terminal, drain, SAMPLES)
{
    return write(fds[1], memory, MANY);
}

CALL(read_terminal, prepare_terminal_for_input, put_byte)
{
    return read(fds[0], memory, 10);
}

/* ---- locks ---- */

static void prepare_lock(void)
{
    fds[0] = (int)must(open("/tmp", O_TMPFILE | O_RDWR, 0600));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fds[0]);
    fds[1] = (int)must(open(path, O_RDWR));
}

static void prepare_flock(void)
{
    prepare_lock();
    must(flock(fds[1], LOCK_EX));
}

static void end_flock(void)
{
    flock(fds[1], LOCK_UN);
}

CALL(flock, prepare_flock, end_flock)
{
    return flock(fds[0], LOCK_EX);
}

static void prepare_record_lock(void)
{
    struct flock all = {.l_type = F_WRLCK};
    prepare_lock();
    must(fcntl(fds[1], F_OFD_SETLK, &all));
}

static void end_record_lock(void)
{
    struct flock all = {.l_type = F_UNLCK};
    fcntl(fds[1], F_OFD_SETLK, &all);
}

CALL(record_lock, prepare_record_lock, end_record_lock)
{
    struct flock all = {.l_type = F_WRLCK};
    return fcntl(fds[0], F_OFD_SETLKW, &all);
}

/* ---- calls that don't wait but take long; 0 if every call moved all bytes ---- */

static long read_device(const char *path, size_t size, int times)
{
    long missing = 0;
    fds[0] = (int)must(open(path, O_RDONLY));
    for (int i = 0; i < times; i++)
        missing += (long)size - read(fds[0], memory, size);
    return missing;
}

CALL(read_zero, NULL, NULL, SAMPLES)
{
    return read_device("/dev/zero", 8 * MANY, 30);
}

CALL(read_urandom, NULL, NULL, SAMPLES)
{
    return read_device("/dev/urandom", 4 * MANY, 2);
}

CALL(getrandom, NULL, NULL, SAMPLES)
{
    return 8 * MANY - getrandom(memory, 8 * MANY, 0);
}

/* A file in tmpfs. If a signal interrupts an allocation of it, the kernel frees what was allocated so far. */
static void prepare_memory_file(void)
{
    fds[0] = (int)must(memfd_create("large", MFD_CLOEXEC));
}

RAW_CALL(fallocate, prepare_memory_file, NULL, SAMPLES)
{
    return RAW(SYS_fallocate, fds[0], 0, 0, 64 << 20, 0, 0, 0);
}
