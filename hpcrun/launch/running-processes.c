#include "hpcrun/launch/running-processes.h"

#include "hpcrun/base/process-stat.h"
#include "hpcrun/config/run-config.h"
#include "lib/alloc.h"
#include "lib/diag.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 64

/* The begin of a file of /proc/PID, up to `end` or its first 0. */
static void read_name(int pid, const char *file, char end, char *name, size_t room)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    small_file_read(path, name, room);
    char *at = strchr(name, end);
    if (at)
        *at = '\0';
}

static bool matches(int pid, const char *pattern)
{
    char name[64], command[4096];
    read_name(pid, "comm", '\n', name, sizeof name);
    read_name(pid, "cmdline", '\0', command, sizeof command);
    const char *slash = strrchr(command, '/');
    return fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, slash ? slash + 1 : command, 0) == 0;
}

/* Whether it is the caller's, or the caller is root, and it runs a program. */
static bool is_callers(int pid)
{
    char path[PATH_BYTES], program[4];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (stat(path, &status) != 0 || (geteuid() != 0 && status.st_uid != geteuid()))
        return false;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    return readlink(path, program, sizeof program) > 0;
}

static int parent_of(int pid)
{
    char path[PATH_BYTES], stat[STAT_BYTES];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    return stat_read(path, stat) ? (int)stat_number(stat, STAT_PARENT) : 0;
}

static bool descends_from(int pid, int ancestor)
{
    while (pid > 0 && pid != ancestor)
        pid = parent_of(pid);
    return pid > 0;
}

/* Measures from outside, or is of this process, or of the hpcrun that waits for it (outside-session.h). */
static bool is_hpcruns(int pid)
{
    char name[64];
    read_name(pid, "comm", '\n', name, sizeof name);
    return strcmp(name, OUTSIDE_PROGRAM) == 0 || descends_from(pid, getppid());
}

/* hpcrun was started from it, directly or not. */
static bool is_named_starter(int pid, const void *pattern)
{
    return is_callers(pid) && matches(pid, pattern) && !is_hpcruns(pid) && descends_from(getpid(), pid);
}

static bool is_named(int pid, const void *pattern)
{
    return is_callers(pid) && matches(pid, pattern) && !is_hpcruns(pid) && !descends_from(getpid(), pid);
}

static bool is_listed(int pid, const char *pids)
{
    const char *at = pids;
    while (at && atoi(at) != pid)
        at = (at = strchr(at, ',')) ? at + 1 : NULL;
    return at;
}

static bool descends_from_one(int pid, const void *pids)
{
    int ancestor = is_hpcruns(pid) ? 0 : parent_of(pid);
    while (ancestor > 0 && !is_listed(ancestor, pids))
        ancestor = parent_of(ancestor);
    return ancestor > 0;
}

/* NULL if there is none. */
static char *list_those(bool (*is_one)(int pid, const void *data), const void *data)
{
    DIR *processes = opendir("/proc");
    char *list = NULL;
    if (!processes)
        diag_fatal("/proc", "%s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(processes));) {
        int pid = atoi(entry->d_name);
        if (pid <= 0 || !is_one(pid, data))
            continue;
        char *longer = list ? mem_printf("%s,%d", list, pid) : mem_printf("%d", pid);
        free(list);
        list = longer;
    }
    closedir(processes);
    return list;
}

static char *list_named(const char *pattern)
{
    char *list = list_those(is_named, pattern);
    char *starters = list ? NULL : list_those(is_named_starter, pattern);
    if (starters)
        diag_fatal(NULL, "--name %s: no process of yours has such a name but those that hpcrun was started from, "
                         "which are left out: -p %s measures them", pattern, starters);
    if (!list)
        diag_fatal(NULL, "--name %s: no process of yours has such a name", pattern);
    return list;
}

char *running_processes(const struct options *options)
{
    const char *pids = options->pids ? options->pids : "";
    if (!options->pids && !options->name)
        return NULL;
    char *others = options->name                    ? list_named(options->name)
                   : strcmp(pids, OUTSIDE_ALL) == 0 ? NULL
                                                    : list_those(descends_from_one, pids);
    char *list = mem_printf("%s%s%s", pids, others ? ";" : "", others ? others : "");
    free(others);
    return list;
}
