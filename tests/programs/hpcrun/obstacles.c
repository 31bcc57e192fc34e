/* obstacles LEDGER MS WHAT PATH [keep]: the main thread, another one and a child process use MS of
 * CPU time each and note it in LEDGER; then once more with an obstacle WHAT:
 *   none, disk (the file system of PATH, a file, is full), directory (PATH is not writable),
 *   descriptors (none is free), memory (RLIMIT_AS is the memory in use), perf (perf_event_open is
 *   refused); then a last time without the obstacle, if it can be removed and `keep` is not given. */
#include "mapped-ledger.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static uint64_t each;

static void must(bool done, const char *what)
{
    if (done)
        return;
    perror(what);
    exit(1);
}

static void *use(void *argument)
{
    ledger_note(burn(each));
    return argument;
}

static void use_everywhere(void)
{
    pthread_t thread;
    int status;
    use(NULL);
    must((errno = pthread_create(&thread, NULL, use, NULL)) == 0, "pthread_create");
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        use(NULL);
        exit(0);
    }
    must(waitpid(child, &status, 0) == child && status == 0, "child");
}

static void fill_disk(const char *path)
{
    static char block[4096];
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    must(fd >= 0, path);
    for (size_t size = sizeof block; size > 0; size = size == sizeof block ? 1 : 0)
        while (write(fd, block, size) > 0)
            continue;
    close(fd);
}

static void take_descriptors(void)
{
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        continue;
    must(errno == EMFILE, "open");
}

/* All but standard input, output and error. */
static void give_descriptors_back(void)
{
    must(close_range(3, ~0u, 0) == 0, "close_range");
}

static rlim_t memory_in_use(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    must(file && fscanf(file, "%lu", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit_memory(bool limited)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limited ? memory_in_use() : limit.rlim_max;
    must(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
}

static void refuse_perf(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
             prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
         "seccomp");
}

/* Creates the obstacle, or removes it. */
static void set(const char *what, const char *path, bool there)
{
    if (strcmp(what, "disk") == 0)
        there ? fill_disk(path) : (void)unlink(path);
    else if (strcmp(what, "directory") == 0)
        must(chmod(path, there ? 0500 : 0700) == 0, path);
    else if (strcmp(what, "descriptors") == 0)
        there ? take_descriptors() : give_descriptors_back();
    else if (strcmp(what, "memory") == 0)
        limit_memory(there);
    else if (strcmp(what, "perf") == 0 && there)
        refuse_perf();
}

int main(int count, char **arguments)
{
    if (count < 5)
        return 2;
    const char *what = arguments[3], *path = arguments[4];
    ledger_open(arguments[1]);
    each = (uint64_t)(atof(arguments[2]) * 1e6);
    use_everywhere();
    set(what, path, true);
    use_everywhere();
    if (count > 5)
        return 0;
    set(what, path, false);
    use_everywhere();
    return 0;
}
