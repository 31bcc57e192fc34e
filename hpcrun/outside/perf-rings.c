#include "hpcrun/outside/perf-rings.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/source/kernel-frames.h"
#include "lib/binary-search.h"

#include <errno.h>
#include <linux/perf_event.h>
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

/* If the kernel does not end the events of a program in this time, the program has not gained rights. */
#define END_MS 100

struct ring {
    int fd;                            /* the event that it was mapped for */
    struct perf_event_mmap_page *page; /* NULL: no ring */
    size_t bytes;                      /* a power of two */
    uint64_t tail, head, next;         /* of what is being read */
};

/* An event; they are opened in the order of their ids. */
struct opened {
    uint64_t id;
    int fd, tid;
};

static struct {
    struct perf_event_attr attr;
    unsigned cpus, online[MAX_CPUS];
    struct ring rings[MAX_CPUS]; /* by index in `online` */
    size_t ring_bytes;           /* of the next ring */
    struct opened *events;
    size_t count, room;
    int pid, error;   /* a negative errno of the last failure that matters */
    unsigned missing; /* threads without events */
    bool any_new;
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

/* Gives up what this kernel or this user can't have: samples in the kernel; threads, but not processes,
 * that inherit events (5.13): records of other processes are skipped. */
static int open_as_allowed(int tid, unsigned cpu)
{
    int fd = open_event(tid, cpu);
    if (is_forbidden(fd) && !perf.attr.exclude_kernel) {
        perf.attr.exclude_kernel = 1;
        fd = open_event(tid, cpu);
        perf.attr.exclude_kernel = fd >= 0;
    }
    if (fd == -EINVAL && perf.attr.inherit_thread) {
        perf.attr.inherit_thread = 0;
        fd = open_event(tid, cpu);
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
        perf.events[perf.count++] = (struct opened){id, fd, tid};
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
    int error = fd < 0 ? fd : add_event(fd, tid, &perf.rings[i]);
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
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* As many bytes of the stack as leave room for the samples of a tenth of a second; a multiple of 8. */
static unsigned stack_bytes(uint64_t period)
{
    uint64_t samples = ROOM_NS / period + 1, bytes = USUAL_RING_BYTES / samples;
    bytes = bytes > MOST_STACK_BYTES ? MOST_STACK_BYTES : bytes;
    return (unsigned)(bytes < LEAST_STACK_BYTES ? LEAST_STACK_BYTES : bytes & ~(uint64_t)7);
}

static void describe(uint64_t period, bool at_exec)
{
    perf.attr = (struct perf_event_attr){
        .size = sizeof perf.attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .exclude_callchain_user = 1,
        .sample_regs_user = SAMPLED_REGISTERS,
        .sample_stack_user = stack_bytes(period),
        .inherit = 1,
        .inherit_thread = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
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
    describe(1000000, false);
    perf.attr.exclude_kernel = 1;
    perf.attr.inherit = perf.attr.inherit_thread = 0;
    int fd =
        (int)sys6(SYS_perf_event_open, SYS_ARG(&perf.attr), pid, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* Repeats until a pass finds no new thread. A thread that began before its creator had an event has none
 * by inheritance; one that began later may now have two, and its samples count once (is_owner). */
int perf_rings_open(int pid, uint64_t period, bool at_exec, unsigned *missing)
{
    perf.pid = pid;
    find_cpus();
    for (perf.ring_bytes = MOST_RING_BYTES; perf.ring_bytes * perf.cpus > MOST_BYTES;)
        perf.ring_bytes /= 2;
    raise_descriptor_limit();
    describe(period, at_exec);
    do {
        perf.any_new = false;
        perf.missing = 0;
        if (!measured_visit_threads(open_thread, NULL))
            return -ESRCH;
    } while (perf.any_new && perf.error == 0);
    *missing = perf.missing;
    return perf.error ? perf.error : perf.count == 0 ? -ESRCH : 0;
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
}

/* ---- reading ---- */

bool perf_rings_wait(int fd, int milliseconds)
{
    static struct pollfd fds[MAX_CPUS + 1];
    nfds_t n = 1;
    fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    for (unsigned i = 0; i < perf.cpus; i++)
        if (perf.rings[i].page)
            fds[n++] = (struct pollfd){.fd = perf.rings[i].fd, .events = POLLIN};
    if (poll(fds, n, milliseconds) <= 0)
        return false;
    /* An event whose thread has ended is always ready: do not spin. */
    if (!(fds[0].revents & POLLIN)) {
        for (nfds_t i = 1; i < n; i++)
            if (fds[i].revents & POLLIN)
                return false;
        return poll(fds, 1, milliseconds) > 0;
    }
    return true;
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

/* The fields that end every record but a sample. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time, id;
};

static struct trailer trailer_of(const struct perf_event_header *record)
{
    struct trailer trailer = {0};
    if (record->size >= sizeof *record + sizeof trailer)
        memcpy(&trailer, (const uint8_t *)record + record->size - sizeof trailer, sizeof trailer);
    return trailer;
}

struct map_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t start, size, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    char path[];
};

static void visit_map(const struct perf_visitor *visitor, const struct perf_event_header *record)
{
    const struct map_record *map = (const void *)record;
    struct mapping mapping;
    size_t fixed = sizeof *map + sizeof(struct trailer);
    if ((int)map->pid != perf.pid || record->size <= fixed)
        return;
    mapping = (struct mapping){.start = map->start,
                               .end = map->start + map->size,
                               .offset = map->offset,
                               .inode = map->inode,
                               .major = map->major,
                               .minor = map->minor};
    snprintf(mapping.path, sizeof mapping.path, "%.*s", (int)(record->size - fixed), map->path);
    visitor->map(&mapping, trailer_of(record).time);
}

/* Of the events that a thread has, that of the thread whose events were opened last counts: it is its own,
 * or its nearest ancestor's. */
static bool is_owner(int tid, uint64_t id)
{
    size_t i = partition_point(k, perf.count, perf.events[k].id < id);
    if (i == perf.count || perf.events[i].id != id)
        return false;
    return perf.events[i].tid == tid || !has_events(tid);
}

struct sample_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time, id, period, chain_length, chain[];
};

/* The part of a record from its kernel frames on; NULL if these go beyond its end. */
static const uint8_t *take_kernel(struct perf_sample *sample, const struct sample_record *fields,
                                  const uint8_t *end)
{
    size_t room = (size_t)(end - (const uint8_t *)fields->chain) / sizeof *fields->chain;
    if (fields->chain_length > room)
        return NULL;
    uint64_t n = kernel_frames_in(fields->chain, fields->chain_length, &sample->kernel);
    sample->kernel_count = (unsigned)(n < KERNEL_FRAMES ? n : KERNEL_FRAMES);
    return (const uint8_t *)(fields->chain + fields->chain_length);
}

/* After the fixed fields: the kernel's frames; the kind of registers; the registers, unless there are none; the number of bytes of the stack; these;
 * and how many of them are valid. */
static void visit_sample(const struct perf_visitor *visitor, const struct perf_event_header *record)
{
    const struct sample_record *fields = (const void *)record;
    struct perf_sample sample = {.tid = (int)fields->tid,
                                 .time = fields->time,
                                 .period = fields->period};
    uint64_t abi, bytes = 0, valid = 0;
    const uint8_t *end = (const uint8_t *)record + record->size, *at = take_kernel(&sample, fields, end);
    if ((int)fields->pid != perf.pid || !is_owner(sample.tid, fields->id) || !at ||
        (size_t)(end - at) < sizeof abi)
        return;
    memcpy(&abi, at, sizeof abi);
    at += sizeof abi;
    size_t registers = abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : sizeof sample.registers;
    if ((size_t)(end - at) < registers + sizeof bytes)
        return;
    sample.is_64_bit = abi == PERF_SAMPLE_REGS_ABI_64;
    memcpy(sample.registers, at, registers);
    memcpy(&bytes, at + registers, sizeof bytes);
    at += registers + sizeof bytes;
    if (bytes > 0 && (uint64_t)(end - at) >= bytes + sizeof valid)
        memcpy(&valid, at + bytes, sizeof valid);
    sample.stack = at;
    sample.stack_bytes = valid < bytes ? valid : bytes;
    visitor->sample(&sample);
}

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

struct task_record {
    struct perf_event_header header;
    uint32_t pid, parent, tid, parent_tid;
    uint64_t time;
};

enum pass { EXECS, MAPS, SAMPLES, ENDS };

static void visit(const struct perf_visitor *visitor, const struct perf_event_header *record,
                  enum pass pass)
{
    const struct task_record *task = (const void *)record;
    if (pass == MAPS && record->type == PERF_RECORD_MMAP2)
        visit_map(visitor, record);
    if (pass == EXECS && record->type == PERF_RECORD_COMM &&
        (record->misc & PERF_RECORD_MISC_COMM_EXEC) && (int)trailer_of(record).pid == perf.pid)
        visitor->exec(trailer_of(record).time);
    if (pass == SAMPLES && record->type == PERF_RECORD_SAMPLE)
        visit_sample(visitor, record);
    if (pass == SAMPLES && record->type == PERF_RECORD_LOST)
        visitor->lost(((const struct lost_record *)(const void *)record)->lost);
    if (pass == ENDS && record->type == PERF_RECORD_EXIT && (int)task->pid == perf.pid)
        visitor->end((int)task->tid, task->time);
}

static void visit_ring(const struct perf_visitor *visitor, const struct ring *ring, enum pass pass)
{
    for (uint64_t at = ring->tail; at < ring->head;) {
        const struct perf_event_header *record = record_at(ring, at);
        if (record->size < sizeof *record)
            return; /* the kernel writes none of these */
        visit(visitor, record, pass);
        at += record->size;
    }
}

static uint64_t time_of(const struct perf_event_header *record)
{
    return record->type == PERF_RECORD_SAMPLE ? ((const struct sample_record *)record)->time
                                              : trailer_of(record).time;
}

/* The ring with the earliest record that was not visited; NULL: there is none. */
static struct ring *earliest(void)
{
    struct ring *found = NULL;
    uint64_t first = 0;
    for (struct ring *ring = perf.rings; ring < perf.rings + perf.cpus; ring++) {
        if (!ring->page || ring->next >= ring->head)
            continue;
        uint64_t time = time_of(record_at(ring, ring->next));
        if (!found || time < first) {
            found = ring;
            first = time;
        }
    }
    return found;
}

/* In the order of time: a thread's samples may be in several rings. */
static void visit_samples(const struct perf_visitor *visitor)
{
    for (struct ring *ring = earliest(); ring; ring = earliest()) {
        const struct perf_event_header *record = record_at(ring, ring->next);
        ring->next = record->size < sizeof *record ? ring->head : ring->next + record->size;
        visit(visitor, record, SAMPLES);
    }
}

static void visit_all(const struct perf_visitor *visitor, enum pass pass)
{
    for (unsigned i = 0; i < perf.cpus; i++)
        if (perf.rings[i].page)
            visit_ring(visitor, &perf.rings[i], pass);
}

void perf_rings_read(const struct perf_visitor *visitor)
{
    for (unsigned i = 0; i < perf.cpus; i++) {
        struct ring *ring = &perf.rings[i];
        if (ring->page) {
            ring->next = ring->tail = ring->page->data_tail;
            ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        }
    }
    visit_all(visitor, EXECS);
    visit_all(visitor, MAPS);
    visit_samples(visitor);
    visit_all(visitor, ENDS);
    for (unsigned i = 0; i < perf.cpus; i++)
        if (perf.rings[i].page)
            __atomic_store_n(&perf.rings[i].page->data_tail, perf.rings[i].head, __ATOMIC_RELEASE);
}
