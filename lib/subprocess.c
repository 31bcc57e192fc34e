#include "lib/subprocess.h"

#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Bytes of messages that are kept. */
#define MAX_ERRORS (4 << 20)

/* The descriptors that a program gets. */
#define FILES (PROGRESS_FD + 1)

/* Programs that run. The lock is held while one is started, reaped or stopped. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(pid_t) running;

static char *contents(int fd)
{
    struct stat status;
    size_t size = fstat(fd, &status) == 0 ? (size_t)status.st_size : 0;
    if (size > MAX_ERRORS)
        size = MAX_ERRORS;
    char *text = mem_alloc(size + 1);
    ssize_t got = pread(fd, text, size, 0);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

/* Returns 0 or an errno. */
static int spawn(pid_t *pid, const char *path, char *const *arguments, const int files[FILES])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    if (files[STDIN_FILENO] == NO_INPUT)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < FILES; i++)
        if (files[i] >= 0)
            posix_spawn_file_actions_adddup2(&actions, files[i], i);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(pid, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Where the caller of this tool ignores ends of children, and so this process does, the kernel forgets how these ended. */
static void keep_ends_of_children(void)
{
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
}

/* Returns 0 or an errno. */
static int start(pid_t *pid, const char *path, char *const *arguments, const int files[FILES])
{
    pthread_mutex_lock(&lock);
    keep_ends_of_children();
    int error = spawn(pid, path, arguments, files);
    if (error == 0)
        vec_push(&running, *pid);
    pthread_mutex_unlock(&lock);
    return error;
}

/* Waits for a program; returns 0 or an errno. Reaps it under the lock, since its pid may be reused
 * afterwards. */
static int finish(pid_t pid, int *status)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
        if (errno != EINTR)
            return errno;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (running.at[i] != pid)
        i++;
    running.at[i] = running.at[--running.n];
    int error = waitpid(pid, status, 0) < 0 ? errno : 0;
    pthread_mutex_unlock(&lock);
    return error;
}

void run_program_stop_all(void)
{
    pthread_mutex_lock(&lock); /* never released: no program is started any more */
    for (size_t i = 0; i < running.n; i++)
        kill(running.at[i], SIGTERM);
}

/* Writes may have moved the offset of the file. */
static FILE *stream_of(int fd)
{
    return lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "r") : NULL;
}

/* Reads until the program has ended: then no one has the other end of the pipe. */
static void watch_progress(int pipe_end, progress_watcher *watch, void *context)
{
    struct diag_progress progress;
    ssize_t got;
    while ((got = read(pipe_end, &progress, sizeof progress)) > 0 || (got < 0 && errno == EINTR))
        if (got == sizeof progress)
            watch(context, &progress);
}

static void close_all(const int *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (files[i] >= 0)
            close(files[i]);
}

struct program_output run_program(const struct program_start *program)
{
    int ends[2] = {-1, -1};
    bool has_pipe = !program->watch || pipe2(ends, O_CLOEXEC) == 0;
    int errors = program->messages_pass ? -1 : memfd_create("errors", MFD_CLOEXEC);
    const int files[FILES] = {program->input, memfd_create("output", MFD_CLOEXEC), errors, ends[1]};
    struct program_output result = {.status = -1};
    pid_t pid = -1;
    bool has_files = files[1] >= 0 && (errors >= 0 || program->messages_pass) && has_pipe;
    int error = has_files ? start(&pid, program->path, program->arguments, files) : errno;
    close_all(&ends[1], 1);
    if (error == 0 && program->watch)
        watch_progress(ends[0], program->watch, program->context);
    if (error == 0)
        error = finish(pid, &result.status);
    if (error == 0 && !(result.output = stream_of(files[1])))
        error = errno;
    bool has_errors = !error && !program->messages_pass;
    result.errors = has_errors ? contents(errors) : mem_strdup(error ? strerror(error) : "");
    close_all(&ends[0], 1);
    close_all(&files[1], result.output ? 0 : 1);
    close_all(&errors, 1);
    return result;
}

void program_output_free(struct program_output *output)
{
    if (output->output)
        fclose(output->output);
    free(output->errors);
}
