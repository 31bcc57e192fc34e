#include "hpcrun/launch/set-runner.h"

#include "hpcrun/launch/target.h"
#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/run-set.h"
#include "lib/safe-output.h"
#include "lib/sanitized-text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SERIAL 0 /* workers of the baseline */
#define PLACE  "{P}"

/* What runtimes read their number of workers from: minicilk, Cilk Plus and OpenCilk, OpenMP. */
static const char *const variables[] = {"MINICILK_WORKERS", "CILK_NWORKERS", "OMP_NUM_THREADS"};

struct set_runner {
    const struct options *options;
    command_starter *start;
    const void *context; /* of `start` */
    const char *folder;
    struct run_set set;
    unsigned number, all, failed; /* runs so far, in all, without success */
};

/* ---- signals ---- */

static volatile sig_atomic_t stopped_by, child;

/* A terminal sends SIGINT to the child, too. */
static void stop(int signal)
{
    stopped_by = signal;
    if (child > 0 && signal != SIGINT)
        kill((pid_t)child, signal);
}

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};

static void catch_signals(sigset_t *caught)
{
    const struct sigaction action = {.sa_handler = stop};
    sigemptyset(caught);
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++) {
        struct sigaction before;
        sigaction(stopping[i], NULL, &before);
        if (before.sa_handler == SIG_IGN)
            continue;
        sigaction(stopping[i], &action, NULL);
        sigaddset(caught, stopping[i]);
    }
}

/* ---- the command ---- */

/* The text with a number in place of each "{P}"; the caller frees. */
static char *with_workers(const char *text, unsigned workers)
{
    char *done = mem_strdup(""), *next;
    for (const char *at; (at = strstr(text, PLACE)); text = at + strlen(PLACE)) {
        next = mem_printf("%s%.*s%u", done, (int)(at - text), text, workers);
        free(done);
        done = next;
    }
    next = mem_printf("%s%s", done, text);
    free(done);
    return next;
}

/* The command of a run. Lives until the process ends. */
static char **command_of(const struct options *options, unsigned workers)
{
    VEC(char *) command = {0};
    if (workers == SERIAL) {
        vec_push(&command, mem_strdup("/bin/sh"));
        vec_push(&command, mem_strdup("-c"));
        vec_push(&command, mem_strdup(options->serial));
    }
    for (char **at = options->command; workers != SERIAL && *at; at++)
        vec_push(&command, with_workers(*at, workers));
    vec_push(&command, NULL);
    return command.at;
}

static void set_workers(unsigned workers)
{
    char text[16];
    snprintf(text, sizeof text, "%u", workers);
    for (size_t i = 0; workers != SERIAL && i < sizeof variables / sizeof *variables; i++)
        setenv(variables[i], text, 1);
}

/* Every run reads the same: nothing. */
static void close_input(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
}

/* ---- one run ---- */

/* "4 workers, repeat 2" */
static char *describe(unsigned workers, unsigned repeat)
{
    if (workers == SERIAL)
        return mem_printf("serial, repeat %u", repeat);
    const char *plural = workers == 1 ? "" : "s";
    if (repeat == WORK_SPAN_REPEAT)
        return mem_printf("%u worker%s, work and span", workers, plural);
    return mem_printf("%u worker%s, repeat %u", workers, plural, repeat);
}

/* A name that the set does not have: a run that was interrupted or failed leaves its directory. */
static char *new_directory(const struct set_runner *runner, unsigned workers, unsigned repeat)
{
    const char *folder = runner->folder;
    for (unsigned attempt = 1;; attempt++) {
        char again[16] = "", which[24] = "serial", what[24] = "work-span";
        if (attempt > 1)
            snprintf(again, sizeof again, "-%u", attempt);
        if (workers != SERIAL)
            snprintf(which, sizeof which, "workers-%u", workers);
        if (repeat != WORK_SPAN_REPEAT)
            snprintf(what, sizeof what, "repeat-%u", repeat);
        char *name = mem_printf("%s-%s%s", which, what, again);
        char *path = mem_printf("%s/%s", folder, name);
        bool exists = access(path, F_OK) == 0;
        free(path);
        if (!exists)
            return name;
        free(name);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Starts the command in a child process; its pid. */
static pid_t start_child(const struct set_runner *runner, const struct set_run *run,
                         const sigset_t *caught)
{
    sigset_t before;
    sigprocmask(SIG_BLOCK, caught, &before);
    pid_t pid = fork();
    if (pid < 0)
        diag_fatal(NULL, "fork: %s", strerror(errno));
    if (pid > 0) {
        child = pid;
        sigprocmask(SIG_SETMASK, &before, NULL);
        return pid;
    }
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++)
        if (sigismember(caught, stopping[i]))
            signal(stopping[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    set_workers(run->workers);
    close_input();
    char *output = mem_printf("%s/%s", runner->folder, run->directory);
    runner->start(runner->context, command_of(runner->options, run->workers), output,
                  run->repeat == WORK_SPAN_REPEAT);
    _exit(1);
}

/* The exit status, 128 + N for signal N. */
static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void report(struct set_runner *runner, const struct set_run *run)
{
    char *what = describe(run->workers, run->repeat);
    if (run->status == 0)
        diag_note(runner->folder, "run %u of %u: %s: %.3f s", runner->number, runner->all, what,
                  run->wall);
    else if (run->status > 128)
        diag_error(runner->folder, "run %u of %u: %s: ended by signal %d; this run is not used",
                   runner->number, runner->all, what, run->status - 128);
    else
        diag_error(runner->folder, "run %u of %u: %s: exit status %d; this run is not used",
                   runner->number, runner->all, what, run->status);
    runner->failed += run->status != 0;
    free(what);
}

static void run_once(struct set_runner *runner, unsigned workers, unsigned repeat,
                     const sigset_t *caught)
{
    const struct set_run *before = run_set_find(&runner->set, workers, repeat);
    char *cause;
    if (stopped_by)
        return;
    runner->number++;
    if (before && before->status == 0)
        return;
    struct set_run run = {.workers = workers, .repeat = repeat};
    run.directory = new_directory(runner, workers, repeat);
    double begin = seconds();
    run.status = wait_for(start_child(runner, &run, caught));
    run.wall = seconds() - begin;
    if (stopped_by && run.status != 0) {
        free(run.directory);
        return;
    }
    report(runner, &run);
    run_set_add(&runner->set, run);
    if (!run_set_write(&runner->set, runner->folder, &cause))
        diag_fatal(NULL, "%s", cause);
}

/* ---- the set ---- */

static char *join(char *const *words)
{
    char *line = mem_strdup(*words), *next;
    while (*++words) {
        next = mem_printf("%s %s", line, *words);
        free(line);
        line = next;
    }
    next = printable_text(line);
    free(line);
    return next;
}

static bool is_same(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* Makes the directory, or reads what it has: runs of the same command. It stays open and locked, so
 * that no other hpcrun adds runs at the same time. Some file systems have no locks. */
static void open_set(struct set_runner *runner)
{
    const struct options *options = runner->options;
    char *cause, *command = join(options->command);
    char *serial = options->serial ? printable_text(options->serial) : NULL;
    if (mkdir(runner->folder, own_directory_mode(options->shared)) != 0 && errno != EEXIST)
        diag_fatal(runner->folder, "can't make the directory of the set: %s", strerror(errno));
    int directory = own_directory_open(runner->folder, &cause);
    if (directory < 0)
        diag_fatal(runner->folder, "%s", cause);
    if (flock(directory, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        diag_fatal(runner->folder, "another hpcrun is adding runs to this set");
    if (run_set_exists(runner->folder)) {
        if (!run_set_read(&runner->set, runner->folder, &cause))
            diag_fatal(runner->folder, "%s", cause);
        if (!is_same(runner->set.command, command))
            diag_fatal(runner->folder, "is a set of another command: %s", runner->set.command);
        if (runner->set.serial && serial && !is_same(runner->set.serial, serial))
            diag_fatal(runner->folder, "has another serial baseline: %s", runner->set.serial);
    } else if (!own_directory_is_empty(directory)) {
        diag_fatal(runner->folder, "exists, and is neither empty nor a set of runs");
    }
    if (!runner->set.serial)
        runner->set.serial = serial;
    free(runner->set.command);
    runner->set.command = command;
}

static unsigned fewest_workers(const struct options *options)
{
    unsigned fewest = options->workers[0];
    for (unsigned i = 1; i < options->worker_count; i++)
        fewest = options->workers[i] < fewest ? options->workers[i] : fewest;
    return fewest;
}

static void check_commands(const struct options *options)
{
    for (unsigned i = 0; i < options->worker_count; i++) {
        char *path = target_find(command_of(options, options->workers[i])[0]);
        target_check(path);
        free(path);
    }
}

/* One repeat: all numbers of workers, and the baseline after them; every other time backwards, so
 * that a machine that becomes slower or faster favors none of them. */
static void run_round(struct set_runner *runner, unsigned repeat, const sigset_t *caught)
{
    const struct options *options = runner->options;
    unsigned n = options->worker_count + (options->serial != NULL);
    for (unsigned i = 0; i < n; i++) {
        unsigned at = repeat % 2 ? i : n - 1 - i;
        run_once(runner, at < options->worker_count ? options->workers[at] : SERIAL, repeat,
                 caught);
    }
}

int set_run_all(const struct options *options, command_starter *start, const void *context)
{
    struct set_runner runner = {
        .options = options, .start = start, .context = context, .folder = options->output};
    sigset_t caught;
    check_commands(options);
    open_set(&runner);
    catch_signals(&caught);
    runner.all = options->repeats * (options->worker_count + (options->serial != NULL)) +
                 options->work_span;
    for (unsigned repeat = 1; repeat <= options->repeats; repeat++)
        run_round(&runner, repeat, &caught);
    if (options->work_span)
        run_once(&runner, fewest_workers(options), WORK_SPAN_REPEAT, &caught);
    run_set_free(&runner.set);
    if (stopped_by) {
        diag_error(runner.folder, "stopped by signal %d; the same command goes on from here",
                   (int)stopped_by);
        return 128 + (int)stopped_by;
    }
    diag_note(runner.folder, "%u of %u runs complete; to see them: hpcviewer %s",
              runner.all - runner.failed, runner.all, runner.folder);
    return runner.failed ? 1 : 0;
}
