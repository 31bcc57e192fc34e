#include "viewer-tui/terminal/window-changes.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t has_changed;
static struct sigaction of_ncurses;
static sigset_t mask; /* of the wait: without the signal */

static void on_change(int signal)
{
    has_changed = 1;
    if (of_ncurses.sa_handler != SIG_DFL && of_ncurses.sa_handler != SIG_IGN)
        of_ncurses.sa_handler(signal);
}

static void set_blocked(int how, sigset_t *before)
{
    sigset_t change;
    sigemptyset(&change);
    sigaddset(&change, SIGWINCH);
    sigprocmask(how, &change, before);
}

void window_changes_watch(void)
{
    struct sigaction action = {.sa_handler = on_change}, before;
    sigaction(SIGWINCH, &action, &before);
    if (before.sa_handler != on_change)
        of_ncurses = before;
    set_blocked(SIG_BLOCK, &mask);
    sigdelset(&mask, SIGWINCH);
}

void window_changes_forget(void)
{
    set_blocked(SIG_UNBLOCK, NULL);
}

void window_changes_wait(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    ppoll(&input, 1, NULL, &mask);
}

bool window_changes_take(void)
{
    bool taken = has_changed;
    has_changed = 0;
    return taken;
}
