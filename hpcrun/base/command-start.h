/* What hpcrun's processes that execute the command have in common.
 *
 * Two signals have other actions in them than in the command:
 *
 *     SIGPIPE   ignored: a message to a closed pipe ends nothing
 *     SIGCHLD   the usual one: where the caller ignores it, the kernel would forget how children ended */
#ifndef HPCRUN_BASE_COMMAND_START_H
#define HPCRUN_BASE_COMMAND_START_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

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

/* Why an exec of its file failed with `error`. */
static inline const char *command_problem(int error)
{
    if (error == ENOEXEC)
        return "neither a program nor a script that begins with '#!'; if it is a script, start it by "
               "its interpreter: hpcrun sh FILE";
    return strerror(error);
}

#endif
