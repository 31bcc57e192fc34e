#include "hpcrun/launch/job.h"

#include "hpcrun/config/rank.h"
#include "hpcrun/config/run-config.h"
#include "lib/alloc.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A file of /proc/PID with a NUL behind it, NULL when it can't be read; the caller frees. */
static char *read_process_file(long pid, const char *name, size_t *size)
{
    char *path = mem_printf("/proc/%ld/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (fd < 0)
        return NULL;
    VEC(char) text = {0};
    ssize_t got;
    do {
        vec_reserve(&text, 4096);
        got = read(fd, text.at + text.n, 4095);
        text.n += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    close(fd);
    text.at[text.n] = '\0';
    *size = text.n;
    return text.at;
}

/* Whether a process is a rank, or was started by one: a script around the program, for instance. */
static bool has_rank(long pid)
{
    size_t size;
    char *text = read_process_file(pid, "environ", &size);
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

/* Parent and start time of a process; its name, which comes before them, may hold anything. */
static bool read_stat(long pid, long *parent, unsigned long long *start)
{
    size_t size;
    char *text = read_process_file(pid, "stat", &size);
    const char *behind = text ? strrchr(text, ')') : NULL;
    bool is_read = behind && sscanf(behind,
                                    ") %*c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                    "%*s %*s %*s %*s %llu",
                                    parent, start) == 2;
    free(text);
    return is_read;
}

/* The nearest process above that is no rank itself. */
static char *starter_name(void)
{
    struct utsname host = {0};
    long pid = getppid(), parent = 0;
    unsigned long long start = 0;
    uname(&host);
    while (read_stat(pid, &parent, &start) && parent > 0 && has_rank(pid))
        pid = parent;
    return mem_printf("process %ld of %s, started at %llu", pid, host.nodename, start);
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

struct job job_find(char *const *environment)
{
    struct job job = {.rank = rank_in(environment)};
    if (job.rank != NO_RANK)
        job.name = job_name(environment);
    return job;
}

void job_free(struct job *job)
{
    free(job->name);
    job->name = NULL;
}
