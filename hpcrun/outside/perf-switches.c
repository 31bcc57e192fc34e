#include "hpcrun/outside/perf-switches.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-records.h"
#include "hpcrun/process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    struct opened {
        int pid, fd;
    } *at;
    size_t count, room;
    int error;
} switches;

static struct perf_event_attr attributes(void)
{
    struct perf_event_attr attr = *perf_events_attributes();
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr.sample_period = SWITCH_PERIOD;
    attr.sample_stack_user = 0;
    attr.exclude_callchain_kernel = 1;
    attr.exclude_kernel = 0;
    attr.inherit = 1;
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
    attr.context_switch = !attr.context_switch; /* unless the other event has them */
    attr.disabled = attr.enable_on_exec = 0;
    return attr;
}

static int open_event(const struct perf_event_attr *attr, int tid, unsigned cpu)
{
    return (int)sys6(SYS_perf_event_open, SYS_ARG(attr), tid, cpu, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

static int add(int fd, const struct perf_ring *ring)
{
    if (switches.count == switches.room) {
        size_t room = switches.room ? 2 * switches.room : 256;
        struct opened *grown = realloc(switches.at, room * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        switches.at = grown;
        switches.room = room;
    }
    switches.at[switches.count++] = (struct opened){process.pid, fd};
    return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 ? 0 : -errno;
}

/* It may have ended, and a CPU may be offline. */
static void watch_thread(int tid, void *data)
{
    struct perf_ring ring;
    for (unsigned i = 0; i < perf_rings_cpus() && switches.error == 0; i++) {
        int fd = perf_rings_at(i, &ring) ? open_event(data, tid, ring.cpu) : -ENODEV;
        if (fd >= 0)
            switches.error = add(fd, &ring);
        else if (fd != -ENODEV && fd != -ESRCH)
            switches.error = fd;
    }
}

int perf_switches_watch(int pid)
{
    struct perf_event_attr attr = attributes();
    int measured = process.pid;
    switches.error = 0;
    process.pid = pid;
    measured_visit_threads(watch_thread, &attr);
    process.pid = measured;
    return switches.error;
}

void perf_switches_unwatch(int pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < switches.count; i++)
        if (switches.at[i].pid == pid)
            close(switches.at[i].fd);
        else
            switches.at[kept++] = switches.at[i];
    switches.count = kept;
}

int perf_switches_probe(int pid)
{
    struct perf_event_attr attr = attributes();
    int fd = open_event(&attr, pid, (unsigned)-1);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* ---- the youngest sample ---- */

static void copy_from(const struct perf_ring *ring, uint64_t position, void *to, size_t size)
{
    uint64_t at = position & (ring->bytes - 1);
    size_t first = size < ring->bytes - at ? size : ring->bytes - at;
    memcpy(to, ring->data + at, first);
    memcpy((uint8_t *)to + first, ring->data, size - first);
}

struct fields {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time, id, period, chain_length;
};

/* perf_instant.stack_end. */
static uint64_t end_of_copy(const struct perf_ring *ring, uint64_t position, const struct fields *fields)
{
    struct {
        uint64_t abi, registers[SAMPLED_REGISTER_COUNT], bytes;
    } part;
    uint64_t valid;
    copy_from(ring, position + sizeof *fields + fields->chain_length * sizeof(uint64_t), &part, sizeof part);
    copy_from(ring, position + fields->header.size - sizeof valid, &valid, sizeof valid);
    bool has_all = part.abi != PERF_SAMPLE_REGS_ABI_64 || valid < part.bytes;
    return has_all ? 0 : part.registers[SAMPLED_SP] + valid;
}

bool perf_ring_youngest(const struct perf_ring *ring, uint64_t *position, struct perf_instant *found)
{
    struct fields record;
    bool is_found = false;
    if (*position < ring->tail)
        *position = ring->tail;
    for (; *position < ring->head; *position += record.header.size) {
        copy_from(ring, *position, &record, sizeof record);
        if (record.header.size < sizeof record.header) {
            *position = ring->head;
            break;
        }
        if (record.header.type == PERF_RECORD_SAMPLE && record.period != SWITCH_PERIOD) {
            *found = (struct perf_instant){(int)record.pid, (int)record.tid, record.time,
                                           end_of_copy(ring, *position, &record)};
            is_found = true;
        }
    }
    return is_found;
}
