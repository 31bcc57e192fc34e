/* The unwinder takes no lock, allocates nothing and makes no system call: while it runs, every
 * system call raises SIGSYS (prctl PR_SET_SYSCALL_USER_DISPATCH), and malloc, free and
 * pthread_mutex_lock are ours; each ends the test at once. The test first proves that each of the
 * traps works. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/unwind/unwind.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON           1
#endif

#define MAX_DEPTH 300

static volatile char selector; /* 0 lets system calls pass, 1 stops them */
static volatile bool quiet;    /* no allocation, no lock */

static void die_if_quiet(void)
{
    if (quiet) {
        selector = 0;
        _exit(99);
    }
}

/* This program's allocator and locks; a bump allocator is enough. */
static char heap[64 << 20];
static size_t heap_used;

void *malloc(size_t size)
{
    die_if_quiet();
    size_t at = (heap_used + 31) & ~(size_t)15; /* the size is in the 16 bytes before */
    heap_used = at + size;
    if (heap_used > sizeof heap)
        return NULL;
    memcpy(heap + at - 16, &size, sizeof size);
    return heap + at;
}

void free(void *block)
{
    die_if_quiet();
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* static memory that is never reused is zero */
}

void *realloc(void *old, size_t size)
{
    size_t old_size = 0;
    void *block = malloc(size);
    if (old)
        memcpy(&old_size, (char *)old - 16, sizeof old_size);
    if (block && old)
        memcpy(block, old, old_size < size ? old_size : size);
    return block;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex; /* this program has one thread */
    die_if_quiet();
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return 0;
}

static struct unwinder unwinder;

static void prepare(void)
{
    static bool prepared;
    if (prepared)
        return;
    prepared = true;
    modules_init("/proc/self/exe", &(struct known_code){.vdso = getauxval(AT_SYSINFO_EHDR),
                                                        .libc = (uintptr_t)getauxval,
                                                        .own = (uintptr_t)prepare});
    unwinder.cache = sys_pages(sizeof *unwinder.cache);
    unwinder.path = sys_pages(UNWIND_FRAMES * sizeof(struct frame));
    pthread_attr_t attributes;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    unwinder.stack_low = (uint64_t)(uintptr_t)low;
    unwinder.stack_high = unwinder.stack_low + size;
}

static enum unwind_end last_end;
static unsigned last_depth;

static void unwind_quietly(int signal, siginfo_t *info, void *context)
{
    quiet = true;
    selector = 1;
    last_end = unwind(&unwinder, context);
    selector = 0;
    quiet = false;
    last_depth = unwinder.depth;
}

__attribute__((noinline)) static int descend(int depth)
{
    int result = depth > 0 ? descend(depth - 1) : raise(SIGUSR1);
    __asm__ volatile("" : "+r"(result));
    return result;
}

static int by_descending(const void *a, const void *b)
{
    descend(3);
    return *(const int *)b - *(const int *)a;
}

static void arm_traps(void)
{
    signal(SIGSYS, SIG_DFL); /* cmocka would catch it */
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) != 0) {
        print_message("no syscall user dispatch in this kernel\n");
        skip();
    }
}

TEST(unwinding_is_quiet)
{
    prepare();
    arm_traps();
    struct sigaction action = {.sa_sigaction = unwind_quietly, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    descend(0);
    unsigned shallow = last_depth;
    for (int depth = 0; depth < MAX_DEPTH;
         depth += 7) { /* cold and warm cache, new and reused frames */
        for (int round = 0; round < 3; round++) {
            descend(depth);
            assert_int_equal(last_end, UNWIND_COMPLETE);
            assert_int_equal(last_depth, shallow + (unsigned)depth);
        }
    }
    int numbers[] = {3, 1, 2, 5, 4};
    qsort(numbers, 5, sizeof *numbers, by_descending); /* libc's qsort may allocate */
    assert_int_equal(last_end, UNWIND_COMPLETE);
}

/* Runs `act` with the traps set in a child; returns its wait status. */
static int status_of(void (*act)(void))
{
    pid_t child = fork();
    if (child == 0) {
        arm_traps();
        quiet = true;
        selector = 1;
        act();
        selector = 0;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

static void do_nothing(void)
{
}

static void do_system_call(void)
{
    getppid();
}

static void *volatile block;

static void do_malloc(void)
{
    block = malloc(10);
}

static void do_lock(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
}

TEST(traps_work)
{
    assert_true(WIFEXITED(status_of(do_nothing)));
    int status = status_of(do_system_call);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
    assert_int_equal(WEXITSTATUS(status_of(do_malloc)), 99);
    assert_int_equal(WEXITSTATUS(status_of(do_lock)), 99);
}
