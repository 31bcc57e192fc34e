#include "hpcrun/launch/outside-session.h"

#include "hpcrun/base/cpu-priority.h"
#include "hpcrun/base/signal-relay.h"
#include "lib/diag.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* A child that loses this process ends its measurement; hpcrun-outside asks for that again. */
static void begin_child(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it has ended before */
        exit(1);
    cpu_priority_leave_session();
    cpu_priority_take();
}

/* Scripts ignore SIGINT in commands that they leave in the background, and the caller may have blocked signals. There,
 * too, kill -INT ends the measurement. */
static void heed_interrupts(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigaction(SIGINT, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void outside_session_begin(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    heed_interrupts();
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        diag_fatal(NULL, "fork: %s", strerror(errno));
    if (child == 0) {
        begin_child(parent);
        return;
    }
    relay_signals(child, signals, sizeof signals / sizeof *signals);
    int status = relay_wait(child);
    if (WIFSIGNALED(status)) /* then it has not printed why it ends */
        diag_fatal(NULL, "the measurement from outside was ended by signal %d: it is incomplete", WTERMSIG(status));
    exit(WEXITSTATUS(status));
}
