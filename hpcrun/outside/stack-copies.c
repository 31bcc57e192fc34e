#include "hpcrun/outside/stack-copies.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/traced-processes.h"
#include "hpcrun/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#define INTERVAL_NS 250000000u

/* The rings and queues have room for the samples of 10 ms; at first, of more (copy_size_first_time). */
#define LEAST_ROOM_NS 10000000u

/* CPU time of reading a sample, or of recording it (estimated); and what must have been used to know the share of a
 * CPU. */
#define SAMPLE_NS    15000u
#define LEAST_CPU_NS 2000000u

#define SETTLING_MS 2 /* more than the time of the records that perf_rings_read leaves in the rings */

static struct {
    struct copy_size size;
    struct copy_demand news;
    struct copy_range range;
    struct scheduled began; /* the reader's, before the first events */
    unsigned threads;       /* that are measured, then */
    uint64_t looked; /* CLOCK_MONOTONIC */
    bool is_fixed;   /* events could not be opened again */
    int error;
    perf_record_visit_function *visit; /* for records that are read meanwhile */
} copies;

/* The most bytes that each sample may have, so that the samples of `ns` ns fit into the ring of a CPU, and those of
 * `cpus` CPUs into the queue of a process. */
static uint64_t room_for(uint64_t ns, unsigned cpus)
{
    size_t ring = perf_rings_bytes_of_each(), queue = QUEUE_BYTES / cpus;
    return (ring < queue ? ring : queue) / (ns / process.config.events[0].period + 1);
}

static struct scheduled own_schedule(void)
{
    struct scheduled own = {0};
    int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        schedule_read(fd, &own);
        close(fd);
    }
    return own;
}

void stack_copies_begin(unsigned threads)
{
    copies.began = own_schedule();
    uint64_t first_ns = copy_size_first_time(threads, copies.began.ready, copies.began.timeslices);
    copy_size_begin(&copies.size, room_for(first_ns, perf_rings_cpus()), room_for(LEAST_ROOM_NS, 1));
    perf_events_set_copy(COPY_SIZE(copies.size.index));
    copies.threads = threads ? threads : UINT_MAX; /* the system's are not counted */
    copies.range.least = copies.range.most = COPY_SIZE(copies.size.index) >> 10;
}

void stack_copies_slow_down(void)
{
    const struct scheduled now = own_schedule();
    uint64_t cpu = now.cpu - copies.began.cpu, ready = now.ready - copies.began.ready;
    uint64_t period = process.config.events[0].period, needed = SAMPLE_NS * (1000000000u / period);
    uint64_t parts = cpu >= LEAST_CPU_NS ? (cpu + ready) / cpu : 1;
    if (copy_size_slow_down(&copies.size, needed, parts, copies.threads, perf_rings_cpus()))
        perf_events_set_period(period << copies.size.slowdown);
}

bool stack_copies_have_room(unsigned ms)
{
    return room_for((uint64_t)ms * 1000000u >> copies.size.slowdown, perf_rings_cpus()) >= COPY_SIZE(copies.size.index);
}

struct copy_range stack_copies_range(void)
{
    return copies.range;
}

unsigned stack_copies_slowdown(void)
{
    return 1u << copies.size.slowdown;
}

static void note_size(void)
{
    unsigned kilobytes = COPY_SIZE(copies.size.index) >> 10;
    copies.range.least = kilobytes < copies.range.least ? kilobytes : copies.range.least;
    copies.range.most = kilobytes > copies.range.most ? kilobytes : copies.range.most;
}

void stack_copies_lose(uint64_t records)
{
    copies.news.lost += records;
}

void stack_copies_gather(struct record_queue *queue)
{
    record_queue_demand(queue, &copies.news);
}

static void gather_of(struct traced *process)
{
    if (process->queue)
        stack_copies_gather(process->queue);
}

static struct {
    int pids[MAX_TRACED];
    unsigned count;
} known;

static void know(struct traced *traced)
{
    known.pids[known.count++] = traced->pid;
}

static void read_meanwhile(void)
{
    record_queues_wake(perf_rings_read(false, copies.visit));
}

/* The rings would be full before the events of thousands of threads are open: they are read meanwhile. */
static void open_process_again(int pid)
{
    unsigned missing = 0;
    int error = copies.error == 0 && traced_find(pid) ? perf_events_open(pid, &missing) : -ESRCH;
    if (error != -ESRCH)
        copies.error = missing ? -EMFILE : error;
}

/* Repeats until no process was found without the new events: a process inherits them if its parent had them when it
 * began, else the record of its begin is in a ring by then. */
static void open_all_again(void)
{
    size_t before;
    do {
        before = perf_events_count();
        known.count = 0;
        traced_visit(know); /* what is read meanwhile may remove processes */
        for (unsigned i = 0; i < known.count; i++)
            open_process_again(known.pids[i]);
        poll(NULL, 0, SETTLING_MS);
        read_meanwhile();
    } while (perf_events_count() > before && copies.error == 0);
}

/* With the present size and rate; `of_cpus`: events of the CPUs. */
static void open_again(bool of_cpus)
{
    copies.error = 0;
    perf_events_begin_again(COPY_SIZE(copies.size.index), process.config.events[0].period << copies.size.slowdown,
                            read_meanwhile);
    if (of_cpus)
        copies.error = perf_events_open_system();
    else
        open_all_again();
    perf_events_end_again(copies.error == 0);
    copies.news = (struct copy_demand){0}; /* what was lost meanwhile says nothing about the new events */
}

bool stack_copies_take_cpus(perf_record_visit_function *visit)
{
    copies.visit = visit;
    open_again(true);
    return copies.error == 0;
}

void stack_copies_fit(perf_record_visit_function *visit)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (copies.is_fixed || now - copies.looked < INTERVAL_NS)
        return;
    copies.looked = now;
    copies.visit = visit;
    traced_visit(gather_of);
    const unsigned slowdown = copies.size.slowdown;
    bool changes = copy_size_fit(&copies.size, &copies.news);
    copies.news = (struct copy_demand){0};
    if (!changes)
        return;
    open_again(perf_events_are_of_system());
    copies.is_fixed = copies.error != 0;
    if (copies.is_fixed) /* the events are those of before */
        copies.size.slowdown = slowdown;
    else
        note_size();
}
