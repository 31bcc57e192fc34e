/* calls_sockets: calls on sockets, with and without a timeout; see interrupted-calls.h. */
#include "interrupted-calls.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MANY (1 << 20) /* bytes: more than a socket holds */

static char memory[MANY];

static void set_timeout(int fd, int option)
{
    struct timespec time = in_ms(wait_ms);
    struct timeval timeout = {time.tv_sec, time.tv_nsec / 1000};
    must(setsockopt(fd, SOL_SOCKET, option, &timeout, sizeof timeout));
}

static void prepare_pair(void)
{
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}

static void prepare_pair_in_time(void)
{
    prepare_pair();
    set_timeout(fds[0], SO_RCVTIMEO);
    set_timeout(fds[0], SO_SNDTIMEO);
}

/* ---- receiving ---- */

CALL(read, prepare_pair, put_byte)
{
    return read(fds[0], memory, 10);
}

EVERY_CALL(read_in_time, prepare_pair_in_time, .timed = true)
{
    return MADE(read(fds[0], memory, 10), SYS_read, fds[0], memory, 10);
}

CALL(recv, prepare_pair, put_byte)
{
    return recv(fds[0], memory, 10, 0);
}

CALL(recv_in_time, prepare_pair_in_time, .timed = true)
{
    return recv(fds[0], memory, 10, 0);
}

CALL(recvfrom, prepare_pair, put_byte)
{
    return recvfrom(fds[0], memory, 10, 0, NULL, NULL);
}

EVERY_CALL(recvfrom_in_time, prepare_pair_in_time, .timed = true)
{
    return MADE(recvfrom(fds[0], memory, 10, 0, NULL, NULL), SYS_recvfrom, fds[0], memory, 10);
}

static long receive_message(int flags)
{
    struct iovec at[2] = {{memory, 4}, {memory + 4, 6}};
    struct msghdr message = {.msg_iov = at, .msg_iovlen = 2};
    return recvmsg(fds[0], &message, flags);
}

CALL(recvmsg, prepare_pair, put_byte)
{
    return receive_message(0);
}

CALL(recvmsg_in_time, prepare_pair_in_time, .timed = true)
{
    return receive_message(0);
}

/* Three of the ten bytes for which the caller waits, and the rest. */
static void prepare_part(void)
{
    prepare_pair();
    must(send(fds[1], "abc", 3, 0));
}

static void prepare_part_in_time(void)
{
    prepare_pair_in_time();
    must(send(fds[1], "abc", 3, 0));
}

static void put_seven(void)
{
    send(fds[1], "defghij", 7, MSG_NOSIGNAL);
}

CALL(recv_all, prepare_part, put_seven)
{
    return recv(fds[0], memory, 10, MSG_WAITALL);
}

CALL(recv_all_in_time, prepare_part_in_time, .timed = true)
{
    return recv(fds[0], memory, 10, MSG_WAITALL);
}

CALL(recvfrom_all, prepare_part, put_seven)
{
    return recvfrom(fds[0], memory, 10, MSG_WAITALL, NULL, NULL);
}

CALL(recvmsg_all, prepare_part, put_seven)
{
    return receive_message(MSG_WAITALL);
}

static void put_datagrams(void)
{
    for (int i = 0; i < 3; i++)
        send(fds[1], "abc", 3, 0);
}

static void prepare_datagrams(void)
{
    must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));
    put_datagrams();
}

CALL(recvmmsg, prepare_datagrams, put_datagrams)
{
    struct mmsghdr messages[6] = {0};
    struct iovec at[6];
    for (int i = 0; i < 6; i++) {
        at[i] = (struct iovec){memory + 10 * i, 10};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &at[i], .msg_iovlen = 1};
    }
    return recvmmsg(fds[0], messages, 6, 0, NULL);
}

/* ---- sending ---- */

static void drain(void)
{
    static char sink[65536];
    while (!round_.returned)
        if (recv(fds[1], sink, sizeof sink, MSG_DONTWAIT) <= 0)
            sched_yield();
}

/* The kernel decides how many bytes fit. */
static long all_or_part(long result)
{
    return result > 0 && result < MANY ? MANY / 2 : result;
}

CALL(write, prepare_pair, drain)
{
    return all_or_part(write(fds[0], memory, MANY));
}

CALL(write_in_time, prepare_pair_in_time, .timed = true)
{
    return all_or_part(write(fds[0], memory, MANY));
}

CALL(send, prepare_pair, drain)
{
    return all_or_part(send(fds[0], memory, MANY, 0));
}

CALL(send_in_time, prepare_pair_in_time, .timed = true)
{
    return all_or_part(send(fds[0], memory, MANY, 0));
}

CALL(sendto, prepare_pair, drain)
{
    return all_or_part(sendto(fds[0], memory, MANY, 0, NULL, 0));
}

CALL(sendmsg, prepare_pair, drain)
{
    struct iovec at[2] = {{memory, MANY / 3}, {memory + MANY / 3, MANY - MANY / 3}};
    struct msghdr message = {.msg_iov = at, .msg_iovlen = 2};
    return all_or_part(sendmsg(fds[0], &message, 0));
}

CALL(sendmmsg, prepare_pair, drain)
{
    struct mmsghdr messages[64] = {0};
    struct iovec at = {memory, MANY / 64};
    for (int i = 0; i < 64; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &at, .msg_iovlen = 1};
    int sent = sendmmsg(fds[0], messages, 64, 0);
    return sent > 0 && sent < 64 ? 32 : sent;
}

static void prepare_file(void)
{
    prepare_pair();
    fds[2] = (int)must(memfd_create("file", MFD_CLOEXEC));
    must(ftruncate(fds[2], MANY));
}

CALL(sendfile, prepare_file, drain)
{
    return all_or_part(sendfile(fds[0], fds[2], NULL, MANY));
}

static void prepare_full(void)
{
    prepare_pair_in_time();
    while (send(fds[0], memory, 1000, MSG_DONTWAIT) > 0)
        continue;
}

EVERY_CALL(send_full_in_time, prepare_full, .timed = true)
{
    return MADE(send(fds[0], memory, 100, 0), SYS_sendto, fds[0], memory, 100);
}

/* ---- connections ---- */

static struct sockaddr_un address;

static socklen_t set_address(void)
{
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int new_socket(void)
{
    return (int)must(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static void prepare_listener(void)
{
    fds[0] = new_socket();
    fds[1] = new_socket();
    must(bind(fds[0], (struct sockaddr *)&address, set_address()));
    must(listen(fds[0], 0));
}

static void prepare_listener_in_time(void)
{
    prepare_listener();
    set_timeout(fds[0], SO_RCVTIMEO);
}

static void connect_to_caller(void)
{
    connect(fds[1], (struct sockaddr *)&address, set_address());
}

static long connected(long fd)
{
    fds[2] = (int)fd;
    return fd < 0 ? -1 : 0;
}

CALL(accept, prepare_listener, connect_to_caller)
{
    return connected(accept(fds[0], NULL, NULL));
}

EVERY_CALL(accept_in_time, prepare_listener_in_time, .timed = true)
{
    return connected(MADE(accept(fds[0], NULL, NULL), SYS_accept, fds[0]));
}

CALL(accept4_in_time, prepare_listener_in_time, .timed = true)
{
    return connected(accept4(fds[0], NULL, NULL, SOCK_CLOEXEC));
}

/* One connection is waiting: there is no room for another. */
static void prepare_connect(void)
{
    prepare_listener();
    connect_to_caller();
    fds[3] = new_socket();
}

static void prepare_connect_in_time(void)
{
    prepare_connect();
    set_timeout(fds[3], SO_SNDTIMEO);
}

static void accept_caller(void)
{
    fds[4] = accept(fds[0], NULL, NULL);
}

CALL(connect, prepare_connect, accept_caller)
{
    return connect(fds[3], (struct sockaddr *)&address, set_address());
}

EVERY_CALL(connect_in_time, prepare_connect_in_time, .timed = true)
{
    socklen_t size = set_address();
    return MADE(connect(fds[3], (struct sockaddr *)&address, size), SYS_connect, fds[3], &address,
                size);
}
