/* What Chromium does in a child: sets the actions of all signals by bare system calls, and closes
 * all descriptors that /proc shows. Then it works, gets a signal, and prints "fine". */
#include "burn.h"

#include <dirent.h>
#include <sys/syscall.h>

/* The kernel's structure, which differs from libc's. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
}

static void fail(const char *what, int which)
{
    printf("%s %d\n", what, which);
    exit(1);
}

static long set(int signal, const struct action *action, struct action *old)
{
    return syscall(SYS_rt_sigaction, signal, action, old, sizeof action->mask);
}

static void set_all_to_defaults(void)
{
    static const struct action by_default;
    struct action now;
    for (int signal = 1; signal <= 64; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP)
            continue;
        if (set(signal, &by_default, NULL) != 0 || set(signal, NULL, &now) != 0 || now.handler)
            fail("signal", signal);
    }
}

static void close_all(void)
{
    DIR *open = opendir("/proc/self/fd");
    for (struct dirent *entry; open && (entry = readdir(open));) {
        int fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(open))
            close(fd);
    }
    if (open)
        closedir(open);
}

int main(void)
{
    struct sigaction action = {.sa_handler = handle}, before;
    struct action now;
    set_all_to_defaults();
    close_all();
    burn(100000000);
    sigaction(SIGUSR1, &action, NULL);
    if (set(SIGUSR1, NULL, &now) != 0 || now.handler != handle)
        fail("handler", SIGUSR1);
    now.handler = SIG_IGN;
    if (set(SIGUSR2, &now, NULL) != 0 || sigaction(SIGUSR2, NULL, &before) != 0 ||
        before.sa_handler != SIG_IGN)
        fail("ignored", SIGUSR2);
    raise(SIGUSR2);
    raise(SIGUSR1);
    if (handled != SIGUSR1)
        fail("not handled", SIGUSR1);
    burn(100000000);
    puts("fine");
    return 0;
}
