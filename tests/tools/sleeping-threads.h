/* Whether threads of this process sleep: what the kernel says in /proc/self/task.
 *
 * Two looks at a thread tell whether it slept from the first to the second: it sleeps at both, and the
 * number of its sleeps is the same. The load of the machine does not matter. */
#ifndef TESTS_TOOLS_SLEEPING_THREADS_H
#define TESTS_TOOLS_SLEEPING_THREADS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A file of the thread, cut to the size of text; "" if it can't be read. */
static inline void read_thread_file(const char *tid, const char *file, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/%s", tid, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);
    text[length > 0 ? length : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Whether it sleeps until another thread wakes it. A supervisor of the process, such as strace or
 * seccomp's, makes threads sleep in any system call. Where the kernel does not tell the call: true. */
static inline bool sleeps_in_futex(const char *tid)
{
    char call[256];
    read_thread_file(tid, "syscall", call, sizeof call);
    return call[0] == '\0' || (call[0] != 'r' && atol(call) == SYS_futex);
}

/* Whether a thread sleeps now. tid: a name in /proc/self/task. *times: number of its sleeps so far. */
static inline bool thread_sleeps(const char *tid, long *times)
{
    char text[4096];
    read_thread_file(tid, "status", text, sizeof text);
    const char *state = strstr(text, "State:\t"), *count = strstr(text, "\nvoluntary_ctxt_switches:\t");
    if (!state || !count)
        return false;
    *times = atol(strchr(count, '\t'));
    return state[strlen("State:\t")] == 'S' && sleeps_in_futex(tid);
}

#endif
