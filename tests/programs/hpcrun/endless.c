/* endless LEDGER THREADS [MS]: threads that work without end, in ever new call paths. Each thread
 * notes its CPU time in LEDGER some ten thousand times a second. After MS milliseconds the process
 * ends by a bare exit_group. Meanwhile the first thread creates and joins short threads. */
#include "mapped-ledger.h"

#include <sys/syscall.h>

static uint64_t deadline; /* CLOCK_MONOTONIC; 0: none */

static void left(uint64_t path);
static void right(uint64_t path);

/* The bits of `path` say which way the calls go. */
__attribute__((noinline)) static void go(uint64_t path)
{
    if (path <= 1)
        burn_unit();
    else if (path & 1)
        left(path >> 1);
    else
        right(path >> 1);
    burn_sink++; /* no tail call */
}

__attribute__((noinline)) static void left(uint64_t path)
{
    go(path);
    burn_sink++;
}

__attribute__((noinline)) static void right(uint64_t path)
{
    go(path);
    burn_sink += 2;
}

static void *nothing(void *argument)
{
    burn_unit();
    return argument;
}

static void create_a_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
}

static void *work(void *first)
{
    uint64_t path = (uint64_t)gettid(), noted = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned round = 0;; round++) {
        path = path * 6364136223846793005u + 1442695040888963407u;
        for (int i = 0; i < 4; i++)
            go(path >> 44 | 1);
        uint64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        ledger_note(now - noted);
        noted = now;
        if (first && round % 256 == 0)
            create_a_thread();
        if (deadline && clock_ns(CLOCK_MONOTONIC) > deadline)
            __asm__ volatile("syscall" ::"a"(SYS_exit_group), "D"(3) : "rcx", "r11", "memory");
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    if (count > 3)
        deadline = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(arguments[3]) * 1e6);
    ledger_open(arguments[1]);
    for (int i = 1; i < atoi(arguments[2]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            return 1;
    }
    work(arguments);
}
