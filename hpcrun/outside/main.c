/* hpcrun-outside: measures processes that libhpcrun.so is not loaded into. hpcrun, the launcher, executes
 * it with the environment of a preloaded run (config/run-config.h):
 *
 *     hpcrun-outside PERSONALITY SECONDS:BYTES PROCESSES             given-processes.h
 *     hpcrun-outside PERSONALITY SECONDS:BYTES run FILE COMMAND [ARGUMENT...]
 *     hpcrun-outside PERSONALITY SECONDS:BYTES all
 *     hpcrun-outside check all|[PROCESSES]          only whether it may; prints why not
 *
 * PERSONALITY is that of the command, as a number (personality(2)). This program has another one, so that
 * the kernel puts its libraries at addresses where a measured process has nothing (module-image.h).
 * SECONDS is 0 to measure to the end; BYTES is the most memory to use.
 *
 * It measures processes that run itself, and hpcrun waits for it. If it runs a command, it only waits: a child of it,
 * the reader, measures, and the command is a child, too, with the terminal and the signals that it has without
 * hpcrun. */
#include "hpcrun/outside/outside-reader.h"

#include "hpcrun/base/command-start.h"
#include "hpcrun/base/program-file.h"
#include "hpcrun/base/signal-relay.h"
#include "hpcrun/outside/given-processes.h"
#include "hpcrun/outside/perf-rights.h"
#include "hpcrun/process/process.h"
#include "lib/diag.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOT_MEASURED  125 /* exit status of the child if its command is not executed */

static struct {
    unsigned long personality; /* of the command */
    struct command_actions actions;
    double seconds;
    uint64_t memory;
} outside;

/* A reader that loses this process ends its measurement. */
static pid_t start_reader(const struct outside_work *work)
{
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        diag_fatal(NULL, "fork: %s", strerror(errno));
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it has ended before */
        exit(1);
    exit(outside_read(work));
}

/* Waits for the reader. Says so if it was killed: then it has not printed why it ends. */
static bool reader_is_done(pid_t reader)
{
    int status = relay_wait(reader);
    if (WIFSIGNALED(status))
        diag_error(NULL, "the measurement from outside was ended by signal %d: it is incomplete",
                   WTERMSIG(status));
    return status == 0;
}

/* ---- processes that run ---- */

#define ALL "all"

static int measure_running(const char *text)
{
    bool is_all = strcmp(text, ALL) == 0;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* an exec that gives rights (setcap) ends the one that hpcrun has asked for */
    return outside_read(&(struct outside_work){
        .is_all = is_all, .given = given_parse(is_all ? "" : text), .seconds = outside.seconds,
        .memory = outside.memory});
}

/* Of a command: whether this process may sample itself. */
static int check(const char *text)
{
    if (strcmp(text, ALL) == 0)
        return perf_rights_check(-1) ? 0 : 1;
    struct given_processes given = given_parse(text);
    bool may = given.count > 0 ? given_open(&given, NULL) : perf_rights_check(getpid());
    free(given.pids);
    return may ? 0 : 1;
}

/* ---- a command ---- */

static void forget_environment(void)
{
    static const char *const names[] = {CONFIG_DIR,   CONFIG_EVENTS,  CONFIG_OPTIONS, CONFIG_SIGNAL,
                                        CONFIG_PID,   CONFIG_AGENTS,  CONFIG_CORES,   CONFIG_OWNER,
                                        CONFIG_TRACE, CONFIG_FILTERS, CONFIG_TASK_CONTEXTS, CONFIG_CHILDREN};
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
    command_actions_restore(&outside.actions);
    personality(outside.personality);
    execv(file, command);
    int error = errno;
    if (write(failure, &error, sizeof error) < 0)
        error = 0;
    _exit(NOT_MEASURED);
}

/* Ends as the command did, without a core file: it would replace that of the command. */
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    struct sigaction usual = {.sa_handler = SIG_DFL};
    prctl(PR_SET_DUMPABLE, 0);
    sigaction(WTERMSIG(status), &usual, NULL);
    kill(getpid(), WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static void ignore(int signal)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigaction(signal, &action, NULL);
}

/* The command's end is looked at only when the reader is done: until then /proc shows how it ended. */
static int wait_for_command(pid_t command, pid_t reader, int failure, const char *file)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    int error;
    relay_signals(command, signals, sizeof signals / sizeof *signals);
    bool is_executed = read(failure, &error, sizeof error) != sizeof error;
    bool is_measured = reader_is_done(reader);
    int status = relay_wait(command);
    if (!is_executed) {
        diag_error(file, "%s", command_problem(error));
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
    pid_t reader = start_reader(&(struct outside_work){.given = {.pids = &child, .count = 1, .asked = 1},
                                                       .command = command,
                                                       .gains_rights = gives_rights(file),
                                                       .go = go[1],
                                                       .seconds = outside.seconds,
                                                       .memory = outside.memory});
    close(go[1]);
    return wait_for_command(child, reader, failure[0], file);
}

int main(int count, char **arguments)
{
    diag_init("hpcrun");
    if (count == 3 && strcmp(arguments[1], "check") == 0)
        return check(arguments[2]);
    if (count < 4 || !config_read(&process.config, environ))
        diag_fatal(NULL, "hpcrun-outside is a part of hpcrun: use hpcrun -p or hpcrun --outside");
    outside.personality = strtoul(arguments[1], NULL, 0);
    char *end;
    outside.seconds = strtod(arguments[2], &end);
    outside.memory = *end ? strtoull(end + 1, NULL, 10) : 0;
    outside.actions = command_actions_replace();
    if (strcmp(arguments[3], "run") == 0 && count > 5)
        return measure_command(arguments[4], arguments + 5);
    return measure_running(arguments[3]);
}
