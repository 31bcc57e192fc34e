/* Two signals have other actions in hpcrun's own processes than in the command that these execute or start:
 *
 *     SIGPIPE   ignored: a message to a closed pipe ends nothing
 *     SIGCHLD   the usual one: where the caller ignores it, the kernel would forget how children ended */
#ifndef HPCRUN_BASE_COMMAND_ACTIONS_H
#define HPCRUN_BASE_COMMAND_ACTIONS_H

#include <signal.h>
#include <stddef.h>

/* The actions that the command gets. */
struct command_actions {
    struct sigaction broken_pipe, end_of_child;
};

static inline struct command_actions command_actions_replace(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    struct command_actions before;
    sigaction(SIGPIPE, &ignore, &before.broken_pipe);
    sigaction(SIGCHLD, &usual, &before.end_of_child);
    return before;
}

static inline void command_actions_restore(const struct command_actions *before)
{
    sigaction(SIGPIPE, &before->broken_pipe, NULL);
    sigaction(SIGCHLD, &before->end_of_child, NULL);
}

#endif
