/* Hooks on calls that move data, if a sample would change their result in spite of SA_RESTART: a call
 * that has moved a part of its data ends with that part. So do writes to pipes, stream sockets and
 * terminals, reads of memory devices (/dev/zero, /dev/urandom), MSG_WAITALL, getrandom, sendfile,
 * several messages at once. They are continued with the rest. (A call without a part goes on by
 * itself: ended-calls.h.) If a socket has a timeout, it counts from the first sample.
 *
 * A handler of the program, with or without SA_RESTART, ends such a call with the part.
 *
 * While such a call lasts, the thread's slot says so (logical/long-calls.h). */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/logical/long-calls.h"
#include "hpcrun/process/process.h"
#include "hpcrun/restart/ended-calls.h"
#include "hpcrun/restart/restart.h"

#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

REAL_FUNCTION(read)
REAL_FUNCTION(readv)
REAL_FUNCTION(recv)
REAL_FUNCTION(recvfrom)
REAL_FUNCTION(recvmsg)
REAL_FUNCTION(recvmmsg)
REAL_FUNCTION(accept)
REAL_FUNCTION(accept4)
REAL_FUNCTION(write)
REAL_FUNCTION(writev)
REAL_FUNCTION(send)
REAL_FUNCTION(sendto)
REAL_FUNCTION(sendmsg)
REAL_FUNCTION(sendmmsg)
REAL_FUNCTION(connect)
REAL_FUNCTION(sendfile64)
REAL_FUNCTION(getrandom)

#define MEMORY_DEVICES 1   /* major device number */
#define ERESTARTSYS    512 /* the kernel's; no header for programs has it */

/* When a call that has moved a part of its data is complete. */
enum aim {
    ANYTHING,
    ALL,
    ALL_OF_STREAM, /* all data on a stream socket; any part on others */
    ALL_OF_READ,   /* all data of a memory device */
    ALL_OF_WRITE   /* all data to a pipe, a stream socket or a terminal */
};

struct transfer {
    int fd;
    enum aim aim;
    size_t size, done; /* bytes or messages, as the call counts */
    void *frame;       /* frame address of the function that makes the call */
    void *caller;      /* its return address */
    bool started;
    struct call_start outer;
};

/* -1: unknown. A filter of the program might not allow to ask. */
static int socket_option(int fd, int option)
{
    if (process.restricted)
        return -1;
    int value = -1;
    socklen_t size = sizeof value;
    sys6(SYS_getsockopt, fd, SOL_SOCKET, option, SYS_ARG(&value), SYS_ARG(&size), 0);
    return value;
}

static bool is_stream_socket(int fd)
{
    return socket_option(fd, SO_TYPE) == SOCK_STREAM;
}

static bool is_terminal(int fd)
{
    char settings[256]; /* the kernel's struct termios is smaller */
    return sys3(SYS_ioctl, fd, TCGETS, settings) == 0;
}

static bool must_move_all(const struct transfer *transfer)
{
    struct stat file;
    int fd = transfer->fd;
    switch (transfer->aim) {
    case ALL: return true;
    case ALL_OF_STREAM: return is_stream_socket(fd);
    case ALL_OF_READ:
        return sys2(SYS_fstat, fd, &file) == 0 && S_ISCHR(file.st_mode) &&
               major(file.st_rdev) == MEMORY_DEVICES;
    case ALL_OF_WRITE:
        return (sys2(SYS_fstat, fd, &file) == 0 && S_ISFIFO(file.st_mode)) ||
               is_stream_socket(fd) || is_terminal(fd);
    default: return false;
    }
}

/* Whether another attempt must follow one with this result. */
static bool must_repeat(struct transfer *transfer, ssize_t result, struct interruptions *before)
{
    if (result > 0)
        transfer->done += (size_t)result;
    bool part = result > 0 && transfer->done < transfer->size;
    bool again = only_ours(part, before) && must_move_all(transfer);
    if (again && !transfer->started) {
        transfer->outer = call_begins(transfer->frame, transfer->caller);
        transfer->started = true;
    } else if (!again && transfer->started) {
        call_ends(transfer->outer);
    }
    restart_has_part(again ? transfer->frame : NULL);
    return again;
}

/* Defines `result`: makes a call of at most so many bytes, and repeats it for the rest. The expression
 * `call` uses `done`, what was moved before. The further arguments initialize the transfer, which is
 * used only after a sample. */
#define TRANSFER(result, has_part, bytes, call, ...)                                               \
    size_t done = 0;                                                                               \
    struct interruptions before = interruptions_now();                                             \
    struct long_call long_call = long_call_begin(own_slot, bytes);                                 \
    if (has_part)                                                                                  \
        restart_has_part(__builtin_frame_address(0));                                              \
    ssize_t result = (call);                                                                       \
    if ((has_part) || thread_samples_handled != before.samples) {                                  \
        struct transfer transfer = {.frame = __builtin_frame_address(0),                           \
                                    .caller = __builtin_return_address(0),                         \
                                    __VA_ARGS__};                                                  \
        while (must_repeat(&transfer, result, &before)) {                                          \
            done = transfer.done;                                                                  \
            result = (call);                                                                       \
        }                                                                                          \
        result = transfer.done > 0 ? (ssize_t)transfer.done : result;                              \
    }                                                                                              \
    long_call_end(&long_call);                                                                     \
    (void)done

/* Defines `result`: makes a call that a sample does not change. */
#define LONG_CALL(result, bytes, call)                                                             \
    struct long_call long_call = long_call_begin(own_slot, bytes);                                 \
    ssize_t result = (call);                                                                       \
    long_call_end(&long_call)

/* Moves one piece of memory. `has_part`: an earlier call of the same function has moved a part. */
typedef ssize_t move_function(int fd, char *at, size_t size, int flags, bool has_part);

static inline ssize_t move_in(int fd, char *at, size_t size, int flags, bool has_part)
{
    (void)flags;
    TRANSFER(result, has_part, size, REAL(read)(fd, at + done, size - done), .fd = fd,
             .aim = ALL_OF_READ, .size = size);
    return result;
}

static inline ssize_t move_out(int fd, char *at, size_t size, int flags, bool has_part)
{
    (void)flags;
    TRANSFER(result, has_part, size, REAL(write)(fd, at + done, size - done), .fd = fd,
             .aim = ALL_OF_WRITE, .size = size);
    return result;
}

static enum aim aim_of_receive(int flags)
{
    return (flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL ? ALL_OF_STREAM : ANYTHING;
}

static inline ssize_t receive(int fd, char *at, size_t size, int flags, bool has_part)
{
    TRANSFER(result, has_part, size, REAL(recv)(fd, at + done, size - done, flags), .fd = fd,
             .aim = aim_of_receive(flags), .size = size);
    return result;
}

/* No SIGPIPE if a part was sent before the connection was closed. */
static int flags_of_send(int flags, bool has_part)
{
    return flags | (has_part ? MSG_NOSIGNAL : 0);
}

static inline ssize_t send_out(int fd, char *at, size_t size, int flags, bool has_part)
{
    TRANSFER(result, has_part, size,
             REAL(send)(fd, at + done, size - done, flags_of_send(flags, has_part || done > 0)),
             .fd = fd, .aim = ALL_OF_STREAM, .size = size);
    return result;
}

/* More than that is rarely read or written by one call with several pieces. */
static inline size_t bytes_of_pieces(int count)
{
    return count > 0 ? (size_t)count * LONG_CALL_BYTES : 0;
}

/* A call with several pieces of memory. */
struct pieces {
    const struct iovec *at;
    size_t count;
    enum aim aim;
    int flags;
    move_function *move;
};

/* After a call that moved `done` bytes: if a sample cut it short, moves the rest, piece by piece.
 * Returns the bytes moved in total. */
static ssize_t move_rest(int fd, const struct pieces *pieces, ssize_t done,
                         struct interruptions start)
{
    unsigned program = start.program;
    const struct transfer transfer = {.fd = fd, .aim = pieces->aim};
    if (!only_ours(done > 0, &start) || !must_move_all(&transfer))
        return done;
    size_t skip = (size_t)done;
    for (size_t i = 0; i < pieces->count && thread_program_handlers == program; i++) {
        const struct iovec *piece = &pieces->at[i];
        if (skip >= piece->iov_len) {
            skip -= piece->iov_len;
            continue;
        }
        size_t left = piece->iov_len - skip;
        ssize_t moved = pieces->move(fd, (char *)piece->iov_base + skip, left, pieces->flags, true);
        done += moved > 0 ? moved : 0;
        if (moved != (ssize_t)left)
            break;
        skip = 0;
    }
    return done;
}

HOOK ssize_t read(int fd, void *to, size_t size)
{
    return move_in(fd, to, size, 0, false);
}

HOOK ssize_t write(int fd, const void *from, size_t size)
{
    return move_out(fd, (char *)from, size, 0, false);
}

HOOK ssize_t readv(int fd, const struct iovec *at, int count)
{
    struct interruptions start = interruptions_now();
    LONG_CALL(result, bytes_of_pieces(count), REAL(readv)(fd, at, count));
    const struct pieces pieces = {at, (size_t)count, ALL_OF_READ, 0, move_in};
    return move_rest(fd, &pieces, result, start);
}

HOOK ssize_t writev(int fd, const struct iovec *at, int count)
{
    struct interruptions start = interruptions_now();
    LONG_CALL(result, bytes_of_pieces(count), REAL(writev)(fd, at, count));
    const struct pieces pieces = {at, (size_t)count, ALL_OF_WRITE, 0, move_out};
    return move_rest(fd, &pieces, result, start);
}

HOOK ssize_t recv(int fd, void *to, size_t size, int flags)
{
    return receive(fd, to, size, flags, false);
}

HOOK ssize_t recvfrom(int fd, void *to, size_t size, int flags, __SOCKADDR_ARG address,
                      socklen_t *address_size)
{
    TRANSFER(result, false, size,
             REAL(recvfrom)(fd, (char *)to + done, size - done, flags, address, address_size),
             .fd = fd, .aim = aim_of_receive(flags), .size = size);
    return result;
}

/* Messages with control data are not combined from several calls. */
HOOK ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    struct interruptions start = interruptions_now();
    LONG_CALL(result, LONG_CALL_BYTES, REAL(recvmsg)(fd, message, flags));
    if (result <= 0)
        return result; /* `message` may be invalid */
    const struct pieces pieces = {message->msg_iov, message->msg_iovlen,
                                  message->msg_control ? ANYTHING : aim_of_receive(flags), flags,
                                  receive};
    return move_rest(fd, &pieces, result, start);
}

/* Receives the messages after the first `done`. When a signal cuts the call short, the kernel
 * (also 6.18) keeps its internal -ERESTARTSYS as the socket's error, which the next call returns.
 */
static int receive_messages(int fd, struct mmsghdr *messages, size_t count, size_t done, int flags,
                            struct timespec *timeout)
{
    if (done > 0 && timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0)
        return 0; /* the timeout ended it */
    if (done > 0 && (flags & MSG_WAITFORONE))
        flags |= MSG_DONTWAIT;
    int result = REAL(recvmmsg)(fd, messages + done, (unsigned)(count - done), flags, timeout);
    if (done > 0 && result == -1 && errno == ERESTARTSYS)
        result = REAL(recvmmsg)(fd, messages + done, (unsigned)(count - done), flags, timeout);
    return result;
}

HOOK int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                  struct timespec *timeout)
{
    TRANSFER(result, false, LONG_CALL_BYTES,
             receive_messages(fd, messages, count, done, flags, timeout), .fd = fd, .aim = ALL,
             .size = count);
    return (int)result;
}

HOOK int accept(int fd, __SOCKADDR_ARG address, socklen_t *size)
{
    LONG_CALL(result, LONG_CALL_BYTES, REAL(accept)(fd, address, size));
    return (int)result;
}

HOOK int accept4(int fd, __SOCKADDR_ARG address, socklen_t *size, int flags)
{
    LONG_CALL(result, LONG_CALL_BYTES, REAL(accept4)(fd, address, size, flags));
    return (int)result;
}

HOOK ssize_t send(int fd, const void *from, size_t size, int flags)
{
    return send_out(fd, (char *)from, size, flags, false);
}

HOOK ssize_t sendto(int fd, const void *from, size_t size, int flags, __CONST_SOCKADDR_ARG address,
                    socklen_t address_size)
{
    TRANSFER(result, false, size,
             REAL(sendto)(fd, (const char *)from + done, size - done,
                          flags_of_send(flags, done > 0), address, address_size),
             .fd = fd, .aim = ALL_OF_STREAM, .size = size);
    return result;
}

/* Control messages go with the first part. */
HOOK ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct interruptions start = interruptions_now();
    LONG_CALL(result, LONG_CALL_BYTES, REAL(sendmsg)(fd, message, flags));
    if (result <= 0)
        return result;
    const struct pieces pieces = {message->msg_iov, message->msg_iovlen, ALL_OF_STREAM, flags,
                                  send_out};
    return move_rest(fd, &pieces, result, start);
}

HOOK int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    TRANSFER(result, false, LONG_CALL_BYTES,
             REAL(sendmmsg)(fd, messages + done, count - (unsigned)done, flags), .fd = fd,
             .aim = ALL, .size = count);
    return (int)result;
}

HOOK int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
    LONG_CALL(result, LONG_CALL_BYTES, REAL(connect)(fd, address, size));
    return (int)result;
}

/* To a pipe it moves as much as fits. */
HOOK ssize_t sendfile64(int to, int from, off64_t *offset, size_t size)
{
    TRANSFER(result, false, size, REAL(sendfile64)(to, from, offset, size - done), .fd = to,
             .aim = ALL_OF_STREAM, .size = size);
    return result;
}

HOOK ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
    return sendfile64(to, from, offset, size);
}

HOOK ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    TRANSFER(result, false, SIZE_MAX, REAL(getrandom)((char *)to + done, size - done, flags),
             .fd = -1, .aim = ALL, .size = size);
    return result;
}

/* In programs that are compiled with _FORTIFY_SOURCE; not declared in headers. */
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t size, size_t room, int flags,
                       __SOCKADDR_ARG address, socklen_t *address_size);
void __chk_fail(void) __attribute__((noreturn));

HOOK ssize_t __read_chk(int fd, void *to, size_t size, size_t room)
{
    if (size > room)
        __chk_fail();
    return read(fd, to, size);
}

HOOK ssize_t __recv_chk(int fd, void *to, size_t size, size_t room, int flags)
{
    if (size > room)
        __chk_fail();
    return recv(fd, to, size, flags);
}

HOOK ssize_t __recvfrom_chk(int fd, void *to, size_t size, size_t room, int flags,
                            __SOCKADDR_ARG address, socklen_t *address_size)
{
    if (size > room)
        __chk_fail();
    return recvfrom(fd, to, size, flags, address, address_size);
}
