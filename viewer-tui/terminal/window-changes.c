#include "viewer-tui/terminal/window-changes.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t has_changed;
static struct sigaction of_ncurses;

static void on_change(int signal)
{
    has_changed = 1;
    if (of_ncurses.sa_handler != SIG_DFL && of_ncurses.sa_handler != SIG_IGN)
        of_ncurses.sa_handler(signal);
}

void window_changes_watch(void)
{
    struct sigaction action = {.sa_handler = on_change};
    sigaction(SIGWINCH, &action, &of_ncurses);
}

/* The signal is blocked between the look and the wait, so that none is missed there. Not longer:
 * ncurses reads the rest of a mouse event without a time limit, and only a signal interrupts it. */
void window_changes_wait(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t change, before;
    sigemptyset(&change);
    sigaddset(&change, SIGWINCH);
    sigprocmask(SIG_BLOCK, &change, &before);
    if (!has_changed)
        ppoll(&input, 1, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

bool window_changes_take(void)
{
    bool taken = has_changed;
    has_changed = 0;
    return taken;
}
