#include "viewer-tui/advice/libc-procedures.h"

#include <stdlib.h>
#include <string.h>

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool begins_thread(const char *procedure)
{
    static const char *const names[] = {"clone",    "__clone",      "clone3",
                                        "__clone3", "start_thread", "<thread root>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(procedure, names[i]) == 0)
            return true;
    return false;
}

/* The name of a procedure without libc's prefixes and suffixes: "read" of "__GI___libc_read". */
static void bare_name(const char *name, char *bare, size_t size)
{
    static const char *const prefixes[] = {"_", "GI_", "libc_", "new_", "old_"};
    static const char *const suffixes[] = {"_nocancel", "_usercnt", "_ex", "_full", "64"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes;) {
        bool is_there = begins_with(name, prefixes[i]);
        name += is_there ? strlen(prefixes[i]) : 0;
        i = is_there ? 0 : i + 1;
    }
    size_t length = strcspn(name, "@");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (length > n && memcmp(name + length - n, suffixes[i], n) == 0)
            length -= n;
    }
    length = length < size ? length : size - 1;
    memcpy(bare, name, length);
    bare[length] = '\0';
}

struct libc_procedure {
    const char *name;
    enum wait wait;
    bool is_system_call;
};

/* Sorted by name. */
static const struct libc_procedure libc_procedures[] = {
    {"accept", WAIT_IO, true},
    {"accept4", WAIT_IO, true},
    {"access", WAIT_NONE, true},
    {"brk", WAIT_NONE, true},
    {"clock_nanosleep", WAIT_SLEEP, true},
    {"close", WAIT_IO, true},
    {"cnd_timedwait", WAIT_CONDITION, false},
    {"cnd_wait", WAIT_CONDITION, false},
    {"connect", WAIT_IO, true},
    {"copy_file_range", WAIT_IO, true},
    {"epoll_pwait", WAIT_POLL, true},
    {"epoll_wait", WAIT_POLL, true},
    {"fallocate", WAIT_IO, true},
    {"fdatasync", WAIT_IO, true},
    {"fstat", WAIT_NONE, true},
    {"fstatat", WAIT_NONE, true},
    {"fsync", WAIT_IO, true},
    {"ftruncate", WAIT_IO, true},
    {"getdents", WAIT_IO, true},
    {"getpid", WAIT_NONE, true},
    {"getppid", WAIT_NONE, true},
    {"getrandom", WAIT_NONE, true},
    {"ioctl", WAIT_IO, true},
    {"kill", WAIT_NONE, true},
    {"lll_lock_wait", WAIT_LOCK, false},
    {"lll_lock_wait_private", WAIT_LOCK, false},
    {"lseek", WAIT_NONE, true},
    {"madvise", WAIT_NONE, true},
    {"mmap", WAIT_NONE, true},
    {"mprotect", WAIT_NONE, true},
    {"mremap", WAIT_NONE, true},
    {"msync", WAIT_IO, true},
    {"mtx_lock", WAIT_LOCK, false},
    {"munmap", WAIT_NONE, true},
    {"nanosleep", WAIT_SLEEP, true},
    {"open", WAIT_IO, true},
    {"openat", WAIT_IO, true},
    {"poll", WAIT_POLL, true},
    {"ppoll", WAIT_POLL, true},
    {"pread", WAIT_IO, true},
    {"preadv", WAIT_IO, true},
    {"pselect", WAIT_POLL, true},
    {"pthread_barrier_wait", WAIT_BARRIER, false},
    {"pthread_clockjoin", WAIT_JOIN, false},
    {"pthread_cond_clockwait", WAIT_CONDITION, false},
    {"pthread_cond_timedwait", WAIT_CONDITION, false},
    {"pthread_cond_wait", WAIT_CONDITION, false},
    {"pthread_join", WAIT_JOIN, false},
    {"pthread_mutex_clocklock", WAIT_LOCK, false},
    {"pthread_mutex_lock", WAIT_LOCK, false},
    {"pthread_mutex_timedlock", WAIT_LOCK, false},
    {"pthread_rwlock_rdlock", WAIT_LOCK, false},
    {"pthread_rwlock_wrlock", WAIT_LOCK, false},
    {"pthread_spin_lock", WAIT_LOCK, false},
    {"pthread_timedjoin_np", WAIT_JOIN, false},
    {"pwrite", WAIT_IO, true},
    {"pwritev", WAIT_IO, true},
    {"read", WAIT_IO, true},
    {"readahead", WAIT_IO, true},
    {"readlink", WAIT_NONE, true},
    {"readv", WAIT_IO, true},
    {"recv", WAIT_IO, true},
    {"recvfrom", WAIT_IO, true},
    {"recvmmsg", WAIT_IO, true},
    {"recvmsg", WAIT_IO, true},
    {"sched_yield", WAIT_NONE, true},
    {"select", WAIT_POLL, true},
    {"sem_timedwait", WAIT_SEMAPHORE, false},
    {"sem_wait", WAIT_SEMAPHORE, false},
    {"send", WAIT_IO, true},
    {"sendfile", WAIT_IO, true},
    {"sendmmsg", WAIT_IO, true},
    {"sendmsg", WAIT_IO, true},
    {"sendto", WAIT_IO, true},
    {"sleep", WAIT_SLEEP, false},
    {"splice", WAIT_IO, true},
    {"stat", WAIT_NONE, true},
    {"statx", WAIT_NONE, true},
    {"sync", WAIT_IO, true},
    {"syscall", WAIT_NONE, true},
    {"thrd_join", WAIT_JOIN, false},
    {"thrd_sleep", WAIT_SLEEP, false},
    {"unlink", WAIT_NONE, true},
    {"usleep", WAIT_SLEEP, false},
    {"wait", WAIT_CHILD, true},
    {"wait4", WAIT_CHILD, true},
    {"waitid", WAIT_CHILD, true},
    {"waitpid", WAIT_CHILD, true},
    {"write", WAIT_IO, true},
    {"writev", WAIT_IO, true},
};

static int compare(const void *key, const void *member)
{
    return strcmp(key, ((const struct libc_procedure *)member)->name);
}

static const struct libc_procedure *find_libc_procedure(const char *procedure)
{
    char bare[64];
    bare_name(procedure, bare, sizeof bare);
    return bsearch(bare, libc_procedures, sizeof libc_procedures / sizeof *libc_procedures,
                   sizeof *libc_procedures, compare);
}

enum wait wait_of(const char *procedure)
{
    const struct libc_procedure *found = find_libc_procedure(procedure);
    return found ? found->wait : WAIT_NONE;
}

bool is_system_call(const char *procedure)
{
    const struct libc_procedure *found = find_libc_procedure(procedure);
    return found && found->is_system_call;
}

static bool is_one_of(const char *procedure, const char *const names[], size_t n)
{
    char bare[64];
    bare_name(procedure, bare, sizeof bare);
    for (size_t i = 0; i < n; i++)
        if (strcmp(bare, names[i]) == 0)
            return true;
    return false;
}

bool is_call_of_lock(const char *procedure)
{
    static const char *const names[] = {"lll_lock_wake",
                                        "lll_lock_wake_private",
                                        "lll_mutex_lock_optimized",
                                        "lll_mutex_unlock_optimized",
                                        "mtx_unlock",
                                        "pthread_mutex_unlock",
                                        "pthread_rwlock_unlock",
                                        "pthread_spin_unlock"};
    return wait_of(procedure) == WAIT_LOCK || is_one_of(procedure, names, sizeof names / sizeof *names);
}

/* Only the allocator moves the end of the heap. Threads and the loader map memory, too. */
bool is_call_of_allocator(const char *system_call, const char *callee)
{
    static const char *const maps[] = {"madvise", "mmap", "mremap", "munmap"};
    static const char *const allocators[] = {"aligned_alloc", "calloc",         "cfree",
                                             "free",          "malloc",         "memalign",
                                             "realloc",       "posix_memalign", "reallocarray"};
    if (is_one_of(system_call, (const char *const[]){"brk"}, 1))
        return true;
    return is_one_of(system_call, maps, sizeof maps / sizeof *maps) &&
           (is_one_of(callee, allocators, sizeof allocators / sizeof *allocators) ||
            begins_with(callee, "operator new") || begins_with(callee, "operator delete"));
}

const char *wait_name(enum wait wait)
{
    static const char *const names[WAITS] = {
        [WAIT_NONE] = "for a CPU",
        [WAIT_LOCK] = "for a lock",
        [WAIT_BARRIER] = "at a barrier",
        [WAIT_SEMAPHORE] = "for a semaphore",
        [WAIT_IO] = "for input or output",
        [WAIT_SLEEP] = "in a sleep",
        [WAIT_CONDITION] = "for a condition",
        [WAIT_POLL] = "for an event",
        [WAIT_JOIN] = "for another thread to end",
        [WAIT_CHILD] = "for a child process",
    };
    return names[wait];
}

void add_called_name(const char *procedure, struct text *out)
{
    static const char *const variants[] = {"_sse", "_ssse3", "_avx", "_evex", "_fma", "_erms", "_unaligned"};
    char bare[64];
    bare_name(procedure, bare, sizeof bare);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char *variant = strstr(bare, variants[i]);
        if (variant && variant > bare)
            *variant = '\0';
    }
    text_add(out, bare);
}
