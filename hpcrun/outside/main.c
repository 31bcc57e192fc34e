/* hpcrun-outside: measures processes that libhpcrun.so is not loaded into. hpcrun, the launcher, executes
 * it with the environment of a preloaded run (config/run-config.h):
 *
 *     hpcrun-outside PERSONALITY SECONDS PID,...
 *     hpcrun-outside PERSONALITY SECONDS run FILE COMMAND [ARGUMENT...]
 *     hpcrun-outside check [PID,...]    only whether it may; prints why not
 *
 * PERSONALITY is that of the command, as a number (personality(2)). This program has another one, so that
 * the kernel puts its libraries at addresses where a measured process has nothing (module-image.h).
 * SECONDS is 0 to measure to the end.
 *
 * This process only waits; each measured process has a worker. The command is a child, too, with the
 * terminal and the signals that it has without hpcrun. */
#include "hpcrun/outside/outside-worker.h"

#include "hpcrun/base/program-file.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/process/process.h"
#include "lib/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 256
#define NOT_MEASURED  125 /* exit status of the child if its command is not executed */

static struct {
    unsigned long personality; /* of the command */
    double seconds;
    char *self, **arguments;
} outside;

/* ---- workers ---- */

/* Becomes the worker of the same process again: it has another program now. */
static _Noreturn void measure_next_image(int pid)
{
    char number[16], seconds[32];
    snprintf(number, sizeof number, "%d", pid);
    snprintf(seconds, sizeof seconds, "%.3f", outside.seconds);
    char *const arguments[] = {
        outside.arguments[0], outside.arguments[1], seconds, number, "worker", NULL};
    execv("/proc/self/exe", arguments);
    diag_fatal("/proc/self/exe", "%s", strerror(errno));
}

static _Noreturn void work(const struct outside_work *task)
{
    uint64_t began = sys_clock(CLOCK_MONOTONIC);
    enum outside_end end = outside_measure(task);
    double took = (double)(sys_clock(CLOCK_MONOTONIC) - began) / 1e9;
    if (outside.seconds > 0)
        outside.seconds = outside.seconds - took > 0.001 ? outside.seconds - took : 0.001;
    if (end == OUTSIDE_EXEC)
        measure_next_image(task->pid);
    exit(end == OUTSIDE_ENDED ? 0 : 1);
}

/* A worker that loses this process ends its measurement. */
static pid_t start_worker(const struct outside_work *task)
{
    pid_t pid = fork();
    if (pid < 0)
        diag_fatal(NULL, "fork: %s", strerror(errno));
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    work(task);
}

/* ---- signals ---- */

static volatile pid_t receivers[MAX_PROCESSES]; /* 0: it has ended */
static volatile sig_atomic_t receiver_count;

static void pass_on(int signal)
{
    int error = errno;
    for (sig_atomic_t i = 0; i < receiver_count; i++)
        if (receivers[i] > 0)
            kill(receivers[i], signal);
    errno = error;
}

static void pass_on_signals(const int *signals, size_t n)
{
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART}, before;
    for (size_t i = 0; i < n; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

/* Waits for a child. While it is a receiver, it is not reaped: its number can't become another process's. */
static int wait_for(pid_t pid)
{
    siginfo_t info;
    int status = -1;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    for (sig_atomic_t i = 0; i < receiver_count; i++)
        if (receivers[i] == pid)
            receivers[i] = 0;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Waits for a worker. Says so if it was killed: then it has not printed why it ends. */
static bool worker_is_done(pid_t worker)
{
    int status = wait_for(worker);
    if (WIFSIGNALED(status))
        diag_error(NULL, "the measurement from outside was ended by signal %d: it is incomplete",
                   WTERMSIG(status));
    return status == 0;
}

/* ---- processes that run ---- */

static int parse_pids(const char *text, int pids[MAX_PROCESSES])
{
    int n = 0;
    for (char *end; *text && n < MAX_PROCESSES; text = end + (*end == ',')) {
        pids[n++] = (int)strtol(text, &end, 10);
        if (end == text)
            diag_fatal(text, "not a number of a process");
    }
    if (*text)
        diag_fatal(NULL, "more than %d processes", MAX_PROCESSES);
    return n;
}

static int measure_running(const char *text)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    int pids[MAX_PROCESSES], n = parse_pids(text, pids), failures = 0;
    for (int i = 0; i < n; i++)
        receivers[i] =
            start_worker(&(struct outside_work){.pid = pids[i], .seconds = outside.seconds});
    receiver_count = n;
    pass_on_signals(signals, sizeof signals / sizeof *signals);
    for (int i = 0; i < n; i++)
        failures += !worker_is_done(receivers[i]);
    return failures ? 1 : 0;
}

/* Of a command: whether this process may sample itself. */
static int check(const char *text)
{
    int pids[MAX_PROCESSES], n = parse_pids(text, pids);
    for (int i = 0; i < n; i++)
        if (!measured_may_look(pids[i]) || !outside_may_sample(pids[i]))
            return 1;
    return n > 0 || outside_may_sample(getpid()) ? 0 : 1;
}

/* ---- a command ---- */

static void forget_environment(void)
{
    static const char *const names[] = {CONFIG_DIR,   CONFIG_EVENTS,  CONFIG_OPTIONS, CONFIG_SIGNAL,
                                        CONFIG_PID,   CONFIG_AGENTS,  CONFIG_CORES,   CONFIG_OWNER,
                                        CONFIG_TRACE, CONFIG_FILTERS, CONFIG_TASK_CONTEXTS};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

/* The child: waits until it is sampled, and executes the command. */
static _Noreturn void become_command(int go, int failure, const char *file, char **command)
{
    char byte;
    if (read(go, &byte, 1) != 1)
        _exit(NOT_MEASURED);
    forget_environment();
    personality(outside.personality);
    execv(file, command);
    int error = errno;
    if (write(failure, &error, sizeof error) < 0)
        error = 0;
    _exit(NOT_MEASURED);
}

/* Ends as the command did. */
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(WTERMSIG(status), &usual, NULL);
    kill(getpid(), WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static void ignore(int signal)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigaction(signal, &action, NULL);
}

/* The command's end is looked at only when its worker is done: until then /proc shows how it ended. */
static int wait_for_command(pid_t command, pid_t worker, int failure, const char *file)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    int error;
    receivers[0] = command;
    receiver_count = 1;
    pass_on_signals(signals, sizeof signals / sizeof *signals);
    bool is_executed = read(failure, &error, sizeof error) != sizeof error;
    bool is_measured = worker_is_done(worker);
    int status = wait_for(command);
    if (!is_executed) {
        diag_error(file, "%s", strerror(error));
        return error == ENOENT ? 127 : 126;
    }
    bool is_refused =
        WIFEXITED(status) && WEXITSTATUS(status) == NOT_MEASURED && !is_measured;
    return is_refused ? 1 : end_as(status);
}

static bool gives_rights(const char *file)
{
    enum unmeasured why = program_file_check_at(AT_FDCWD, file, true);
    return why == UNMEASURED_SETUID || why == UNMEASURED_SETGID;
}

static int measure_command(const char *file, char **command)
{
    int go[2], failure[2];
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0)
        diag_fatal(NULL, "pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0)
        diag_fatal(NULL, "fork: %s", strerror(errno));
    if (child == 0) {
        close(go[1]);
        become_command(go[0], failure[1], file, command);
    }
    close(failure[1]);
    close(go[0]);
    ignore(SIGINT); /* the terminal sends these to the command, too */
    ignore(SIGQUIT);
    pid_t worker = start_worker(&(struct outside_work){.pid = child,
                                                       .command = command,
                                                       .gains_rights = gives_rights(file),
                                                       .go = go[1],
                                                       .seconds = outside.seconds});
    close(go[1]);
    return wait_for_command(child, worker, failure[0], file);
}

int main(int count, char **arguments)
{
    diag_init("hpcrun");
    if (count == 3 && strcmp(arguments[1], "check") == 0)
        return check(arguments[2]);
    if (count < 4 || !config_read(&process.config, environ))
        diag_fatal(NULL, "hpcrun-outside is a part of hpcrun: use hpcrun -p or hpcrun --outside");
    outside.arguments = arguments;
    outside.personality = strtoul(arguments[1], NULL, 0);
    outside.seconds = strtod(arguments[2], NULL);
    if (strcmp(arguments[3], "run") == 0 && count > 5)
        return measure_command(arguments[4], arguments + 5);
    if (count > 4)
        work(&(struct outside_work){.pid = atoi(arguments[3]), .seconds = outside.seconds});
    return measure_running(arguments[3]);
}
