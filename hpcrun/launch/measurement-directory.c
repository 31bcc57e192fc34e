#include "hpcrun/launch/measurement-directory.h"

#include "hpcrun/base/process-stat.h"
#include "hpcrun/config/run-config.h"
#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/path.h"
#include "lib/safe-input.h"
#include "lib/safe-output.h"
#include "lib/sanitized-text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- the parallel job ---- */

/* The parallel job that this launcher is a rank of.
 * The name is the same for all ranks of the job. PMIx and Slurm name a job, on all its machines;
 * otherwise the name is that of the process that started the ranks on this machine. */
struct job {
    char *name; /* owned; NULL where there is no job */
    int64_t rank;
};

/* Whether a process has a rank in its environment: a rank, or a script that a rank has started. */
static bool has_rank(long pid)
{
    size_t size;
    char *path = mem_printf("/proc/%ld/environ", pid), *cause = NULL, *text = input_read(path, SIZE_MAX, &size, &cause);
    free(cause);
    free(path);
    if (!text)
        return false;
    VEC(char *) environment = {0};
    for (char *at = text; at < text + size; at += strlen(at) + 1)
        vec_push(&environment, at);
    vec_push(&environment, NULL);
    bool has = rank_in(environment.at) != NO_RANK;
    vec_free(&environment);
    free(text);
    return has;
}

static bool read_stat(long pid, long *parent, uint64_t *start)
{
    char path[48], stat[STAT_BYTES];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (!stat_read(path, stat))
        return false;
    *parent = (long)stat_number(stat, STAT_PARENT);
    *start = stat_number(stat, STAT_START);
    return true;
}

static char *process_name(long pid, uint64_t start)
{
    struct utsname host = {0};
    uname(&host);
    return mem_printf("process %ld of %s, started at %lu", pid, host.nodename, start);
}

/* Names the nearest ancestor that has no rank: it started the ranks of this machine. */
static char *starter_name(void)
{
    long pid = getppid(), parent = 0;
    uint64_t start = 0;
    while (read_stat(pid, &parent, &start) && parent > 0 && has_rank(pid))
        pid = parent;
    return process_name(pid, start);
}

/* Never the name of a job: this process may start ranks that are profiled themselves. */
static char *own_name(void)
{
    long parent;
    uint64_t start = 0;
    read_stat(getpid(), &parent, &start);
    char *process = process_name(getpid(), start), *name = mem_printf("%s, alone", process);
    free(process);
    return name;
}

static char *job_name(char *const *environment)
{
    const char *pmix = config_variable(environment, "PMIX_NAMESPACE");
    const char *slurm_job = config_variable(environment, "SLURM_JOB_ID");
    const char *slurm_step = config_variable(environment, "SLURM_STEP_ID");
    if (pmix)
        return mem_printf("PMIx %s", pmix);
    if (slurm_job && slurm_step)
        return mem_printf("Slurm %s.%s", slurm_job, slurm_step);
    return starter_name();
}

static struct job job_find(char *const *environment)
{
    struct job job = {.rank = rank_in(environment)};
    if (job.rank != NO_RANK)
        job.name = job_name(environment);
    return job;
}

static void job_free(struct job *job)
{
    free(job->name);
    job->name = NULL;
}

/* ---- the directory ---- */

#define MAX_NUMBER 100000

#define JOB_MARK ".job"

/* Makes a link with this text; only the first process that tries succeeds. */
static bool make_mark(int directory, const char *name, const char *text)
{
    return symlinkat(text, directory, name) == 0;
}

/* Takes the empty directory for this process, which is no rank. False if another one has taken it.
 * Some file systems have no links: a file serves as well, since no other process joins. */
static bool take(int directory, const char *path)
{
    char *name = own_name();
    bool taken = make_mark(directory, JOB_MARK, name);
    free(name);
    if (!taken && errno != EEXIST) {
        int file = openat(directory, JOB_MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        taken = file >= 0;
        if (taken)
            close(file);
    }
    if (!taken && errno != EEXIST)
        diag_fatal(path, "%s", strerror(errno));
    return taken;
}

static bool has_mark(int directory, const char *name, char *text, size_t room)
{
    ssize_t length = readlinkat(directory, name, text, room - 1);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static bool enter(int directory, const struct job *job)
{
    assert(job->name && job->rank != NO_RANK);
    char *name = mem_printf(".rank-%lld", (long long)job->rank);
    bool entered = make_mark(directory, name, job->name);
    free(name);
    return entered;
}

/* Whether the rank may use the directory: it is empty, or its job's. Other ranks may be doing the
 * same now. The mark of the job is always made first, so a directory that is not empty already has
 * it. */
static bool join(int directory, const char *path, const struct job *job)
{
    char owner[PATH_MAX];
    for (;;) {
        bool was_empty = own_directory_is_empty(directory);
        if (has_mark(directory, JOB_MARK, owner, sizeof owner))
            return strcmp(owner, job->name) == 0 && enter(directory, job);
        if (!was_empty)
            return false;
        if (!make_mark(directory, JOB_MARK, job->name) && errno != EEXIST)
            diag_fatal(path, "%s", strerror(errno));
    }
}

/* The result. Frees `path` and closes `directory`. */
static struct measurement_directory finish(int directory, char *path, const struct job *job)
{
    struct stat status, by_name;
    assert(directory >= 0);
    char *full = realpath(path, NULL);
    if (!full || fstat(directory, &status) != 0 || stat(full, &by_name) != 0)
        diag_fatal(path, "%s", strerror(errno));
    if (by_name.st_dev != status.st_dev || by_name.st_ino != status.st_ino)
        diag_fatal(path, "the measurement directory was moved away");
    close(directory);
    free(path);
    return (struct measurement_directory){
        .path = full, .owner = status.st_uid, .is_shared_by_ranks = job->name != NULL};
}

static bool make(const char *path, bool shared)
{
    bool is_new = mkdir(path, own_directory_mode(shared)) == 0;
    if (!is_new && errno != EEXIST)
        diag_fatal(path, "can't make the measurement directory: %s", strerror(errno));
    return is_new;
}

static struct measurement_directory make_wanted(const char *path, bool shared,
                                                const struct job *job)
{
    char *cause;
    bool is_new = make(path, shared);
    int directory = own_directory_open(path, &cause);
    if (directory < 0)
        diag_fatal(path, "%s", cause);
    if (!job->name && !is_new && !own_directory_is_empty(directory))
        diag_fatal(path, "exists and is not an empty directory");
    if (faccessat(directory, ".", W_OK | X_OK, 0) != 0)
        diag_fatal(path, "%s", strerror(errno));
    if (!job->name && !take(directory, path))
        diag_fatal(path, "another hpcrun is using this directory");
    if (job->name && !join(directory, path, job))
        diag_fatal(path,
                   "exists, and is neither empty nor this job's for a first run of each rank");
    return finish(directory, mem_strdup(path), job);
}

/* Tries to use a directory of the default names. False if it is a link, or existed and is not the
 * job's, or if another hpcrun was faster to take it (-o). */
static bool try_to_use(const char *path, bool is_new, const struct job *job, int *directory)
{
    char *cause;
    struct stat status;
    if (lstat(path, &status) != 0 || S_ISLNK(status.st_mode))
        return false;
    *directory = own_directory_open(path, &cause);
    if (*directory < 0 && is_new)
        diag_fatal(path, "%s", cause);
    if (*directory < 0) {
        free(cause);
        return false;
    }
    if (job->name ? join(*directory, path, job) : take(*directory, path))
        return true;
    close(*directory);
    return false;
}

static struct measurement_directory make_default(const char *command, bool shared,
                                                 const struct job *job)
{
    char *name = printable_file_name(path_base(command));
    for (unsigned number = 1; number < MAX_NUMBER; number++) {
        char *path = number == 1 ? mem_printf("hpctoolkit-%s-measurements", name)
                                 : mem_printf("hpctoolkit-%s-measurements-%u", name, number);
        int directory;
        bool is_new = make(path, shared);
        if ((is_new || job->name) && try_to_use(path, is_new, job, &directory)) {
            free(name);
            return finish(directory, path, job);
        }
        free(path);
    }
    diag_fatal(NULL, "too many measurement directories of %s here", name);
}

struct measurement_directory directory_make(const char *wanted, const char *command, bool shared)
{
    struct job job = job_find(environ);
    struct measurement_directory directory =
        wanted ? make_wanted(wanted, shared, &job) : make_default(command, shared, &job);
    job_free(&job);
    return directory;
}

void directory_give_back(const struct measurement_directory *directory)
{
    char *mark = mem_printf("%s/" JOB_MARK, directory->path);
    if (!directory->is_shared_by_ranks)
        unlink(mark);
    rmdir(directory->path);
    free(mark);
}
