/* Traces a child that uses 300 ms of CPU time, and delivers its real-time signals one step late: the
 * kernel then reports the tracer as their sender. Prints "fine" if the child ends
 * normally. */
#include "burn.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

static int be_traced(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 8;
    raise(SIGSTOP);
    burn(300000000);
    return 7;
}

static void go_on(pid_t child, int how, int signal)
{
    ptrace(how, child, NULL, (long)signal);
}

/* Until the child ends; its status. */
static int trace(pid_t child)
{
    int status, held = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status);
        if (signal >= SIGRTMIN) {
            held = signal;
            go_on(child, PTRACE_SINGLESTEP, 0);
        } else if (signal == SIGTRAP) {
            go_on(child, PTRACE_CONT, held);
            held = 0;
        } else {
            go_on(child, PTRACE_CONT, signal == SIGSTOP ? 0 : signal);
        }
    }
    return status;
}

int main(void)
{
    pid_t child = fork();
    if (child == 0)
        return be_traced();
    int status = trace(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
        puts("fine");
    else
        printf("%#x\n", status);
    return 0;
}
