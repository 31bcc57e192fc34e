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

static void prepare_datagrams(void)
{
    must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));
    for (int i = 0; i < 3; i++)
        must(send(fds[1], "abc", 3, 0));
}

static void put_byte(void)
{
    must(send(fds[1], "x", 1, 0));
}

/* The rest of the ten bytes for which the caller waits. */
static void put_seven(void)
{
    send(fds[1], "defghij", 7, MSG_NOSIGNAL);
}

static long do_read(void)
{
    return read(fds[0], memory, 10);
}

static long do_recv(void)
{
    return recv(fds[0], memory, 10, 0);
}

static long do_recv_all(void)
{
    return recv(fds[0], memory, 10, MSG_WAITALL);
}

static long do_recvfrom(void)
{
    return recvfrom(fds[0], memory, 10, 0, NULL, NULL);
}

static long do_recvfrom_all(void)
{
    return recvfrom(fds[0], memory, 10, MSG_WAITALL, NULL, NULL);
}

static long receive_message(int flags)
{
    struct iovec at[2] = {{memory, 4}, {memory + 4, 6}};
    struct msghdr message = {.msg_iov = at, .msg_iovlen = 2};
    return recvmsg(fds[0], &message, flags);
}

static long do_recvmsg(void)
{
    return receive_message(0);
}

static long do_recvmsg_all(void)
{
    return receive_message(MSG_WAITALL);
}

static long do_recvmmsg(void)
{
    struct mmsghdr messages[6] = {0};
    struct iovec at[6];
    for (int i = 0; i < 6; i++) {
        at[i] = (struct iovec){memory + 10 * i, 10};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &at[i], .msg_iovlen = 1};
    }
    return recvmmsg(fds[0], messages, 6, 0, NULL);
}

static void put_datagrams(void)
{
    for (int i = 0; i < 3; i++)
        send(fds[1], "abc", 3, 0);
}

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

static long do_write(void)
{
    return all_or_part(write(fds[0], memory, MANY));
}

static long do_send(void)
{
    return all_or_part(send(fds[0], memory, MANY, 0));
}

static long do_sendto(void)
{
    return all_or_part(sendto(fds[0], memory, MANY, 0, NULL, 0));
}

static long do_sendmsg(void)
{
    struct iovec at[2] = {{memory, MANY / 3}, {memory + MANY / 3, MANY - MANY / 3}};
    struct msghdr message = {.msg_iov = at, .msg_iovlen = 2};
    return all_or_part(sendmsg(fds[0], &message, 0));
}

static long do_sendmmsg(void)
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

static long do_sendfile(void)
{
    return all_or_part(sendfile(fds[0], fds[2], NULL, MANY));
}

static void prepare_full(void)
{
    prepare_pair_in_time();
    while (send(fds[0], memory, 1000, MSG_DONTWAIT) > 0)
        continue;
}

static long do_send_little(void)
{
    return send(fds[0], memory, 100, 0);
}

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

static long do_accept(void)
{
    fds[2] = accept(fds[0], NULL, NULL);
    return fds[2] < 0 ? -1 : 0;
}

static long do_accept4(void)
{
    fds[2] = accept4(fds[0], NULL, NULL, SOCK_CLOEXEC);
    return fds[2] < 0 ? -1 : 0;
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

static long do_connect(void)
{
    return connect(fds[3], (struct sockaddr *)&address, set_address());
}

static void accept_caller(void)
{
    fds[4] = accept(fds[0], NULL, NULL);
}

static const struct call calls[] = {
    {"read", prepare_pair, do_read, put_byte, 0, false},
    {"read-in-time", prepare_pair_in_time, do_read, NULL, 0, true},
    {"recv", prepare_pair, do_recv, put_byte, 0, false},
    {"recv-in-time", prepare_pair_in_time, do_recv, NULL, 0, true},
    {"recv-all", prepare_part, do_recv_all, put_seven, 0, false},
    {"recv-all-in-time", prepare_part_in_time, do_recv_all, NULL, 0, true},
    {"recvfrom", prepare_pair, do_recvfrom, put_byte, 0, false},
    {"recvfrom-in-time", prepare_pair_in_time, do_recvfrom, NULL, 0, true},
    {"recvfrom-all", prepare_part, do_recvfrom_all, put_seven, 0, false},
    {"recvmsg", prepare_pair, do_recvmsg, put_byte, 0, false},
    {"recvmsg-in-time", prepare_pair_in_time, do_recvmsg, NULL, 0, true},
    {"recvmsg-all", prepare_part, do_recvmsg_all, put_seven, 0, false},
    {"recvmmsg", prepare_datagrams, do_recvmmsg, put_datagrams, 0, false},
    {"write", prepare_pair, do_write, drain, 0, false},
    {"write-in-time", prepare_pair_in_time, do_write, NULL, 0, true},
    {"send", prepare_pair, do_send, drain, 0, false},
    {"send-in-time", prepare_pair_in_time, do_send, NULL, 0, true},
    {"send-full-in-time", prepare_full, do_send_little, NULL, 0, true},
    {"sendto", prepare_pair, do_sendto, drain, 0, false},
    {"sendmsg", prepare_pair, do_sendmsg, drain, 0, false},
    {"sendmmsg", prepare_pair, do_sendmmsg, drain, 0, false},
    {"sendfile", prepare_file, do_sendfile, drain, 0, false},
    {"accept", prepare_listener, do_accept, connect_to_caller, 0, false},
    {"accept-in-time", prepare_listener_in_time, do_accept, NULL, 0, true},
    {"accept4-in-time", prepare_listener_in_time, do_accept4, NULL, 0, true},
    {"connect", prepare_connect, do_connect, accept_caller, 0, false},
    {"connect-in-time", prepare_connect_in_time, do_connect, NULL, 0, true},
};

int main(int count, char **arguments)
{
    return INTERRUPT_ALL(count, arguments, calls);
}
