#include "hpcprof/base/subprocess.h"

#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Bytes of output that are kept. */
#define MAX_OUTPUT (4 << 20)

/* Programs that run. The lock is held while one is started, reaped or stopped. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(pid_t) running;

static char *contents(int fd)
{
    struct stat status;
    size_t size = fstat(fd, &status) == 0 ? (size_t)status.st_size : 0;
    if (size > MAX_OUTPUT)
        size = MAX_OUTPUT;
    char *text = mem_alloc(size + 1);
    ssize_t got = pread(fd, text, size, 0);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

/* Returns 0 or an errno. */
static int spawn(pid_t *pid, const char *path, char *const *arguments, int output, int errors)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(pid, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Returns 0 or an errno. */
static int start(pid_t *pid, const char *path, char *const *arguments, int output, int errors)
{
    pthread_mutex_lock(&lock);
    int error = spawn(pid, path, arguments, output, errors);
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

struct program_output run_program(const char *path, char *const *arguments)
{
    int output = memfd_create("output", MFD_CLOEXEC), errors = memfd_create("errors", MFD_CLOEXEC);
    struct program_output result = {.status = -1};
    pid_t pid = -1;
    int error = output < 0 || errors < 0 ? errno : start(&pid, path, arguments, output, errors);
    if (error == 0)
        error = finish(pid, &result.status);
    result.output = error ? mem_strdup("") : contents(output);
    result.errors = error ? mem_strdup(strerror(error)) : contents(errors);
    if (output >= 0)
        close(output);
    if (errors >= 0)
        close(errors);
    return result;
}

void program_output_free(struct program_output *output)
{
    free(output->output);
    free(output->errors);
}
