/* loads HOW MS LEAST LIBRARY...: opens one of the libraries after the other, works in it, and
 * closes it again, at full speed for MS of CPU time and at least LEAST times, while another thread
 * recurses. HOW is dlopen or dlmopen.
 * Each library, as test_loader.py makes them, has constructors and destructors, which work, and
 *   void work(long spins)   works for a while in frames of its own
 * Prints
 *   used NUMBER LOADS LEAST NS    CPU time of this thread in the calls of library NUMBER: NS with what
 *                                 sampling cost it, LEAST if each call took as long as the fastest one
 *   halted NS SQUARES LONGEST     time of calls that took over MANY times the fastest one's time,
 *                                 because a virtual machine was halted; sum of its squares, in s^2;
 *                                 the longest, in ns
 *   burned NS                     the CPU time of both threads
 *   reused COUNT                  number of loads of a library to the addresses of another one's code */
#include "burn.h"

#include <dlfcn.h>

#define LIBRARIES 4
#define PLACES    64
#define MANY      10

static bool new_namespace;
static volatile bool stop;

static uint64_t used[LIBRARIES], fastest = UINT64_MAX, halted, longest_halt;
static double halt_squares;
static unsigned loads[LIBRARIES], reused;

static void *open_library(const char *path)
{
    return new_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);
}

/* Addresses of code, and the library that had its code there last. */
static void note_place(uintptr_t address, int which)
{
    static struct {
        uintptr_t page;
        int which;
    } places[PLACES];
    for (int i = 0; i < PLACES; i++) {
        if (places[i].page != 0 && places[i].page != address >> 12)
            continue;
        reused += places[i].page != 0 && places[i].which != which;
        places[i].page = address >> 12;
        places[i].which = which;
        return;
    }
}

/* Work in a library is below the function that belongs to it. It is long compared to the reading of
 * clocks around it, which is not, and to what sampling costs right after a library was loaded. */
#define CALLER(name)                                                                               \
    __attribute__((noinline)) static void name(void (*work)(long))                                 \
    {                                                                                              \
        work(240000);                                                                              \
        burn_sink++;                                                                               \
    }

CALLER(call_0)
CALLER(call_1)
CALLER(call_2)
CALLER(call_3)

static void (*const callers[LIBRARIES])(void (*)(long)) = {call_0, call_1, call_2, call_3};

static void note_halt(uint64_t took)
{
    fastest = took < fastest ? took : fastest;
    if (took <= MANY * fastest)
        return;
    halted += took;
    halt_squares += (double)took * 1e-9 * (double)took * 1e-9;
    longest_halt = took > longest_halt ? took : longest_halt;
}

static void load_and_work(const char *path, int which)
{
    void *library = open_library(path);
    void *symbol = library ? dlsym(library, "work") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    note_place((uintptr_t)symbol, which);
    uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    void (*work)(long);
    memcpy(&work, &symbol, sizeof work);
    callers[which](work);
    uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    used[which] += took;
    note_halt(took);
    loads[which]++;
    dlclose(library);
}

__attribute__((noinline)) static uint64_t descend(int depth)
{
    volatile char room[40];
    room[0] = (char)depth;
    if (depth == 0)
        burn_unit();
    return depth > 0 ? descend(depth - 1) + (uint64_t)room[0] : burn_sink;
}

static void *recurse(void *argument)
{
    while (!stop)
        descend(60);
    return argument;
}

int main(int count, char **arguments)
{
    if (count != 4 + LIBRARIES)
        return 2;
    new_namespace = strcmp(arguments[1], "dlmopen") == 0;
    unsigned least = (unsigned)atoi(arguments[3]);
    pthread_t thread;
    pthread_create(&thread, NULL, recurse, NULL);
    uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)atoi(arguments[2]) * 1000000u;
    for (unsigned i = 0; i < least || clock_ns(CLOCK_THREAD_CPUTIME_ID) < end; i++)
        load_and_work(arguments[4 + i % LIBRARIES], (int)(i % LIBRARIES));
    uint64_t burned = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
    stop = true;
    pthread_join(thread, NULL);
    for (int i = 0; i < LIBRARIES; i++)
        printf("used %d %u %lu %lu\n", i, loads[i], loads[i] * fastest, used[i]);
    printf("halted %lu %.12f %lu\n", halted, halt_squares, longest_halt);
    printf("burned %lu\n", (unsigned long)burned);
    printf("reused %u\n", reused);
    return 0;
}
