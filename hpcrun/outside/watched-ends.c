#include "hpcrun/outside/watched-ends.h"

#include "hpcrun/base/sys.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MAX_AT_ONCE 64

static int ends = -1; /* an epoll */

int process_ends_fd(void)
{
    if (ends < 0)
        ends = epoll_create1(EPOLL_CLOEXEC);
    return ends;
}

int process_end_watch(int pid)
{
    int fd = (int)sys2(SYS_pidfd_open, pid, 0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = pid};
    if (fd < 0 || epoll_ctl(process_ends_fd(), EPOLL_CTL_ADD, fd, &event) == 0)
        return fd;
    int error = errno;
    close(fd);
    return -error;
}

/* Workers may have copies of the descriptor, so closing it would not remove it. */
void process_end_forget(int watched)
{
    if (watched < 0)
        return;
    epoll_ctl(ends, EPOLL_CTL_DEL, watched, NULL);
    close(watched);
}

void process_ends_wait(int milliseconds)
{
    struct pollfd fd = {.fd = ends, .events = POLLIN};
    poll(&fd, 1, milliseconds);
}

void process_ends_take(void (*visit)(int pid))
{
    struct epoll_event events[MAX_AT_ONCE];
    int n;
    do {
        n = epoll_wait(ends, events, MAX_AT_ONCE, 0);
        for (int i = 0; i < n; i++)
            visit(events[i].data.fd);
    } while (n == MAX_AT_ONCE);
}
