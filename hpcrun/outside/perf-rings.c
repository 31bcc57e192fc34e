#include "hpcrun/outside/perf-rings.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/perf-records.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Users without privileges get kernel.perf_event_mlock_kb for each CPU, 516 KB, and what they may lock (ulimit -l), for
 * all their rings together: large first ones would leave nothing for the others. */
#define MOST_BYTES       (64u << 20) /* of all rings */
#define MOST_RING_BYTES  (4u << 20)
#define LEAST_RING_BYTES (64u << 10)
#define WAKING_BYTES     (LEAST_RING_BYTES / 4)

/* The rings of several CPUs have no common order. A record's time is taken a bit before others see it: the
 * youngest records stay in their rings until the next reading, so that records are read in the order of time. */
#define SETTLING_NS 200000u

/* The most that a record waits for room in the queue of its worker. */
#define MOST_WAIT_NS 1000000000u

/* Records that are no samples are smaller. */
#define LEAST_ROOM 4096u

static struct {
    unsigned cpus; /* that are online */
    struct ring at[MAX_CPUS];
    uint64_t times[MAX_CPUS]; /* of the first record that was not visited; UINT64_MAX: none */
    size_t bytes;             /* of each ring */
    bool is_full;
} rings;

/* ---- mapping ---- */

/* /sys/devices/system/cpu/online: "0-3,6". */
static void find_cpus(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    unsigned first, last;
    rings.cpus = 0;
    while (file && fscanf(file, "%u", &first) == 1) {
        last = first;
        if (fscanf(file, "-%u", &last) < 0)
            last = first;
        for (; first <= last && rings.cpus < MAX_CPUS; first++)
            rings.at[rings.cpus++].cpu = first;
        if (fgetc(file) != ',')
            break;
    }
    if (file)
        fclose(file);
    long unlisted = rings.cpus == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
    for (long i = 0; i < unlisted && i < MAX_CPUS; i++)
        rings.at[rings.cpus++].cpu = (unsigned)i;
}

static int open_ring(struct ring *ring, bool wakes_late)
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
                                   .wakeup_watermark = wakes_late ? 0 : WAKING_BYTES}; /* 0: half of the ring */
    ring->fd = (int)sys6(SYS_perf_event_open, SYS_ARG(&attr), 0, ring->cpu, -1, PERF_FLAG_FD_CLOEXEC, 0);
    return ring->fd < 0 && ring->fd != -ENODEV ? ring->fd : 0; /* -ENODEV: the CPU went offline */
}

static void unmap(struct ring *ring)
{
    if (ring->page)
        munmap(ring->page, RING_PAGE + ring->bytes);
    ring->page = NULL;
    ring->bytes = 0;
}

static int map_all(size_t bytes)
{
    int error = 0;
    for (struct ring *ring = rings.at; ring < rings.at + rings.cpus && error == 0; ring++) {
        if (ring->fd < 0)
            continue;
        void *at = mmap(NULL, RING_PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        error = at == MAP_FAILED ? -errno : 0;
        if (error == 0) {
            ring->page = at;
            ring->bytes = bytes;
        }
    }
    for (struct ring *ring = rings.at; ring < rings.at + rings.cpus && error != 0; ring++)
        unmap(ring);
    return error;
}

int perf_rings_map(size_t most_bytes, bool wakes_late)
{
    size_t most = most_bytes < MOST_BYTES ? most_bytes : MOST_BYTES, bytes = MOST_RING_BYTES;
    int error = 0;
    if (rings.cpus > 0)
        return 0;
    find_cpus();
    while (bytes > LEAST_RING_BYTES && bytes * rings.cpus > most)
        bytes /= 2;
    for (unsigned i = 0; i < rings.cpus && error == 0; i++)
        error = open_ring(&rings.at[i], wakes_late);
    if (error != 0)
        return error;
    while ((error = map_all(bytes)) == -EPERM && bytes > LEAST_RING_BYTES)
        bytes /= 2;
    rings.bytes = bytes;
    return error == -EPERM ? -ENOBUFS : error;
}

size_t perf_rings_bytes(void)
{
    size_t sum = 0;
    for (const struct ring *ring = rings.at; ring < rings.at + rings.cpus; ring++)
        sum += ring->bytes;
    return sum;
}

size_t perf_rings_bytes_of_each(void)
{
    return rings.bytes;
}

unsigned perf_rings_cpus(void)
{
    return rings.cpus;
}

const struct ring *perf_rings_at(unsigned i)
{
    return rings.at[i].page ? &rings.at[i] : NULL;
}

/* ---- reading ---- */

void perf_rings_wait(int other, int milliseconds)
{
    static struct pollfd fds[1 + MAX_CPUS];
    nfds_t n = 1;
    fds[0] = (struct pollfd){.fd = other, .events = POLLIN};
    for (unsigned i = 0; i < rings.cpus; i++)
        if (rings.at[i].page)
            fds[n++] = (struct pollfd){.fd = rings.at[i].fd, .events = POLLIN};
    poll(fds, n, milliseconds);
}

static void find_first(unsigned i)
{
    const struct perf_event_header *first = rings.at[i].page ? ring_first(&rings.at[i]) : NULL;
    rings.times[i] = first ? perf_record_time(first) : UINT64_MAX;
}

/* The index of the ring with the earliest record that was not visited, of those until `limit`; rings.cpus: there is
 * none. */
static unsigned earliest(uint64_t limit)
{
    unsigned found = rings.cpus;
    for (unsigned i = 0; i < rings.cpus; i++)
        if (rings.times[i] <= limit && rings.times[i] != UINT64_MAX) {
            found = i;
            limit = rings.times[i];
        }
    return found;
}

static bool is_almost_full(const struct ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    return ring->bytes - (head - ring->page->data_tail) < LEAST_ROOM;
}

static bool is_half_full(void)
{
    for (const struct ring *ring = rings.at; ring < rings.at + rings.cpus; ring++)
        if (ring->page && ring->head - ring->next > ring->bytes / 2)
            return true;
    return false;
}

uint64_t perf_rings_read(bool is_last, perf_record_visit_function *visit)
{
    uint64_t limit = is_last ? UINT64_MAX : sys_clock(CLOCK_MONOTONIC) - SETTLING_NS;
    bool is_full = false;
    for (unsigned i = 0; i < rings.cpus; i++) {
        if (rings.at[i].page) {
            ring_begin(&rings.at[i]);
            rings.is_full |= is_almost_full(&rings.at[i]);
        }
        find_first(i);
    }
    for (unsigned i; (i = earliest(limit)) < rings.cpus; find_first(i)) {
        const struct perf_event_header *record = ring_first(&rings.at[i]);
        bool is_urgent = is_last || limit > rings.times[i] + MOST_WAIT_NS || is_half_full();
        if (!visit(record, is_urgent)) {
            limit = rings.times[i] - 1;
            break;
        }
        ring_skip(&rings.at[i], record);
    }
    for (struct ring *ring = rings.at; ring < rings.at + rings.cpus; ring++)
        if (ring->page) {
            is_full |= is_almost_full(ring);
            ring_end(ring);
        }
    rings.is_full = is_full; /* records of this time, too, are still to be read */
    return limit;
}

bool perf_rings_are_full(void)
{
    return rings.is_full;
}
