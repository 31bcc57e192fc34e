/* ends HOW MS: two threads use MS of CPU time each, then the process ends by
 *   exit, return, _exit, _Exit, quick_exit, abort, pthread_exit, raise:N (signal N by raise), fault
 *   (a store to no memory), exec (of /bin/true), alone:HOW (the same without the second thread) */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t each;
static pthread_barrier_t done;

static void *run(void *argument)
{
    burn(each);
    pthread_barrier_wait(&done);
    while (!argument)
        pause();
    return argument;
}

static void *stop(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&done);
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    const char *how = arguments[1];
    int alone = strncmp(how, "alone:", 6) == 0;
    pthread_t thread;
    how += alone ? 6 : 0;
    each = (uint64_t)(atof(arguments[2]) * 1e6);
    pthread_barrier_init(&done, NULL, 2);
    if (!alone)
        pthread_create(&thread, NULL, strcmp(how, "pthread_exit") == 0 ? stop : run, NULL);
    burn(each);
    if (!alone)
        pthread_barrier_wait(&done);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "_Exit") == 0)
        _Exit(5);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(6);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "pthread_exit") == 0)
        pthread_exit(NULL);
    if (strncmp(how, "raise:", 6) == 0)
        raise(atoi(how + 6));
    if (strcmp(how, "fault") == 0)
        *(volatile int *)(uintptr_t)(count - 3) = 1;
    if (strcmp(how, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    return 7;
}
