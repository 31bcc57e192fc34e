#include "hpcrun/launch/harmless-filters.h"

#include "hpcrun/base/seccomp-filters.h"
#include "hpcrun/base/shared-pages.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL ".arena-trial"

/* Makes the calls that process_is_restricted (process/process.h) is about, most of them of
 * record/arena-file.c; adjtimex is process/identity.c's. False if no file can be opened; other errors do not matter. */
static bool make_arena_file(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int fd = openat(directory, TRIAL, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    unlinkat(directory, TRIAL, 0);
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    syscall(SYS_faccessat2, directory, ".", W_OK, AT_EACCESS);
    syscall(SYS_kcmp, getpid(), getppid(), KCMP_VM, 0, 0);
    adjtimex(&(struct timex){.modes = 0});
    if (fd >= 0)
        shared_pages_open(fd);
    return fd >= 0;
}

unsigned harmless_filters(const char *directory)
{
    unsigned filters = seccomp_filters();
    int status = -1;
    if (filters == 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_DUMPABLE, 0); /* no core file if a filter ends it */
        _exit(make_arena_file(directory) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? filters : 0;
}
