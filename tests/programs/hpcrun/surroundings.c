/* Prints what a program can observe of its environment, one line each: the number of its first
 * descriptor, the descriptors that it can close, signal actions and masks, the thread's name. A
 * profiler must not change any line. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void count_signal(int signal)
{
    seen += signal;
}

static void count_info(int signal, siginfo_t *info, void *context)
{
    (void)context;
    seen += signal + (info->si_pid == getpid());
}

static void show_actions(void)
{
    for (int signal = 1; signal < SIGRTMAX; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) == 0)
            printf("%d:%d:%x ", signal, action.sa_handler == SIG_DFL, (unsigned)action.sa_flags);
    }
    printf("\n");
}

static void try_handlers(int number)
{
    struct sigaction plain = {.sa_handler = count_signal, .sa_flags = SA_RESETHAND};
    struct sigaction with_info = {.sa_sigaction = count_info, .sa_flags = SA_SIGINFO}, old;
    seen = 0;
    sigaction(number, &plain, NULL);
    raise(number);
    sigaction(number, NULL, &old);
    printf("%d after one: %d, default again %d\n", number, (int)seen, old.sa_handler == SIG_DFL);
    sigaction(number, &with_info, NULL);
    raise(number);
    raise(number);
    printf("%d after three: %d\n", number, (int)seen);
    signal(number, SIG_IGN);
    raise(number);
    printf("%d previous was ignore: %d\n", number, signal(number, SIG_DFL) == SIG_IGN);
}

static void show_masks(void)
{
    sigset_t all, now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    printf("blocked TERM %d, RTMIN %d\n", sigismember(&now, SIGTERM), sigismember(&now, SIGRTMIN));
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

int main(void)
{
    char name[16];
    printf("first descriptor %d\n", open("/dev/null", O_RDONLY));
    show_actions();
    int tried[] = {SIGUSR1, SIGTERM, SIGSEGV, SIGRTMIN + 3, SIGRTMAX - 1};
    for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++)
        try_handlers(tried[i]);
    show_masks();
    prctl(PR_GET_NAME, name);
    printf("name %s\n", name);
    int open_before = 0;
    for (int fd = 3; fd < 20000; fd++)
        open_before += close(fd) == 0;
    printf("closed %d\n", open_before);
    closefrom(3);
    printf("after closefrom %d, first %d\n", close(5), open("/dev/null", O_RDONLY));
    printf("dup2 to 255 %d\n", dup2(1, 255) == 255);
    return 0;
}
