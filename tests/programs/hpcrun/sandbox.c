/* sandbox HOW: uses the CPU, restricts its system calls, and goes on.
 *   strict   read, write, exit and sigreturn (prctl)
 *   narrow   the calls that it needs itself; any other one kills (syscall, as libseccomp does it)
 *   waits    the same and futex: it waits for a mutex that the second thread has, and for that thread's end, in vain
 *   exec     the same, execve and clone3: both fail, so that it goes on
 *   wide     all but ptrace, which kills (prctl)
 *   sends    all but getsockopt, which kills: it writes more to a socket than that takes at once
 *   execs    all but faccessat, which kills: it executes itself, to print "fine"
 *   sent     any call is answered by SIGSYS, which kills (prctl); later none
 *   ticks    any call, but reading the time stamp counter is forbidden (prctl)
 * A second thread exists before. Prints "fine" at the end; with `sandbox HOW say` also the ns of CPU
 * time that both used for certain. */
#include "burn.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

static pthread_t second;

enum { HAS_WAITERS = 2, WAIT_UNITS = 1000, SENT = 4 << 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *argument)
{
    pthread_mutex_lock(&mutex);
    running = 1;
    while (!over && *(volatile int *)&mutex.__data.__lock != HAS_WAITERS)
        burn_unit();
    for (int i = 0; !over && i < WAIT_UNITS; i++)
        burn_unit();
    pthread_mutex_unlock(&mutex);
    while (!over)
        burn_unit();
    _exit(0);
    return argument;
}

static long restrict_narrowly(void)
{
    struct sock_filter filter[] = {LOAD_NUMBER,
                                   ALLOW(SYS_write),
                                   ALLOW(SYS_exit_group),
                                   ALLOW(SYS_rt_sigreturn),
                                   ALLOW(SYS_futex),
                                   ALLOW(SYS_execve),
                                   ALLOW(SYS_clone3),
                                   ANSWER(SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* Any call but this one, which kills. */
static long forbid(unsigned number)
{
    struct sock_filter filter[] = {LOAD_NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                                   ANSWER(SECCOMP_RET_KILL_PROCESS), ANSWER(SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* ---- what it does then ---- */

static int ends[2]; /* of a connection */

static void *take(void *argument)
{
    static char data[1 << 16];
    for (size_t left = SENT; left > 0;) {
        for (int i = 0; i < WAIT_UNITS / 10; i++)
            burn_unit();
        ssize_t size = read(ends[1], data, sizeof data);
        left -= size > 0 ? (size_t)size : left;
    }
    return argument;
}

static bool send_much(void)
{
    static char data[SENT];
    pthread_t taker;
    pthread_create(&taker, NULL, take, NULL);
    for (size_t done = 0; done < SENT;) {
        ssize_t size = write(ends[0], data + done, SENT - done);
        if (size <= 0)
            return false;
        done += (size_t)size;
    }
    return pthread_join(taker, NULL) == 0;
}

static bool wait_for_second(void)
{
    const struct timespec past = {0};
    return pthread_mutex_lock(&mutex) == 0 && pthread_timedjoin_np(second, NULL, &past) == ETIMEDOUT;
}

static bool act(const char *how, char *self)
{
    if (strcmp(how, "waits") == 0)
        return wait_for_second();
    if (strcmp(how, "exec") == 0)
        return execv("/missing", (char *[]){self, NULL}) == -1 && syscall(SYS_clone3, NULL, 0) == -1;
    if (strcmp(how, "sends") == 0)
        return send_much();
    if (strcmp(how, "execs") == 0)
        return execv(self, (char *[]){self, "wide", NULL}) == 0;
    return true;
}

static volatile char gate = SYSCALL_DISPATCH_FILTER_ALLOW;

/* Each thread asks for itself. */
static long have_calls_sent(void)
{
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &gate);
}

int main(int count, char **arguments)
{
    if (count < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 2;
    const char *how = arguments[1];
    long result = -1;
    pthread_create(&second, NULL, run, NULL);
    while (!running)
        burn_unit();
    uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    burn_units();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(how, "strict") == 0)
        result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strcmp(how, "narrow") == 0 || strcmp(how, "waits") == 0 || strcmp(how, "exec") == 0)
        result = restrict_narrowly();
    if (strcmp(how, "wide") == 0)
        result = forbid(SYS_ptrace);
    if (strcmp(how, "sends") == 0)
        result = forbid(SYS_getsockopt);
    if (strcmp(how, "execs") == 0)
        result = forbid(SYS_faccessat);
    if (strcmp(how, "sent") == 0)
        result = have_calls_sent();
    if (strcmp(how, "ticks") == 0)
        result = prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    if (result != 0)
        return 3;
    gate = SYSCALL_DISPATCH_FILTER_BLOCK;
    burn_units();
    gate = SYSCALL_DISPATCH_FILTER_ALLOW;
    if (!act(how, arguments[0]))
        return 5;
    if (write(1, "fine\n", 5) != 5)
        return 4;
    if (count > 2)
        printf("%lu\n", (unsigned long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before));
    over = strcmp(how, "strict") == 0;
    if (over)
        syscall(SYS_exit, 0); /* of this thread: strict mode knows no other end */
    return 0;
}
