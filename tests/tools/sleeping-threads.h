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
#include <unistd.h>

/* Whether a thread sleeps now. tid: a name in /proc/self/task. *times: number of its sleeps so far. */
static inline bool thread_sleeps(const char *tid, long *times)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    const char *state = strstr(text, "State:\t"), *count = strstr(text, "\nvoluntary_ctxt_switches:\t");
    if (!state || !count)
        return false;
    *times = atol(strchr(count, '\t'));
    return state[strlen("State:\t")] == 'S';
}

#endif
