#include "hpcrun/outside/perf-rings.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/measured-process.h"
#include "lib/binary-search.h"

#include <errno.h>
#include <fcntl.h>
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

#define PAGE     4096u
#define MAX_CPUS 1024

/* A ring has room for the samples of about a tenth of a second, and a sample for the stack of most paths.
 * Users without privileges get kernel.perf_event_mlock_kb for each CPU, 516 KB, of all their rings. */
#define MOST_BYTES        (64u << 20) /* of all rings */
#define MOST_RING_BYTES   (4u << 20)
#define LEAST_RING_BYTES  (64u << 10)
#define USUAL_RING_BYTES  (512u << 10)
#define MOST_STACK_BYTES  (32u << 10)
#define LEAST_STACK_BYTES (4u << 10)
#define ROOM_NS           100000000u

/* The rings of several CPUs have no common order. A record's time is taken a bit before others see it: the
 * youngest records stay in their rings until the next reading, so that records are read in the order of time. */
#define SETTLING_NS 1000000u

/* If the kernel does not end the events of a program in this time, the program has not gained rights. */
#define END_MS 100

/* Records that are no samples are smaller. */
#define LEAST_ROOM 4096u

struct ring {
    int fd;                            /* the event that it was mapped for */
    struct perf_event_mmap_page *page; /* NULL: no ring */
    size_t bytes;                      /* a power of two */
    uint64_t head, next;               /* of what is being read */
    int alarmed, alarm;                /* perf_rings_alarm; 0: none */
};

/* An event; they are opened in the order of their ids. */
struct opened {
    uint64_t id;
    int fd, tid;
    unsigned ring;
};

static struct {
    struct perf_event_attr attr;
    unsigned cpus, online[MAX_CPUS];
    struct ring rings[MAX_CPUS]; /* by index in `online` */
    size_t ring_bytes;           /* of the next ring */
    struct opened *events;
    size_t count, room;
    int error;        /* a negative errno of the last failure that matters */
    unsigned missing; /* threads without events */
    int most_fds;     /* the rest is for processes and their measurements */
    bool any_new, is_system, is_full;
} perf;

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
        void *at = mmap(NULL, PAGE + perf.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            *ring = (struct ring){.fd = fd, .page = at, .bytes = perf.ring_bytes};
            return 0;
        }
        if (errno != EPERM)
            break;
    }
    return -errno;
}

static void set_alarm(const struct ring *ring, int fd)
{
    const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = ring->alarmed};
    if (!ring->alarmed)
        return;
    fcntl(fd, F_SETOWN_EX, &owner);
    fcntl(fd, F_SETSIG, ring->alarm);
    fcntl(fd, F_SETFL, O_ASYNC);
}

static int add_event(int fd, int tid, struct ring *ring)
{
    uint64_t id;
    int error = ring->page ? 0 : map_ring(ring, fd);
    if (error == 0 && ring->fd != fd && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
        error = -errno;
    if (error == 0 && ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        error = -errno;
    if (error == 0 && perf.count == perf.room) {
        size_t room = perf.room ? 2 * perf.room : 256;
        struct opened *grown = realloc(perf.events, room * sizeof *grown);
        perf.events = grown ? grown : perf.events;
        perf.room = grown ? room : perf.room;
        error = grown ? 0 : -ENOMEM;
    }
    if (error == 0)
        perf.events[perf.count++] = (struct opened){id, fd, tid, (unsigned)(ring - perf.rings)};
    if (error == 0)
        set_alarm(ring, fd);
    return error;
}

static bool has_events(int tid)
{
    for (size_t i = perf.count; i > 0; i--)
        if (perf.events[i - 1].tid == tid)
            return true;
    return false;
}

static int open_on_cpu(int tid, unsigned i)
{
    int fd = open_as_allowed(tid, perf.online[i]);
    if (fd == -ENODEV) /* the CPU went offline */
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

/* As many bytes of the stack as leave room for the samples of a tenth of a second; a multiple of 8. */
static unsigned stack_bytes(uint64_t period)
{
    uint64_t samples = ROOM_NS / period + 1, bytes = USUAL_RING_BYTES / samples;
    bytes = bytes > MOST_STACK_BYTES ? MOST_STACK_BYTES : bytes;
    return (unsigned)(bytes < LEAST_STACK_BYTES ? LEAST_STACK_BYTES : bytes & ~(uint64_t)7);
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
        .sample_stack_user = stack_bytes(event->period),
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
        .wakeup_watermark = LEAST_RING_BYTES / 4,
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

void perf_rings_prepare(const struct event *event, bool at_exec, size_t most_bytes)
{
    size_t most = most_bytes < MOST_BYTES ? most_bytes : MOST_BYTES;
    find_cpus();
    for (perf.ring_bytes = MOST_RING_BYTES; perf.ring_bytes > LEAST_RING_BYTES && perf.ring_bytes * perf.cpus > most;)
        perf.ring_bytes /= 2;
    raise_descriptor_limit();
    describe(event, at_exec);
}

/* Repeats until a pass finds no new thread. A thread that began before its creator had an event has none
 * by inheritance; one that began later may now have two, and its samples count once (perf_rings_counts). */
int perf_rings_open(unsigned *missing)
{
    size_t count = perf.count;
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
    return perf.error ? perf.error : perf.count > count ? 0 : no_events ? -EMFILE : -ESRCH;
}

int perf_rings_open_system(void)
{
    int error = 0;
    perf.is_system = true;
    perf.attr.inherit = 0;
    perf.attr.exclude_idle = 1;
    perf.attr.wakeup_watermark = 0; /* the kernel takes half of the ring */
    for (unsigned i = 0; i < perf.cpus && error == 0; i++)
        error = open_on_cpu(-1, i);
    return error;
}

bool perf_rings_see_kernel(void)
{
    return !perf.attr.exclude_kernel;
}

void perf_rings_stop(void)
{
    for (size_t i = 0; i < perf.count; i++)
        ioctl(perf.events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void perf_rings_await_end(void)
{
    struct pollfd first = {.fd = perf.events[0].fd};
    while (poll(&first, 1, END_MS) < 0 && errno == EINTR)
        continue;
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++) {
        if (ring->page)
            munmap(ring->page, PAGE + ring->bytes);
        *ring = (struct ring){0};
    }
    while (perf.count > 0)
        close(perf.events[--perf.count].fd);
}

/* ---- reading ---- */

/* An event whose thread has ended is always ready, with POLLHUP: that must not make a loop without a pause. */
void perf_rings_wait(int other, int milliseconds)
{
    static struct pollfd fds[1 + MAX_CPUS];
    nfds_t n = 1;
    fds[0] = (struct pollfd){.fd = other, .events = POLLIN};
    for (unsigned i = 0; i < perf.cpus; i++)
        if (perf.rings[i].page)
            fds[n++] = (struct pollfd){.fd = perf.rings[i].fd, .events = POLLIN};
    bool is_ready = poll(fds, n, milliseconds) > 0, has_hung_up = is_ready;
    for (nfds_t i = 0; i < n && is_ready; i++)
        has_hung_up &= !(fds[i].revents & POLLIN);
    if (has_hung_up)
        poll(fds, 1, milliseconds);
}

static const uint8_t *ring_data(const struct ring *ring)
{
    return (const uint8_t *)ring->page + PAGE;
}

/* The record at a position: in place, or copied if it is in two parts. */
static const struct perf_event_header *record_at(const struct ring *ring, uint64_t position)
{
    static _Alignas(8) uint8_t copy[UINT16_MAX + 1];
    uint64_t at = position & (ring->bytes - 1);
    const struct perf_event_header *header = (const void *)(ring_data(ring) + at);
    size_t size = header->size, first = ring->bytes - at;
    if (size <= first)
        return header;
    memcpy(copy, header, first);
    memcpy(copy + first, ring_data(ring), size - first);
    return (const void *)copy;
}

/* A thread may have several events: its own, and what it has inherited from its creator, if that had an event of
 * its own when the thread began. Its own one counts, else that of the first sample. */
bool perf_rings_counts(int tid, uint64_t event, int *opener)
{
    if (perf.is_system)
        return true;
    size_t i = partition_point(k, perf.count, perf.events[k].id < event);
    if (i == perf.count || perf.events[i].id != event)
        return false;
    if (*opener == 0)
        *opener = has_events(tid) ? tid : perf.events[i].tid;
    return perf.events[i].tid == *opener;
}

/* The ring with the earliest record that was not visited, of those until `limit`; NULL: there is none. */
static struct ring *earliest(uint64_t limit)
{
    struct ring *found = NULL;
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++) {
        if (!ring->page || ring->next >= ring->head)
            continue;
        uint64_t time = perf_record_time(record_at(ring, ring->next));
        if (time <= limit) {
            found = ring;
            limit = time;
        }
    }
    return found;
}

static bool is_almost_full(const struct ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    return ring->bytes - (head - ring->page->data_tail) < LEAST_ROOM;
}

uint64_t perf_rings_read(bool is_last, void (*visit)(const struct perf_event_header *record))
{
    uint64_t limit = is_last ? UINT64_MAX : sys_clock(CLOCK_MONOTONIC) - SETTLING_NS;
    bool is_full = false;
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++)
        if (ring->page) {
            ring->next = ring->page->data_tail;
            ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
            perf.is_full |= is_almost_full(ring);
        }
    for (struct ring *ring; (ring = earliest(limit));) {
        const struct perf_event_header *record = record_at(ring, ring->next);
        size_t size = record->size;
        if (size < sizeof *record) { /* the kernel writes none of these */
            ring->next = ring->head;
            continue;
        }
        visit(record);
        ring->next += size;
    }
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++)
        if (ring->page) {
            is_full |= is_almost_full(ring);
            __atomic_store_n(&ring->page->data_tail, ring->next, __ATOMIC_RELEASE);
        }
    perf.is_full = is_full; /* records of this time, too, are still to be read */
    return limit;
}

/* ---- for perf-switches.h ---- */

bool perf_rings_are_full(void)
{
    return perf.is_full;
}

unsigned perf_rings_cpus(void)
{
    return perf.cpus;
}

const struct perf_event_attr *perf_rings_attributes(void)
{
    return &perf.attr;
}

bool perf_rings_at(unsigned i, struct perf_ring *found)
{
    const struct ring *ring = &perf.rings[i];
    if (!ring->page)
        return false;
    *found = (struct perf_ring){.cpu = perf.online[i], .fd = ring->fd, .data = ring_data(ring), .bytes = ring->bytes};
    found->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    found->tail = __atomic_load_n(&ring->page->data_tail, __ATOMIC_RELAXED);
    return true;
}

void perf_rings_alarm(unsigned i, int tid, int signal)
{
    perf.rings[i].alarmed = tid;
    perf.rings[i].alarm = signal;
    for (size_t k = 0; k < perf.count; k++)
        if (perf.events[k].ring == i)
            set_alarm(&perf.rings[i], perf.events[k].fd);
}
