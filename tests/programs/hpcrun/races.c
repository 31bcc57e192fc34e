/* races SECONDS SIGNAL: for ThreadSanitizer, everything at once that makes hpcrun's threads share data:
 * samples, threads that begin and end, libraries that are opened and closed, sampling that is switched
 * off and on, and the process's end meanwhile. No forks, since the
 * sanitizer can't follow them.
 *
 * Samples come at known places only. Bare system calls, which hpcrun does not see, block SIGNAL,
 * hpcrun's, and sample_here unblocks it; the sanitizer runs the handler then or at its next own call.
 * So it finds races between threads, but not between a handler and the code that it
 * interrupts. */
#include "burn.h"
#include "include/hpctoolkit.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static uint64_t sampling_signal;
static _Atomic bool over; /* which it never is: all are at it when the process ends */

static void mask_signal(int how)
{
    syscall(SYS_rt_sigprocmask, how, &sampling_signal, NULL, sizeof sampling_signal);
}

/* A sample that is due is taken now. */
__attribute__((noinline)) static void sample_here(void)
{
    mask_signal(SIG_UNBLOCK);
    mask_signal(SIG_BLOCK);
}

/* Call paths of all kinds: the bits of `turns` select the callees. */
__attribute__((noinline)) static unsigned down(unsigned turns, int depth);

__attribute__((noinline)) static unsigned other_way_down(unsigned turns, int depth)
{
    return down(turns, depth) + 1;
}

static unsigned down(unsigned turns, int depth)
{
    volatile unsigned some_work = turns;
    for (int i = 0; i < 2000; i++)
        some_work = some_work * 1664525 + 1013904223;
    sample_here();
    if (depth == 0)
        return turns;
    return (turns & 1 ? down : other_way_down)(turns >> 1, depth - 1) + 1;
}

static void work(unsigned rounds)
{
    unsigned turns = (unsigned)clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < rounds; i++) {
        turns = turns * 1664525 + 1013904223;
        down(turns >> 8, (int)(turns >> 4 & 15));
    }
}

static void *work_and_end(void *unused)
{
    mask_signal(SIG_BLOCK);
    work(3);
    return unused;
}

static void *keep_working(void *unused)
{
    for (mask_signal(SIG_BLOCK); !over;)
        work(1);
    return unused;
}

static void *make_threads(void *unused)
{
    for (mask_signal(SIG_BLOCK); !over;) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            if (pthread_create(&threads[i], NULL, work_and_end, NULL) != 0)
                abort();
        work(1);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
    return unused;
}

static void *open_and_close(void *unused)
{
    for (mask_signal(SIG_BLOCK); !over;) {
        void *library = dlopen("libm.so.6", RTLD_NOW), *other = dlopen("libutil.so.1", RTLD_NOW);
        work(1);
        if (other)
            dlclose(other);
        if (library)
            dlclose(library);
    }
    return unused;
}

static void *switch_off_and_on(void *unused)
{
    for (mask_signal(SIG_BLOCK); !over;) {
        HPCTOOLKIT_STOP();
        work(1);
        HPCTOOLKIT_START();
        work(10);
    }
    return unused;
}

int main(int count, char **arguments)
{
    static void *(*const all[])(void *) = {keep_working, keep_working,   make_threads,
                                           make_threads, open_and_close, switch_off_and_on};
    enum { THREADS = sizeof all / sizeof *all };
    pthread_t threads[THREADS];
    if (count != 3)
        return 2;
    uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(arguments[1]) * 1e9);
    sampling_signal = (uint64_t)1 << (atoi(arguments[2]) - 1);
    mask_signal(SIG_BLOCK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, all[i], NULL);
    while (clock_ns(CLOCK_MONOTONIC) < end)
        work(1);
    puts("fine");
    return 0;
}
