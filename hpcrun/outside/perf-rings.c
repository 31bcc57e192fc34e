#include "hpcrun/outside/perf-rings.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/copy-size.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/record-queue.h"
#include "hpcrun/outside/ring-reader.h"
#include "lib/binary-search.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS 1024

/* Users without privileges get kernel.perf_event_mlock_kb for each CPU, 516 KB, and what they may lock (ulimit -l) of all
 * their rings. */
#define MOST_BYTES       (64u << 20) /* of all rings */
#define MOST_RING_BYTES  (4u << 20)
#define LEAST_RING_BYTES (64u << 10)

/* The rings of several CPUs have no common order. A record's time is taken a bit before others see it: the
 * youngest records stay in their rings until the next reading, so that records are read in the order of time. */
#define SETTLING_NS 200000u

/* If the kernel does not end the events of a program in this time, the program has not gained rights. */
#define END_MS 100

/* An event. */
struct opened {
    uint64_t id;
    int fd, tid; /* fd -1: it is closed */
};

/* All events in the order in which they were opened, which is that of their ids. In memory that workers share: they know
 * events that are opened later. */
#define MOST_EVENTS (1u << 20)
struct events {
    _Atomic size_t count, first; /* `first`: index of the first one with the present size of copies */
    struct opened at[MOST_EVENTS];
};

static struct {
    struct perf_event_attr attr;
    unsigned cpus, online[MAX_CPUS];
    struct ring rings[MAX_CPUS]; /* by index in `online` */
    size_t ring_bytes;           /* of the next ring */
    struct events *events;
    size_t first_before; /* events->first before perf_rings_begin_again */
    uint64_t again_id;   /* events from this id on are those opened again, */
    uint64_t again_time; /* and count from then on, when others no longer do */
    uint64_t lost;       /* samples */
    int error;           /* a negative errno of the last failure that matters */
    unsigned missing;    /* threads without events */
    int most_fds;        /* the rest is for processes and their measurements */
    bool any_new, is_system, has_young; /* the last: records that were too young are in the rings */
} perf = {.again_id = UINT64_MAX, .again_time = UINT64_MAX};

/* ---- opening ---- */

/* /sys/devices/system/cpu/online: "0-3,6". */
static void find_cpus(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    unsigned first, last;
    perf.cpus = 0;
    while (file && fscanf(file, "%u", &first) == 1) {
        last = first;
        if (fscanf(file, "-%u", &last) < 0)
            last = first;
        for (; first <= last && perf.cpus < MAX_CPUS; first++)
            perf.online[perf.cpus++] = first;
        if (fgetc(file) != ',')
            break;
    }
    if (file)
        fclose(file);
    long unlisted = perf.cpus == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
    for (long i = 0; i < unlisted && i < MAX_CPUS; i++)
        perf.online[perf.cpus++] = (unsigned)i;
}

static int open_event(int tid, unsigned cpu)
{
    return (int)sys6(SYS_perf_event_open, SYS_ARG(&perf.attr), tid, cpu, -1, PERF_FLAG_FD_CLOEXEC,
                     0);
}

static bool is_forbidden(int error)
{
    return error == -EACCES || error == -EPERM;
}

/* Gives up samples in the kernel if this user can't have them. */
static int open_as_allowed(int tid, unsigned cpu)
{
    int fd = open_event(tid, cpu);
    if (is_forbidden(fd) && !perf.attr.exclude_kernel) {
        perf.attr.exclude_kernel = 1;
        fd = open_event(tid, cpu);
        perf.attr.exclude_kernel = fd >= 0;
    }
    return fd;
}

/* As large as the user may have. */
static int map_ring(struct ring *ring, int fd)
{
    for (; perf.ring_bytes >= LEAST_RING_BYTES; perf.ring_bytes /= 2) {
        void *at = mmap(NULL, RING_PAGE + perf.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            *ring = (struct ring){.fd = fd, .page = at, .bytes = perf.ring_bytes};
            return 0;
        }
        if (errno != EPERM)
            break;
    }
    return -errno;
}

static int open_ring(unsigned i)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC,
                                   .watermark = 1,
                                   .wakeup_watermark = perf.attr.wakeup_watermark};
    if (perf.rings[i].page)
        return 0;
    int fd = (int)sys6(SYS_perf_event_open, SYS_ARG(&attr), 0, perf.online[i], -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (fd == -ENODEV) /* the CPU went offline */
        return 0;
    int error = fd < 0 ? fd : map_ring(&perf.rings[i], fd);
    if (error < 0 && fd >= 0)
        close(fd);
    return error;
}

static int add_event(int fd, int tid, const struct ring *ring)
{
    uint64_t id;
    size_t n = perf.events->count;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0 || ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        return -errno;
    if (n == MOST_EVENTS)
        return -EMFILE;
    perf.events->at[n] = (struct opened){id, fd, tid};
    perf.events->count = n + 1;
    return 0;
}

static bool has_events(int tid)
{
    const struct events *events = perf.events;
    for (size_t i = events->count; i > events->first; i--)
        if (events->at[i - 1].tid == tid)
            return true;
    return false;
}

static int open_on_cpu(int tid, unsigned i)
{
    if (!perf.rings[i].page)
        return 0;
    int fd = open_as_allowed(tid, perf.online[i]);
    if (fd == -ENODEV)
        return 0;
    int error = fd < 0 ? fd : fd >= perf.most_fds ? -EMFILE : add_event(fd, tid, &perf.rings[i]);
    if (error < 0 && fd >= 0)
        close(fd);
    return error;
}

/* A thread that ends meanwhile needs none. */
static void open_thread(int tid, void *data)
{
    (void)data;
    if (has_events(tid) || perf.error != 0)
        return;
    int error = 0;
    for (unsigned i = 0; i < perf.cpus && error == 0; i++)
        error = open_on_cpu(tid, i);
    perf.any_new |= error == 0;
    if (error == -EMFILE || error == -ENFILE)
        perf.missing++;
    else if (error != -ESRCH)
        perf.error = error;
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    perf.most_fds = INT_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        perf.most_fds = limit.rlim_max > INT_MAX ? INT_MAX : (int)(limit.rlim_max - limit.rlim_max / 4);
    }
}

static void describe(const struct event *event, bool at_exec)
{
    perf.attr = (struct perf_event_attr){
        .size = sizeof perf.attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = event->period,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .exclude_callchain_user = 1,
        .sample_regs_user = SAMPLED_REGISTERS,
        .sample_stack_user = COPY_SIZE(0),
        .inherit = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .context_switch = event->kind == EVENT_REALTIME,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .exclude_hv = 1,
        .disabled = at_exec,
        .enable_on_exec = at_exec,
        .watermark = 1,
        .wakeup_watermark = perf.is_system ? 0 : LEAST_RING_BYTES / 4, /* 0: half of the ring */
    };
}

int perf_rings_probe(int pid)
{
    describe(&(struct event){.kind = EVENT_CPUTIME, .period = 1000000}, false);
    perf.attr.exclude_kernel = 1;
    perf.attr.inherit = 0;
    int fd =
        (int)sys6(SYS_perf_event_open, SYS_ARG(&perf.attr), pid, pid < 0 ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

size_t perf_rings_bytes(void)
{
    size_t sum = 0;
    for (const struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++)
        sum += ring->bytes;
    return sum;
}

static struct events *map_events(void)
{
    void *at = mmap(NULL, sizeof(struct events), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

int perf_rings_prepare(const struct event *event, bool at_exec, bool is_system, size_t most_bytes)
{
    int error = 0;
    size_t most = most_bytes < MOST_BYTES ? most_bytes : MOST_BYTES;
    perf.is_system = is_system;
    find_cpus();
    for (perf.ring_bytes = MOST_RING_BYTES; perf.ring_bytes > LEAST_RING_BYTES && perf.ring_bytes * perf.cpus > most;)
        perf.ring_bytes /= 2;
    raise_descriptor_limit();
    describe(event, at_exec);
    if (!perf.events && !(perf.events = map_events()))
        return -ENOMEM;
    for (unsigned i = 0; i < perf.cpus && error == 0; i++)
        error = open_ring(i);
    return error;
}

/* ring_bytes is the size of the last ring, which is the least one. */
uint64_t perf_rings_room(uint64_t ns)
{
    return (perf.ring_bytes < QUEUE_BYTES ? perf.ring_bytes : QUEUE_BYTES) / (ns / perf.attr.sample_period + 1);
}

void perf_rings_set_copy(unsigned bytes)
{
    perf.attr.sample_stack_user = bytes;
}

/* Repeats until a pass finds no new thread. A thread that began before its creator had an event has none
 * by inheritance; one that began later may now have two, and its samples count once (perf_rings_counts). */
int perf_rings_open(unsigned *missing)
{
    size_t count = perf.events->count;
    perf.error = 0;
    do {
        perf.any_new = false;
        *missing -= perf.missing;
        perf.missing = 0;
        if (!measured_visit_threads(open_thread, NULL))
            return -ESRCH;
        *missing += perf.missing;
    } while (perf.any_new && perf.error == 0);
    bool no_events = perf.missing > 0;
    perf.missing = 0;
    return perf.error ? perf.error : perf.events->count > count ? 0 : no_events ? -EMFILE : -ESRCH;
}

int perf_rings_open_system(void)
{
    int error = 0;
    perf.attr.inherit = 0;
    perf.attr.exclude_idle = 1;
    for (unsigned i = 0; i < perf.cpus && error == 0; i++)
        error = open_on_cpu(-1, i);
    return error;
}

bool perf_rings_see_kernel(void)
{
    return !perf.attr.exclude_kernel;
}

bool perf_rings_are_system(void)
{
    return perf.is_system;
}

size_t perf_rings_count(void)
{
    return perf.events->count;
}

static void close_events(size_t from, size_t to)
{
    for (struct opened *its = perf.events->at + from; its < perf.events->at + to; its++) {
        if (its->fd >= 0)
            close(its->fd);
        its->fd = -1;
    }
}

void perf_rings_begin_again(unsigned bytes)
{
    struct events *events = perf.events;
    perf.first_before = events->first;
    perf.again_id = events->count ? events->at[events->count - 1].id + 1 : 0;
    perf.again_time = UINT64_MAX;
    perf.attr.disabled = perf.attr.enable_on_exec = 0;
    perf_rings_set_copy(bytes);
    events->first = events->count;
}

void perf_rings_end_again(bool is_good)
{
    struct events *events = perf.events;
    size_t first = events->first;
    if (is_good) {
        perf.again_time = sys_clock(CLOCK_MONOTONIC);
        close_events(0, first);
    } else {
        close_events(first, events->count);
        events->first = perf.first_before;
    }
}

void perf_rings_stop(void)
{
    for (size_t i = 0; perf.events && i < perf.events->count; i++)
        ioctl(perf.events->at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void perf_rings_await_end(void)
{
    struct pollfd first = {.fd = perf.events->at[0].fd};
    while (poll(&first, 1, END_MS) < 0 && errno == EINTR)
        continue;
    close_events(0, perf.events->count);
    perf.events->count = 0;
}

/* ---- reading ---- */

/* With the largest copies, also waits no longer than young records take to settle: what is beyond a copy is read before it
 * changes. */
void perf_rings_wait(int other, int milliseconds)
{
    static struct pollfd fds[1 + MAX_CPUS];
    nfds_t n = 1;
    fds[0] = (struct pollfd){.fd = other, .events = POLLIN};
    for (unsigned i = 0; i < perf.cpus; i++)
        if (perf.rings[i].page)
            fds[n++] = (struct pollfd){.fd = perf.rings[i].fd, .events = POLLIN};
    bool soon = perf.has_young && perf.attr.sample_stack_user == COPY_SIZE(COPY_SIZES - 1);
    const struct timespec time = sys_timespec(soon ? SETTLING_NS : (uint64_t)milliseconds * 1000000u);
    ppoll(fds, n, &time, NULL);
}

/* A thread may have several events: its own, and what it has inherited from its creator, if that had an event of
 * its own when the thread began. Its own one counts, else that of the first sample. */
bool perf_rings_counts(int tid, uint64_t event, int *opener)
{
    const struct events *events = perf.events;
    if (perf.is_system)
        return true;
    size_t count = events->count, i = partition_point(k, count, events->at[k].id < event);
    if (i == count || events->at[i].id != event)
        return false;
    if (*opener == 0 || events->at[i].tid == tid)
        *opener = has_events(tid) ? tid : events->at[i].tid;
    return events->at[i].tid == *opener;
}

/* Whether a record comes from an event that counts at its time. */
static bool is_current(const struct perf_event_header *record)
{
    bool is_again = perf_record_event(record) >= perf.again_id;
    return record->type == PERF_RECORD_LOST || is_again == (perf_record_time(record) >= perf.again_time);
}

/* The ring with the earliest record that was not visited, of those until `limit`; NULL: there is none. */
static struct ring *earliest(uint64_t limit)
{
    struct ring *found = NULL;
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++) {
        const struct perf_event_header *record = ring->page ? ring_first(ring) : NULL;
        uint64_t time = record ? perf_record_time(record) : UINT64_MAX;
        if (record && time <= limit) {
            found = ring;
            limit = time;
        }
    }
    return found;
}

uint64_t perf_rings_read(bool is_last, void (*visit)(const struct perf_event_header *record))
{
    uint64_t limit = is_last ? UINT64_MAX : sys_clock(CLOCK_MONOTONIC) - SETTLING_NS;
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++)
        if (ring->page)
            ring_begin(ring);
    for (struct ring *ring; (ring = earliest(limit));) {
        const struct perf_event_header *record = ring_first(ring);
        perf.lost += perf_record_lost(record);
        if (is_current(record))
            visit(record);
        ring_skip(ring, record);
    }
    perf.has_young = false;
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++)
        if (ring->page) {
            perf.has_young |= ring->next < ring->head;
            ring_end(ring);
        }
    return limit;
}

uint64_t perf_rings_lost(void)
{
    uint64_t lost = perf.lost;
    perf.lost = 0;
    return lost;
}
