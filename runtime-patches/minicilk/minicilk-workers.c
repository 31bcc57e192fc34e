/* Starting and ending the workers. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "minicilk-runtime.h"

struct runtime minicilk_runtime;
const struct minicilk_observer *minicilk_observer;

#ifndef MINICILK_UNTAGGED
#line 17 "hpctoolkit:parallel-overhead:scheduler"
#endif
RUNTIME_CODE int minicilk_usable_cpus(void)
{
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set)
            break;
        const size_t size = CPU_ALLOC_SIZE(cpus);
        const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return 1;
}

RUNTIME_CODE static int default_workers(void)
{
    const int cpus = minicilk_usable_cpus();
    return cpus < MINICILK_MAX_WORKERS ? cpus : MINICILK_MAX_WORKERS;
}

/* The value of MINICILK_WORKERS; 0: not set; -1: invalid. */
RUNTIME_CODE static int workers_by_environment(void)
{
    const char *text = getenv("MINICILK_WORKERS");
    if (!text || !*text)
        return 0;
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    return errno == 0 && *end == '\0' && value >= 1 && value <= MINICILK_MAX_WORKERS ? (int)value
                                                                                     : -1;
}

/* The number of workers to start; 0: invalid, which is reported. */
RUNTIME_CODE static int choose_workers(int wanted)
{
    if (wanted >= 1 && wanted <= MINICILK_MAX_WORKERS)
        return wanted;
    if (wanted != 0) {
        minicilk_complain("%d workers: must be 1 to %d, or 0 for the default", wanted,
                          MINICILK_MAX_WORKERS);
        return 0;
    }
    const int value = workers_by_environment();
    if (value < 0)
        minicilk_complain("MINICILK_WORKERS=%s: must be 1 to %d", getenv("MINICILK_WORKERS"),
                          MINICILK_MAX_WORKERS);
    return value > 0 ? value : value == 0 ? default_workers() : 0;
}

enum { SLOTS_SIZE = MINICILK_DEPTH * sizeof(struct minicilk_slot) };

/* Reserves address space for the deepest nesting; only used pages take memory. */
RUNTIME_CODE static struct minicilk_slot *map_slots(void)
{
    void *slots = mmap(NULL, SLOTS_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return slots == MAP_FAILED ? NULL : slots;
}

RUNTIME_CODE static bool init_worker(struct worker *worker, unsigned number)
{
    worker->slots = map_slots();
    if (!worker->slots)
        return false;
    worker->inlined.limit = worker->slots + MINICILK_DEPTH;
    atomic_store(&worker->inlined.head, worker->slots);
    atomic_store(&worker->inlined.tail, worker->slots);
    worker->random = number * 2654435761u + 1;
    pthread_mutex_init(&worker->lock, NULL);
    return true;
}

/* Frees all workers. Their threads have ended. */
RUNTIME_CODE static void release_workers(struct runtime *runtime)
{
    for (int i = 0; i < runtime->count; i++) {
        struct worker *worker = &runtime->workers[i];
        if (worker->slots) {
            pthread_mutex_destroy(&worker->lock);
            munmap(worker->slots, SLOTS_SIZE);
        }
    }
    free(runtime->workers);
    runtime->workers = NULL;
    runtime->count = 0;
    minicilk_free_all();
}

RUNTIME_CODE static bool make_workers(struct runtime *runtime, int count)
{
    const size_t size = (size_t)count * sizeof *runtime->workers;
    runtime->workers = aligned_alloc(_Alignof(struct worker), size);
    if (!runtime->workers)
        return false;
    memset(runtime->workers, 0, size);
    runtime->count = count;
    for (int i = 0; i < count; i++) {
        if (!init_worker(&runtime->workers[i], (unsigned)i)) {
            release_workers(runtime);
            return false;
        }
    }
    return true;
}

RUNTIME_CODE static void name_thread(const struct worker *worker)
{
    char name[16];
    snprintf(name, sizeof name, "minicilk-%d", (int)(worker - minicilk_runtime.workers));
    pthread_setname_np(pthread_self(), name);
}

RUNTIME_CODE static void *work(void *argument)
{
    struct worker *worker = argument;
    atomic_store(&worker->state, MINICILK_SCHEDULING);
    atomic_store(&worker->tid, gettid());
    name_thread(worker);
    minicilk_schedule(worker, NULL);
    return NULL;
}

/* Ends and joins the threads of workers 1 to `started`. */
RUNTIME_CODE static void end_threads(struct runtime *runtime, int started)
{
    atomic_store(&runtime->ending, true);
    for (int i = 1; i <= started; i++)
        minicilk_wake(&runtime->workers[i]);
    for (int i = 1; i <= started; i++)
        pthread_join(runtime->workers[i].thread, NULL);
    atomic_store(&runtime->ending, false);
}

RUNTIME_CODE static int start_threads(struct runtime *runtime)
{
    for (int i = 1; i < runtime->count; i++) {
        struct worker *worker = &runtime->workers[i];
        const int error = pthread_create(&worker->thread, NULL, work, worker);
        if (error) {
            end_threads(runtime, i - 1);
            return error;
        }
    }
    return 0;
}

/* Waits until all tids are set, so that a profiler finds the thread of every worker. */
RUNTIME_CODE static void await_tids(struct runtime *runtime)
{
    for (int i = 1; i < runtime->count; i++) {
        while (atomic_load(&runtime->workers[i].tid) == 0)
            sched_yield();
    }
}

/* Profilers see the workers as long as there are threads, which are not the program's. */
RUNTIME_CODE static void show_workers(const struct runtime *runtime)
{
    atomic_store(&minicilk_live.workers, (const char *)runtime->workers);
    atomic_store(&minicilk_live.n, (uint32_t)runtime->count);
}

RUNTIME_CODE static void hide_workers(void)
{
    atomic_store(&minicilk_live.n, 0);
    atomic_store(&minicilk_live.workers, NULL);
}

RUNTIME_CODE int minicilk_init_abi(int wanted, unsigned abi)
{
    struct runtime *runtime = &minicilk_runtime;
    if (abi != MINICILK_ABI) {
        minicilk_complain("the program was compiled for version %x, the library is %x", abi,
                          MINICILK_ABI);
        return ENOEXEC;
    }
    if (runtime->workers) {
        minicilk_complain("minicilk_init: already initialized");
        return EALREADY;
    }
    const int count = choose_workers(wanted);
    if (count == 0)
        return EINVAL;
    if (!make_workers(runtime, count)) {
        minicilk_complain("no memory for %d workers", count);
        return ENOMEM;
    }
    minicilk_observer = atomic_load(&minicilk_live.observer);
    minicilk_idle_init();
    atomic_store(&runtime->workers[0].tid, gettid());
    show_workers(runtime);
    const int error = start_threads(runtime);
    if (error) {
        minicilk_complain("can't start %d workers: %s", count, strerror(error));
        hide_workers();
        release_workers(runtime);
        return error;
    }
    await_tids(runtime);
    return 0;
}

RUNTIME_CODE int minicilk_shutdown(void)
{
    struct runtime *runtime = &minicilk_runtime;
    if (!runtime->workers) {
        minicilk_complain("minicilk_shutdown: minicilk_init was not called");
        return EINVAL;
    }
    if (atomic_load(&runtime->computing)) {
        minicilk_complain("minicilk_shutdown: a computation runs");
        return EBUSY;
    }
    end_threads(runtime, runtime->count - 1);
    hide_workers();
    release_workers(runtime);
    return 0;
}

RUNTIME_CODE int minicilk_workers(void)
{
    return minicilk_runtime.count;
}
