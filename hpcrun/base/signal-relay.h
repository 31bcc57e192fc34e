/* A process that waits for a child of it, and passes on to it what it is sent itself. */
#ifndef HPCRUN_BASE_SIGNAL_RELAY_H
#define HPCRUN_BASE_SIGNAL_RELAY_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

static volatile pid_t relay_receiver; /* 0: it has ended */

static inline void relay_pass_on(int signal)
{
    int error = errno;
    if (relay_receiver > 0)
        kill(relay_receiver, signal);
    errno = error;
}

/* From now on; but those that this process ignores. */
static inline void relay_signals(pid_t receiver, const int *signals, size_t n)
{
    struct sigaction action = {.sa_handler = relay_pass_on, .sa_flags = SA_RESTART}, before;
    relay_receiver = receiver;
    for (size_t i = 0; i < n; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

/* Waits for a child. While it is the receiver, it is not reaped: its number can't become another process's. */
static inline int relay_wait(pid_t pid)
{
    siginfo_t info;
    int status = -1;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    if (relay_receiver == pid)
        relay_receiver = 0;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

#endif
