/* hazards WHAT: uses of signals, processes and threads that a profiler could disturb. Prints "fine" if
 * it works as it does without a profiler; SIGALRM ends a wait that does not end. */
#include "burn.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

static volatile sig_atomic_t handled;

static void count_signal(int number)
{
    (void)number;
    handled++;
}

static bool ended_well(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && status == 0;
}

static void *burn_a_little(void *argument)
{
    burn(5000000);
    return argument;
}

static volatile bool stop;

static void *set_signals(void *argument)
{
    while (!stop)
        signal(SIGUSR1, count_signal);
    return argument;
}

/* Children set signal actions while another thread of the parent sets them all the time. */
static bool fork_and_signals(void)
{
    bool good = true;
    pthread_t thread;
    pthread_create(&thread, NULL, set_signals, NULL);
    for (int i = 0; i < 200 && good; i++) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            signal(SIGUSR2, count_signal);
            _exit(0);
        }
        good = ended_well(child);
    }
    stop = true;
    pthread_join(thread, NULL);
    return good;
}

static sigjmp_buf recovery;

static void recover(int number)
{
    (void)number;
    siglongjmp(recovery, 1);
}

/* The child of a vfork sets actions of its own; the parent's actions must not change. */
static bool vfork_and_signals(void)
{
    struct sigaction now;
    signal(SIGSEGV, recover);
    signal(SIGPIPE, SIG_IGN);
    pid_t child = vfork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    if (!ended_well(child) || sigaction(SIGPIPE, NULL, &now) != 0 || now.sa_handler != SIG_IGN)
        return false;
    if (sigsetjmp(recovery, 1) == 0)
        *(volatile char *)(uintptr_t)sysconf(_SC_PAGESIZE) = 1;
    return true;
}

static int first_by_sigwait(const sigset_t *set)
{
    int number = 0;
    return sigwait(set, &number) == 0 ? number : 0;
}

static int first_by_signalfd(const sigset_t *set)
{
    struct signalfd_siginfo info;
    int fd = signalfd(-1, set, SFD_CLOEXEC);
    return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

/* A thread that waits for all signals gets only the program's. */
static void *send_after_a_while(void *process)
{
    burn(100000000);
    kill(*(pid_t *)process, SIGUSR1);
    return NULL;
}

static bool first_is_ours(int (*first)(const sigset_t *set))
{
    sigset_t all;
    pthread_t thread;
    pid_t self = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&thread, NULL, send_after_a_while, &self);
    int number = first(&all);
    pthread_join(thread, NULL);
    return number == SIGUSR1;
}

/* RLIMIT_FSIZE is 0, so the profiler's files cannot grow either; the program must not notice. */
static bool file_limit(void)
{
    struct rlimit none = {0};
    setrlimit(RLIMIT_FSIZE, &none);
    burn(50000000);
    return true;
}

__attribute__((noinline)) static int descend(int depth)
{
    volatile char here[64];
    here[0] = (char)depth;
    return depth > 0 ? descend(depth - 1) + here[0] : 0;
}

/* The profiler must not take SIGSEGV and SIGBUS from another process for its own faults. */
static bool sent_faults(void)
{
    int pipes[2];
    pid_t self = getpid();
    signal(SIGSEGV, count_signal);
    signal(SIGBUS, count_signal);
    if (pipe(pipes) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        char number;
        close(pipes[1]);
        while (read(pipes[0], &number, 1) == 1)
            kill(self, number);
        _exit(0);
    }
    close(pipes[0]);
    for (int i = 0; i < 8000; i++) {
        int before = handled;
        char number = i % 2 ? SIGSEGV : SIGBUS;
        if (write(pipes[1], &number, 1) != 1)
            return false;
        while (handled == before)
            descend(400);
    }
    close(pipes[1]);
    return ended_well(child);
}

static void burn_in_handler(int number)
{
    volatile char room[3000];
    room[0] = (char)number;
    burn(50000000);
    handled += room[0] == number;
}

#define SMALL_STACK 8192 /* the former value of SIGSTKSZ */

/* A handler on a signal stack that has room for it, but not for two. */
static bool small_signal_stack(void)
{
    static char memory[2 * SMALL_STACK]; /* the lower half is in the way of what goes beyond */
    stack_t stack = {.ss_sp = memory + SMALL_STACK, .ss_size = SMALL_STACK};
    struct sigaction action = {.sa_handler = burn_in_handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return handled == 1;
}

/* Waits until a thread waits in a read: the kernel shows the call's number, 0, and its arguments.
 */
static void await_read(int tid)
{
    char path[64], number[2];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (pread(fd, number, 2, 0) == 2 && memcmp(number, "0 ", 2) != 0)
        sched_yield();
    close(fd);
}

#define INTERRUPTED_READS 4000

struct interrupted {
    pthread_t thread;
    int tid;
    pthread_barrier_t round;
};

static void *interrupt_reads(void *argument)
{
    struct interrupted *reader = argument;
    for (int i = 0; i < INTERRUPTED_READS; i++) {
        pthread_barrier_wait(&reader->round);
        await_read(reader->tid);
        burn_unit(); /* a sample may begin */
        pthread_kill(reader->thread, SIGUSR1);
    }
    return NULL;
}

/* siginterrupt before signal: the handler ends a read, whenever it comes. One signal each, sent
 * when the thread waits in it. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old programs do it */
static bool interrupting_signal(void)
{
    int pipes[2];
    char byte;
    bool good = true;
    pthread_t thread;
    struct interrupted self = {.thread = pthread_self(), .tid = gettid()};
    if (pipe(pipes) != 0 || siginterrupt(SIGUSR1, 1) != 0)
        return false;
    signal(SIGUSR1, count_signal);
    pthread_barrier_init(&self.round, NULL, 2);
    pthread_create(&thread, NULL, interrupt_reads, &self);
    for (int i = 0; i < INTERRUPTED_READS; i++) {
        pthread_barrier_wait(&self.round);
        good = read(pipes[0], &byte, 1) == -1 && good;
    }
    pthread_join(thread, NULL);
    return good && handled == INTERRUPTED_READS;
}

/* Limits descriptors to a low number, below the profiler's own. */
static bool fewer_descriptors(void)
{
    struct rlimit few = {.rlim_cur = 30, .rlim_max = 30};
    setrlimit(RLIMIT_NOFILE, &few);
    burn(50000000);
    pid_t child = fork();
    if (child == 0) {
        burn(50000000);
        _exit(0);
    }
    return ended_well(child);
}

#define VALUES 5

static volatile int received[65][VALUES], received_count[65];

static void receive(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (received_count[number] < VALUES && info->si_pid == getpid())
        received[number][received_count[number]] = info->si_value.sival_int;
    received_count[number]++;
}

static void queue_values(int number)
{
    for (int i = 0; i < VALUES; i++)
        sigqueue(getpid(), number, (union sigval){.sival_int = 100 * number + i});
}

/* Every real-time signal arrives with its values, in order. */
static bool own_signals(void)
{
    struct sigaction action = {.sa_sigaction = receive, .sa_flags = SA_SIGINFO};
    sigset_t all;
    sigfillset(&all);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaction(number, &action, NULL);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int number = SIGRTMAX; number >= SIGRTMIN; number--)
        queue_values(number);
    burn(50000000);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        for (int i = 0; i < VALUES; i++)
            if (received_count[number] != VALUES || received[number][i] != 100 * number + i)
                return false;
    return true;
}

/* The program blocks the real-time signal that hpcrun would choose, polls for it and waits for it. */
static bool waited_signal(void)
{
    int number = SIGRTMAX - 1;
    sigset_t just_this, pending;
    siginfo_t info;
    struct signalfd_siginfo read_info;
    struct timespec now = {0};
    sigemptyset(&just_this);
    sigaddset(&just_this, number);
    sigprocmask(SIG_BLOCK, &just_this, NULL);
    if (sigpending(&pending) != 0 || sigismember(&pending, number))
        return false;
    queue_values(number);
    burn(50000000);
    if (sigpending(&pending) != 0 || !sigismember(&pending, number))
        return false;
    bool good = sigwaitinfo(&just_this, &info) == number && info.si_value.sival_int == 100 * number;
    good = good && sigtimedwait(&just_this, &info, &now) == number &&
           info.si_value.sival_int == 100 * number + 1;
    int fd = signalfd(-1, &just_this, SFD_CLOEXEC);
    return good && read(fd, &read_info, sizeof read_info) == sizeof read_info &&
           read_info.ssi_int == 100 * number + 2;
}

/* All descriptors are taken; threads and processes come and go. */
static bool no_descriptors(void)
{
    struct rlimit few = {.rlim_cur = 200, .rlim_max = 200};
    pthread_t threads[20];
    setrlimit(RLIMIT_NOFILE, &few);
    int first = open("/dev/null", O_RDONLY), last = first;
    for (int fd = first; fd >= 0; fd = open("/dev/null", O_RDONLY))
        last = fd;
    if (errno != EMFILE || first != 3 || last < 100)
        return false;
    for (int i = 0; i < 20; i++)
        if (pthread_create(&threads[i], NULL, burn_a_little, NULL) != 0)
            return false;
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        burn(50000000);
        _exit(0);
    }
    return ended_well(child);
}

/* No signal can be queued any more. */
static bool no_queue(void)
{
    struct rlimit none = {0};
    setrlimit(RLIMIT_SIGPENDING, &none);
    burn(50000000);
    return true;
}

static int io_pipe[2];

static void on_io(int number)
{
    char byte;
    (void)number;
    while (read(io_pipe[0], &byte, 1) == 1)
        handled++;
}

/* Takes SIGIO for what comes through a pipe, and no signal can be queued: those of samples become
 * SIGIO, too. */
static bool own_io(bool queue)
{
    struct rlimit none = {0};
    struct sigaction action = {.sa_handler = on_io, .sa_flags = SA_RESTART};
    int sent = 0;
    sigaction(SIGIO, &action, NULL);
    if (pipe2(io_pipe, O_NONBLOCK) != 0 || fcntl(io_pipe[0], F_SETOWN, getpid()) != 0 ||
        fcntl(io_pipe[0], F_SETFL, O_NONBLOCK | O_ASYNC) != 0)
        return false;
    if (!queue)
        setrlimit(RLIMIT_SIGPENDING, &none);
    for (; sent < 2000; sent++) {
        burn(50000);
        if (write(io_pipe[1], "x", 1) != 1)
            return false;
    }
    return handled == sent;
}

static void *end_at_once(void *argument)
{
    return argument;
}

static void *start_threads(void *argument)
{
    while (!stop) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_at_once, NULL);
        pthread_join(thread, NULL);
        signal(SIGUSR1, count_signal);
    }
    return argument;
}

/* Two threads on one CPU call the same functions; one of them preempts the other at any time, if it may
 * have a real-time priority. */
static bool priorities(void)
{
    struct sched_param high = {.sched_priority = 1};
    struct timespec nap = {.tv_nsec = 20000};
    cpu_set_t one;
    pthread_t thread;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_create(&thread, NULL, start_threads, NULL);
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &high);
    for (int i = 0; i < 8000; i++) {
        signal(SIGUSR2, count_signal);
        nanosleep(&nap, NULL);
    }
    stop = true;
    pthread_join(thread, NULL);
    return true;
}

static bool run(const char *what)
{
    if (strcmp(what, "fork-and-signals") == 0)
        return fork_and_signals();
    if (strcmp(what, "vfork-and-signals") == 0)
        return vfork_and_signals();
    if (strcmp(what, "sigwait") == 0)
        return first_is_ours(first_by_sigwait);
    if (strcmp(what, "signalfd") == 0)
        return first_is_ours(first_by_signalfd);
    if (strcmp(what, "file-limit") == 0)
        return file_limit();
    if (strcmp(what, "sent-faults") == 0)
        return sent_faults();
    if (strcmp(what, "small-signal-stack") == 0)
        return small_signal_stack();
    if (strcmp(what, "siginterrupt") == 0)
        return interrupting_signal();
    if (strcmp(what, "own-signals") == 0)
        return own_signals();
    if (strcmp(what, "waited-signal") == 0)
        return waited_signal();
    if (strcmp(what, "no-descriptors") == 0)
        return no_descriptors();
    if (strcmp(what, "own-io") == 0)
        return own_io(true);
    if (strcmp(what, "own-io-no-queue") == 0)
        return own_io(false);
    if (strcmp(what, "no-queue") == 0)
        return no_queue();
    if (strcmp(what, "priorities") == 0)
        return priorities();
    if (strcmp(what, "fewer-descriptors") == 0)
        return fewer_descriptors();
    return false;
}

int main(int count, char **arguments)
{
    alarm(600);
    if (count != 2 || !run(arguments[1]))
        return 1;
    puts("fine");
    return 0;
}
