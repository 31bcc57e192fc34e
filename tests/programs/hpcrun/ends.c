/* ends HOW MS [LEDGER]: two threads use MS of CPU time each, then the process ends by
 *   exit, return, _exit, _Exit, quick_exit, abort, pthread_exit, raise:N (signal N by raise),
 *   kill:N (by kill), fault (a store to unmapped memory), exec (of /bin/true), fork (a child, which
 *   uses MS, too, then exit), vfork (a child that becomes /bin/true, then MS more, then exit),
 *   alone:HOW (without the second thread), thread:HOW (the second thread ends the process).
 * Just before the end the threads note in LEDGER the time that they used. */
#include "mapped-ledger.h"

#include <sys/wait.h>

static uint64_t each;
static pthread_barrier_t done;

static void burn_and_note(void)
{
    uint64_t burned = burn(each);
    if (ledger)
        ledger_note(burned);
}

static void end_after(pid_t child)
{
    int status;
    exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 8);
}

static void end_by_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        burn_and_note();
        exit(0);
    }
    end_after(child);
}

static void end_by_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
    }
    burn_and_note();
    end_after(child);
}

static void go_on(void)
{
    const struct timespec nap = {.tv_nsec = (long)(3 * each)};
    for (;;) {
        burn_and_note();
        nanosleep(&nap, NULL);
    }
}

/* Ends the process; returns for "return". */
static void end(const char *how)
{
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
    if (strncmp(how, "kill:", 5) == 0)
        kill(getpid(), atoi(how + 5));
    if (strcmp(how, "fault") == 0)
        *(volatile int *)(how - how) = 1;
    if (strcmp(how, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(how, "fork") == 0)
        end_by_fork();
    if (strcmp(how, "vfork") == 0)
        end_by_vfork();
    if (strcmp(how, "none") == 0)
        go_on();
}

static void wait_for_end(void)
{
    for (;;)
        pause();
}

static void *run(void *how)
{
    burn_and_note();
    pthread_barrier_wait(&done);
    if (how)
        end(how);
    wait_for_end();
    return NULL;
}

static void *stop(void *argument)
{
    burn_and_note();
    pthread_barrier_wait(&done);
    return argument;
}

/* The prefix's end, or NULL. */
static const char *after(const char *prefix, const char *text)
{
    size_t length = strlen(prefix);
    return strncmp(prefix, text, length) == 0 ? text + length : NULL;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    if (count > 3)
        ledger_open(arguments[3]);
    const char *alone = after("alone:", arguments[1]), *by_thread = after("thread:", arguments[1]);
    const char *how = alone ? alone : by_thread ? by_thread : arguments[1];
    pthread_t thread;
    each = (uint64_t)(atof(arguments[2]) * 1e6);
    pthread_barrier_init(&done, NULL, 2);
    if (!alone)
        pthread_create(&thread, NULL, strcmp(how, "pthread_exit") == 0 ? stop : run,
                       (void *)by_thread);
    burn_and_note();
    if (!alone)
        pthread_barrier_wait(&done);
    if (by_thread)
        wait_for_end();
    end(how);
    return 7;
}
