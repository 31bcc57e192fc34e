/* bare_forks HOW END MS [bare]: makes a child in the way HOW, which uses MS of CPU time and ends in the
 * way END; waits for it, with `bare` by an inlined system call; and uses MS itself. Prints the child's
 * number, its CPU time in ns, and its exit status.
 *
 * HOW: "fork", "clone", "clone3" (by libc's syscall), "function" (libc's clone, with a stack), "inline"
 * (an inlined fork), "inline-clone"; "share" (libc's clone, the child shares the memory).
 * END: "exit", "_exit", "syscall" (libc's syscall), "bare" (inlined), "thread" (exit, after a thread
 * has used the time), "thread-bare", "exec" (the child executes this program, which uses the time and
 * exits), "vfork" (exit, after a vfork), "waits" (exit, after a region of hpctoolkit.h and a wait for a child of
 * its own, which an inlined system call has made), "return" (only with "function": returns from it).
 *
 * bare_forks threads HOW MS: threads are created and joined all the time, and the main thread makes
 * children that end at once; for MS of time. */
#include "burn.h"

#include "include/hpctoolkit.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STATUS 5

static const char *end_of_child;
static uint64_t each;
static uint64_t *used; /* by the child; shared memory */
static char *self;

static long inlined(long number, long a, long b, long c, long d)
{
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

#pragma weak hpctoolkit_region_start
#pragma weak hpctoolkit_region_stop

/* The child uses the CPU for longer than the shortest wait that is recorded. */
static void wait_for_grandchild(void)
{
    int status = 0;
    if (hpctoolkit_region_start) {
        hpctoolkit_region_start("region");
        hpctoolkit_region_stop("region");
    }
    long pid = inlined(SYS_fork, 0, 0, 0, 0);
    if (pid == 0) {
        burn(each);
        inlined(SYS_exit_group, 0, 0, 0, 0);
    }
    if (waitpid((pid_t)pid, &status, 0) != pid || status != 0)
        exit(1);
}

static void *use(void *argument)
{
    *used = burn(each);
    return argument;
}

static int child(void *argument)
{
    (void)argument;
    pthread_t thread;
    char ms[32];
    if (strcmp(end_of_child, "exec") == 0) {
        snprintf(ms, sizeof ms, "%lu", each / 1000000);
        execl(self, self, "burn", ms, (char *)NULL);
        return 1;
    }
    if (strcmp(end_of_child, "vfork") == 0 && vfork() == 0)
        _exit(0);
    if (strcmp(end_of_child, "waits") == 0)
        wait_for_grandchild();
    if (strncmp(end_of_child, "thread", 6) != 0)
        use(NULL);
    else if (pthread_create(&thread, NULL, use, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    if (strcmp(end_of_child, "_exit") == 0)
        _exit(STATUS);
    if (strcmp(end_of_child, "syscall") == 0)
        syscall(SYS_exit_group, STATUS);
    if (strcmp(end_of_child, "return") == 0)
        return STATUS;
    if (strstr(end_of_child, "bare"))
        inlined(SYS_exit_group, STATUS, 0, 0, 0);
    exit(STATUS);
}

/* In the child this does not return. */
static long make_child(const char *how, int (*run)(void *))
{
    static char stack[1 << 18];
    const struct clone_args args = {.exit_signal = SIGCHLD};
    long pid;
    if (strcmp(how, "function") == 0)
        return clone(run, stack + sizeof stack, SIGCHLD, NULL);
    if (strcmp(how, "share") == 0)
        return clone(run, stack + sizeof stack, SIGCHLD | CLONE_VM, NULL);
    if (strcmp(how, "fork") == 0)
        pid = syscall(SYS_fork);
    else if (strcmp(how, "clone") == 0)
        pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    else if (strcmp(how, "clone3") == 0)
        pid = syscall(SYS_clone3, &args, sizeof args);
    else if (strcmp(how, "inline") == 0)
        pid = inlined(SYS_fork, 0, 0, 0, 0);
    else
        pid = inlined(SYS_clone, SIGCHLD, 0, 0, 0);
    if (pid == 0)
        exit(run(NULL));
    return pid;
}

static void *do_nothing(void *argument)
{
    return argument;
}

static _Atomic bool done;

static void *create_threads(void *argument)
{
    pthread_t thread;
    while (!done)
        if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
            pthread_join(thread, NULL);
    return argument;
}

static int end_at_once(void *argument)
{
    (void)argument;
    _exit(0);
}

static int fork_beside_threads(const char *how, uint64_t ns)
{
    pthread_t threads[2];
    uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns, children = 0;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, create_threads, NULL) != 0)
            return 1;
    for (int status = 0; clock_ns(CLOCK_MONOTONIC) < end || children == 0; children++) {
        long pid = make_child(how, end_at_once);
        if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid || status != 0)
            return 1;
    }
    done = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", children);
    return 0;
}

int main(int count, char **arguments)
{
    int status = 0;
    self = arguments[0];
    if (count == 3 && strcmp(arguments[1], "burn") == 0) {
        burn((uint64_t)atoi(arguments[2]) * 1000000u);
        return STATUS;
    }
    if (count < 4)
        return 2;
    each = (uint64_t)atoi(arguments[3]) * 1000000u;
    if (strcmp(arguments[1], "threads") == 0)
        return fork_beside_threads(arguments[2], each);
    end_of_child = arguments[2];
    used = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (strcmp(end_of_child, "waits") == 0)
        burn(each); /* so that the thread has a tree */
    long pid = make_child(arguments[1], child);
    if (pid < 0)
        return 1;
    if (count > 4)
        inlined(SYS_wait4, pid, (long)&status, 0, 0);
    else
        waitpid((pid_t)pid, &status, 0);
    burn(each);
    printf("%ld %lu %d\n", pid, *used, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
