/* forked_thread MS: main creates a thread, which creates a thread, which forks. The child uses MS of
 * CPU time, creates a thread that uses MS, too, and forks; its child does the same without a thread.
 * Each prints a line with its function, the ns that it used, and its thread's CPU clock in ns.
 */
#include "burn.h"

#include <sys/wait.h>

static uint64_t each;

static void say(const char *function, uint64_t burned)
{
    uint64_t counted = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    dprintf(STDOUT_FILENO, "%s %lu %lu\n", function, (unsigned long)burned, (unsigned long)counted);
}

__attribute__((noinline)) static int wait_for(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

__attribute__((noinline)) static void work_of_grandchild(void)
{
    say(__func__, burn(each));
    burn_unit(); /* no copy of work_of_child */
}

__attribute__((noinline)) static void work_of_child(void)
{
    say(__func__, burn(each));
}

__attribute__((noinline)) static void *thread_of_child(void *argument)
{
    say(__func__, burn(each));
    pid_t child = fork();
    if (child == 0) {
        work_of_grandchild();
        _exit(0);
    }
    if (wait_for(child) != 0)
        _exit(3);
    return argument;
}

__attribute__((noinline)) static void make(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) == 0)
        pthread_join(thread, NULL);
}

__attribute__((noinline)) static void make_in_child(void)
{
    make(thread_of_child);
    burn_unit();
}

__attribute__((noinline)) static void *inner_thread(void *argument)
{
    pid_t child = fork();
    if (child == 0) {
        work_of_child();
        make_in_child();
        exit(0);
    }
    if (wait_for(child) != 0)
        _exit(2);
    return argument;
}

__attribute__((noinline)) static void *outer_thread(void *argument)
{
    make(inner_thread);
    burn_unit();
    return argument;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 1;
    each = (uint64_t)(atof(arguments[1]) * 1e6);
    make(outer_thread);
    return 0;
}
