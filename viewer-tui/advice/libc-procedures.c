#include "viewer-tui/advice/libc-procedures.h"

#include "viewer-tui/tree/start-names.h"

#include <string.h>

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool begins_thread(const char *procedure)
{
    bool is_placeholder = strcmp(procedure, "<thread root>") == 0;
    return is_placeholder || name_begins_thread(procedure) || strcmp(procedure, "__clone") == 0;
}

bool is_name_of_lock(const char *procedure)
{
    return begins_with(procedure, LOCK_PREFIX);
}

bool is_name_of_lock_without_cpu(const char *procedure)
{
    return strcmp(procedure, LOCK_PREFIX "held without a CPU>") == 0;
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

/* What a procedure does, but for waiting. */
enum libc_action { SYSTEM_CALL = 1, MAPS_MEMORY = 2, MOVES_HEAP = 4, ALLOCATES = 8, WAKES_WAITERS = 16 };

/* Names with a space on both sides. Others wait for nothing. */
static const struct libc_procedures {
    const char *names;
    enum wait wait;
    unsigned does; /* enum libc_action */
} libc_procedures[] = {
    {" lll_lock_wait lll_lock_wait_private mtx_lock pthread_mutex_clocklock pthread_mutex_lock "
     "pthread_mutex_timedlock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_spin_lock ", WAIT_LOCK, 0},
    {" pthread_barrier_wait ", WAIT_BARRIER, 0},
    {" sem_timedwait sem_wait ", WAIT_SEMAPHORE, 0},
    {" accept accept4 close connect copy_file_range fallocate fdatasync fsync ftruncate getdents ioctl "
     "msync open openat pread preadv pwrite pwritev read readahead readv recv recvfrom recvmmsg recvmsg "
     "send sendfile sendmmsg sendmsg sendto splice sync write writev ", WAIT_IO, SYSTEM_CALL},
    {" sleep thrd_sleep usleep ", WAIT_SLEEP, 0},
    {" clock_nanosleep nanosleep ", WAIT_SLEEP, SYSTEM_CALL},
    {" cnd_timedwait cnd_wait pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait ", WAIT_CONDITION, 0},
    {" epoll_pwait epoll_wait poll ppoll pselect select ", WAIT_POLL, SYSTEM_CALL},
    {" pthread_clockjoin pthread_join pthread_timedjoin_np thrd_join ", WAIT_JOIN, 0},
    {" wait wait4 waitid waitpid ", WAIT_CHILD, SYSTEM_CALL},
    {" access fstat fstatat getpid getppid getrandom kill lseek mprotect readlink sched_yield stat statx "
     "syscall unlink ", WAIT_NONE, SYSTEM_CALL},
    {" brk ", WAIT_NONE, SYSTEM_CALL | MOVES_HEAP},
    {" madvise mmap mremap munmap ", WAIT_NONE, SYSTEM_CALL | MAPS_MEMORY},
    {" lll_lock_wake lll_lock_wake_private lll_mutex_lock_optimized lll_mutex_unlock_optimized mtx_unlock "
     "pthread_mutex_unlock pthread_rwlock_unlock pthread_spin_unlock ", WAIT_NONE, WAKES_WAITERS},
    {" aligned_alloc calloc cfree free malloc memalign realloc posix_memalign reallocarray ", WAIT_NONE, ALLOCATES},
};

static struct libc_procedures find_libc_procedure(const char *procedure)
{
    char bare[64], wanted[68];
    bare_name(procedure, bare, sizeof bare);
    snprintf(wanted, sizeof wanted, " %s ", bare);
    for (size_t i = 0; *bare && i < sizeof libc_procedures / sizeof *libc_procedures; i++)
        if (strstr(libc_procedures[i].names, wanted))
            return libc_procedures[i];
    return (struct libc_procedures){.wait = WAIT_NONE};
}

/* Rust's standard library and its package parking_lot wait by system calls of their own. The last part of a name is
 * looked for, as in "<std::sys::sync::mutex::futex::Mutex>::lock_contended". */
static enum wait wait_of_rust(const char *procedure)
{
    static const char locks[] = " lock_contended lock_exclusive_slow lock_shared_slow lock_slow lock_upgradable_slow "
                                "read_contended write_contended ";
    static const char conditions[] = " park park_timeout wait wait_optional_timeout wait_timeout wait_until_internal ";
    const char *path = procedure + (*procedure == '<'), *last = procedure, *next;
    char wanted[64];
    if (!begins_with(path, "std::sys::") && !begins_with(path, "std::sys_common::") && !begins_with(path, "parking_lot::"))
        return WAIT_NONE;
    while ((next = strstr(last, "::")))
        last = next + 2;
    snprintf(wanted, sizeof wanted, " %s ", last);
    return strstr(locks, wanted) ? WAIT_LOCK : strstr(conditions, wanted) ? WAIT_CONDITION : WAIT_NONE;
}

enum wait wait_of(const char *procedure)
{
    enum wait wait = find_libc_procedure(procedure).wait;
    return wait != WAIT_NONE ? wait : wait_of_rust(procedure);
}

bool is_system_call(const char *procedure)
{
    return find_libc_procedure(procedure).does & SYSTEM_CALL;
}

bool is_call_of_lock(const char *procedure)
{
    struct libc_procedures found = find_libc_procedure(procedure);
    return found.wait == WAIT_LOCK || found.does & WAKES_WAITERS;
}

/* Only the allocator moves the end of the heap. Threads and the loader map memory, too. */
bool is_call_of_allocator(const char *system_call, const char *callee)
{
    unsigned does = find_libc_procedure(system_call).does;
    bool is_for_allocator = find_libc_procedure(callee).does & ALLOCATES || begins_with(callee, "operator new") ||
                            begins_with(callee, "operator delete");
    return does & MOVES_HEAP || (does & MAPS_MEMORY && is_for_allocator);
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
