/* sandbox HOW: uses the CPU, restricts its system calls, and goes on.
 *   strict   read, write, exit and sigreturn (prctl)
 *   narrow   the calls that it needs itself; any other one kills (syscall, as libseccomp does it)
 *   wide     all but ptrace, which kills (prctl)
 *   sent     any call is answered by SIGSYS, which kills (prctl); later none
 *   ticks    any call, but reading the time stamp counter is forbidden (prctl)
 * A second thread exists before. Prints "fine" at the end; with `sandbox HOW say` also the ns of CPU
 * time that both used for certain. */
#include "burn.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD_NUMBER  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW(which) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, which, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

static void burn_units(void)
{
    for (int i = 0; i < 6000; i++)
        burn_unit();
}

static volatile int running, over; /* the second thread exists; it must end the process */

static void *run(void *argument)
{
    running = 1;
    while (!over)
        burn_unit();
    _exit(0);
    return argument;
}

static long restrict_narrowly(void)
{
    struct sock_filter filter[] = {LOAD_NUMBER, ALLOW(SYS_write), ALLOW(SYS_exit_group),
                                   ALLOW(SYS_rt_sigreturn), ANSWER(SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static long restrict_widely(void)
{
    struct sock_filter filter[] = {LOAD_NUMBER,
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
                                   ANSWER(SECCOMP_RET_KILL_PROCESS), ANSWER(SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static volatile char gate = SYSCALL_DISPATCH_FILTER_ALLOW;

/* Each thread asks for itself. */
static long have_calls_sent(void)
{
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &gate);
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    pthread_t thread;
    const char *how = arguments[1];
    long result = -1;
    pthread_create(&thread, NULL, run, NULL);
    while (!running)
        burn_unit();
    uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    burn_units();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(how, "strict") == 0)
        result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strcmp(how, "narrow") == 0)
        result = restrict_narrowly();
    if (strcmp(how, "wide") == 0)
        result = restrict_widely();
    if (strcmp(how, "sent") == 0)
        result = have_calls_sent();
    if (strcmp(how, "ticks") == 0)
        result = prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    if (result != 0)
        return 3;
    gate = SYSCALL_DISPATCH_FILTER_BLOCK;
    burn_units();
    gate = SYSCALL_DISPATCH_FILTER_ALLOW;
    if (write(1, "fine\n", 5) != 5)
        return 4;
    if (count > 2)
        printf("%lu\n", (unsigned long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before));
    over = strcmp(how, "strict") == 0;
    if (over)
        syscall(SYS_exit, 0); /* of this thread: strict mode knows no other end */
    return 0;
}
