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

static void prepare_pipe(void)
{
    must(pipe(fds));
}

static void put_byte(void)
{
    must(write(fds[1], "x", 1));
}

static long do_read(void)
{
    return read(fds[0], memory, 10);
}

static long do_readv(void)
{
    struct iovec at[2] = {{memory, 4}, {memory + 4, 4}};
    return readv(fds[0], at, 2);
}

/* Reads everything from the descriptor that the caller writes to. */
static void drain(int fd)
{
    static char sink[65536];
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (;;) {
        ssize_t got = read(fd, sink, sizeof sink);
        if (got <= 0 && round_.returned)
            return;
        if (got <= 0)
            sched_yield();
    }
}

static void drain_pipe(void)
{
    drain(fds[0]);
}

static long do_write(void)
{
    return write(fds[1], memory, MANY);
}

static long do_writev(void)
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

static long do_write_little(void)
{
    return write(fds[1], memory, 100);
}

static void prepare_two_pipes(void)
{
    must(pipe(fds));
    must(pipe(fds + 2));
}

static long do_splice(void)
{
    return splice(fds[0], NULL, fds[3], NULL, 10, 0);
}

static long do_tee(void)
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

static long do_open(void)
{
    fds[0] = open(fifo(), O_RDONLY);
    return fds[0] > 0 ? 0 : -1;
}

/* The fifo stays until somebody has opened its other end. */
static void open_other_end(void)
{
    while (fds[1] <= 0 && !round_.returned)
        fds[1] = open(fifo(), O_WRONLY | O_NONBLOCK);
    unlink(fifo());
}

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

static void prepare_timerfd(void)
{
    fds[0] = (int)must(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

static void expire(void)
{
    struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
    timerfd_settime(fds[0], 0, &soon, NULL);
}

static void prepare_inotify(void)
{
    prepare_fifo();
    fds[0] = (int)must(inotify_init1(IN_CLOEXEC));
    must(inotify_add_watch(fds[0], fifo(), IN_ATTRIB));
}

static long do_read_event(void)
{
    long size = read(fds[0], memory, 1000);
    unlink(fifo());
    return size;
}

static void touch(void)
{
    chmod(fifo(), 0644);
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

static long do_flock(void)
{
    return flock(fds[0], LOCK_EX);
}

static void end_flock(void)
{
    flock(fds[1], LOCK_UN);
}

static void prepare_record_lock(void)
{
    struct flock all = {.l_type = F_WRLCK};
    prepare_lock();
    must(fcntl(fds[1], F_OFD_SETLK, &all));
}

static long do_record_lock(void)
{
    struct flock all = {.l_type = F_WRLCK};
    return fcntl(fds[0], F_OFD_SETLKW, &all);
}

static void end_record_lock(void)
{
    struct flock all = {.l_type = F_UNLCK};
    fcntl(fds[1], F_OFD_SETLK, &all);
}

/* Calls that don't wait but take long; 0 if every call moved all bytes. */
static long do_read_device(const char *path, size_t size, int times)
{
    long missing = 0;
    fds[0] = (int)must(open(path, O_RDONLY));
    for (int i = 0; i < times; i++)
        missing += (long)size - read(fds[0], memory, size);
    return missing;
}

static long do_read_zero(void)
{
    return do_read_device("/dev/zero", 8 * MANY, 30);
}

static long do_read_urandom(void)
{
    return do_read_device("/dev/urandom", 4 * MANY, 2);
}

static long do_getrandom(void)
{
    return 8 * MANY - getrandom(memory, 8 * MANY, 0);
}

static const struct call calls[] = {
    {"read-pipe", prepare_pipe, do_read, put_byte, 0, false},
    {"readv-pipe", prepare_pipe, do_readv, put_byte, 0, false},
    {"write-pipe", prepare_pipe, do_write, drain_pipe, 0, false},
    {"writev-pipe", prepare_pipe, do_writev, drain_pipe, 0, false},
    {"write-full-pipe", prepare_full_pipe, do_write_little, drain_pipe, 0, false},
    {"splice", prepare_two_pipes, do_splice, put_byte, 0, false},
    {"tee", prepare_two_pipes, do_tee, put_byte, 0, false},
    {"open-fifo", prepare_fifo, do_open, open_other_end, 0, false},
    {"read-eventfd", prepare_eventfd, do_read, put_event, 0, false},
    {"read-timerfd", prepare_timerfd, do_read, expire, 0, false},
    {"read-inotify", prepare_inotify, do_read_event, touch, 0, false},
    {"write-terminal", prepare_terminal, do_write, drain_pipe, SAMPLES, false},
    {"read-terminal", prepare_terminal_for_input, do_read, put_byte, 0, false},
    {"flock", prepare_flock, do_flock, end_flock, 0, false},
    {"fcntl-lock", prepare_record_lock, do_record_lock, end_record_lock, 0, false},
    {"read-zero", NULL, do_read_zero, NULL, SAMPLES, false},
    {"read-urandom", NULL, do_read_urandom, NULL, SAMPLES, false},
    {"getrandom", NULL, do_getrandom, NULL, SAMPLES, false},
};

int main(int count, char **arguments)
{
    return INTERRUPT_ALL(count, arguments, calls);
}
