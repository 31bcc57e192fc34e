/* forked_thread MS: main creates a thread, that a thread, and that forks. The child uses MS of CPU
 * time, creates a thread that uses MS, too, and forks; so does its child, without a thread. */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t each;

__attribute__((noinline)) static int wait_for(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

__attribute__((noinline)) static void work_of_grandchild(void)
{
    burn(each);
    burn_unit(); /* no tail call, and no copy of work_of_child */
    burn_unit();
}

__attribute__((noinline)) static void work_of_child(void)
{
    burn(each);
    burn_unit();
}

__attribute__((noinline)) static void *thread_of_child(void *argument)
{
    burn(each);
    burn_unit();
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
