#include "hpcrun/outside/frame-catcher.h"

#include "hpcrun/base/cpu-priority.h"
#include "hpcrun/outside/catch.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/perf-switches.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MOST_CATCHERS 1024
#define MOST_WATCHED  MAX_QUEUES
#define STACK_BYTES   (256u << 10)
#define ALARM         SIGIO   /* real-time signals would fill the user's queue while the reader is stopped */

/* A sample that is older when a catcher gets its CPU is not worth the reading. */
#define MOST_AGE_NS 150000u

/* A catcher takes at most one part in CPU_PARTS of its CPU, on average; after a rest it may be this far ahead. */
#define CPU_PARTS     3
#define MOST_AHEAD_NS 4000000u

/* Microseconds. A catcher reads for less than a millisecond. If one does not sleep for so long, a fault of ours keeps
 * the CPU from the user's programs: the kernel ends the reader. */
#define MOST_RUN_US 200000

struct catcher {
    unsigned index; /* of its ring, and of its CPU (perf_rings_at) */
    const struct ring *ring;
    _Atomic int tid;
    uint64_t position; /* in the ring */
    uint64_t cpu_time; /* its own */
    uint64_t paid;     /* CLOCK_MONOTONIC until which its share of the CPU is used up */
    struct catch *catch;
    struct record_queue *caught; /* for the reader's main thread */
};

static struct {
    struct catcher at[MOST_CATCHERS];
    unsigned count, watched_count;
    struct record_queue *taken; /* has a record first that was taken; NULL: none has */
    struct watched {
        _Atomic int pid;
        const struct record_queue *_Atomic queue; /* NULL: there is no agent */
    } watched[MOST_WATCHED];
} catchers;

static struct watched *find(int pid)
{
    struct watched *watched = catchers.watched;
    while (watched < catchers.watched + MOST_WATCHED && atomic_load(&watched->pid) != pid)
        watched++;
    return watched < catchers.watched + MOST_WATCHED ? watched : NULL;
}

/* NULL: there is no agent. The process may be forgotten, and its memory given to another one, meanwhile. */
static const void *copy_shared(const struct watched *watched, int pid, void *to, uint32_t *lacks)
{
    const struct record_queue *queue = atomic_load(&watched->queue);
    if (!queue)
        return NULL;
    memcpy(to, record_queue_note(queue), QUEUE_NOTE_BYTES);
    *lacks = record_queue_lacks(queue);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load(&watched->pid) == pid ? to : NULL;
}

static bool has_time(struct catcher *its, uint64_t now)
{
    uint64_t cpu_time = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    its->paid += CPU_PARTS * (cpu_time - its->cpu_time);
    its->cpu_time = cpu_time;
    its->paid = its->paid > now ? its->paid : now;
    return its->paid < now + MOST_AHEAD_NS;
}

/* In the time that the sampled thread waits for the CPU. */
static void on_sample(struct catcher *its)
{
    struct sample_instant sample;
    _Alignas(16) uint8_t shared[QUEUE_NOTE_BYTES];
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (!ring_youngest(its->ring, &its->position, &sample) || now - sample.time > MOST_AGE_NS)
        return;
    const struct watched *watched = find(sample.pid);
    uint32_t lacks = 0;
    const void *for_agent = watched ? copy_shared(watched, sample.pid, shared, &lacks) : NULL;
    if (!watched || (!for_agent && sample.stack_end == 0) || !has_time(its, now))
        return;
    const struct caught *caught = catch_memory(its->catch, &sample, for_agent, lacks);
    if (caught)
        record_queue_put(its->caught, &caught->header);
}

/* ---- the threads ---- */

static void stay_on_cpu(unsigned cpu)
{
    size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    if (!set)
        return;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
}

/* So that it gets the CPU when a sample wakes it, and not a while later. Users without CAP_SYS_NICE have the second
 * way, since Linux 6.12: a short slice. */
static void be_prompt(void)
{
    const struct sched_param priority = {.sched_priority = 1};
    const struct rlimit most = {MOST_RUN_US, MOST_RUN_US};
    setrlimit(RLIMIT_RTTIME, &most);
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        cpu_priority_shorten_slice();
}

static void *run(void *data)
{
    struct catcher *its = data;
    sigset_t alarm;
    atomic_store(&its->tid, (int)sys_gettid()); /* at once: start waits for it, and the CPU may be a busy one */
    be_prompt();
    stay_on_cpu(its->ring->cpu);
    sigemptyset(&alarm);
    sigaddset(&alarm, ALARM);
    for (;;)
        if (sigwaitinfo(&alarm, NULL) > 0)
            on_sample(its);
    return NULL;
}

static int start(unsigned index, const struct ring *ring)
{
    struct catcher *its = &catchers.at[catchers.count];
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    *its = (struct catcher){.index = index, .ring = ring, .catch = catch_new(), .caught = record_queue_take()};
    if (!its->catch || !its->caught)
        return its->catch ? -ENOSPC : -ENOMEM;
    record_queue_is_looked_at(its->caught);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* it inherits the mask */
    int error = pthread_create(&thread, &attributes, run, its);
    bool is_started = error == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    while (is_started && !atomic_load(&its->tid))
        sched_yield();
    catchers.count += is_started;
    return -error;
}

static int start_all(void)
{
    int error = 0;
    hpcrun_agent.start(&host_for_catches);
    for (unsigned i = 0; i < perf_rings_cpus() && i < MOST_CATCHERS && error == 0; i++)
        error = perf_rings_at(i) ? start(i, perf_rings_at(i)) : 0;
    return error;
}

static void set_alarms(bool on)
{
    for (struct catcher *its = catchers.at; its < catchers.at + catchers.count; its++)
        perf_events_alarm(its->index, on ? atomic_load(&its->tid) : 0, ALARM);
}

int catchers_watch(int pid, const struct record_queue *queue)
{
    struct watched *known = find(pid), *watched = known ? known : find(0);
    int error = !watched ? -ENOSPC : queue ? perf_switches_watch(pid) : 0;
    if (error == 0 && catchers.count == 0)
        error = start_all();
    if (error != 0) {
        perf_switches_unwatch(pid);
        return error;
    }
    if (!known && catchers.watched_count++ == 0)
        set_alarms(true);
    atomic_store(&watched->queue, queue);
    atomic_store(&watched->pid, pid);
    return 0;
}

void catchers_forget(int pid)
{
    struct watched *watched = find(pid);
    perf_switches_unwatch(pid);
    if (!watched)
        return;
    atomic_store(&watched->pid, 0);
    if (--catchers.watched_count == 0)
        set_alarms(false);
}

const struct caught *catchers_take(const struct perf_event_header *sample)
{
    const struct perf_event_header *first;
    uint64_t time = perf_record_time(sample);
    for (unsigned i = 0; i < catchers.count; i++) {
        struct record_queue *caught = catchers.at[i].caught;
        while ((first = record_queue_first(caught)) && perf_record_time(first) < time)
            record_queue_remove_first(caught);
        if (first && perf_record_time(first) == time && perf_record_tid(first) == perf_record_tid(sample)) {
            catchers.taken = caught;
            return (const struct caught *)first;
        }
    }
    return NULL;
}

void catchers_release(void)
{
    if (catchers.taken)
        record_queue_remove_first(catchers.taken);
    catchers.taken = NULL;
}
