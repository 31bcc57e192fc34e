#include "hpcrun/outside/perf-events.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/copy-size.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-records.h"
#include "hpcrun/outside/perf-rings.h"
#include "lib/binary-search.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* If the kernel does not end the events of a program in this time, the program has not gained rights. */
#define END_MS 100

struct opened {
    uint64_t id;
    uint64_t lost, told; /* records for which its ring had no room; of these, those that were taken into account */
    int fd, pid, tid; /* fd -1: it is closed */
    unsigned ring;
    unsigned older; /* number of events up to the one before with a tid of the same slot; 0: none */
};

/* All events in the order in which they were opened, which is that of their ids. In memory that workers share: they
 * know events that are opened later. */
#define MOST_EVENTS (1u << 20)
#define TID_SLOTS   (1u << 14)
struct events {
    _Atomic size_t count, first; /* `first`: index of the first one with the present size of copies */
    unsigned of_tid[TID_SLOTS];  /* like `older`, of the youngest one */
    struct opened at[MOST_EVENTS];
};

static struct {
    struct perf_event_attr attr;
    struct events *events;
    struct alarm {
        int tid, signal; /* tid 0: none */
    } alarms[MAX_CPUS];
    size_t first_before; /* events->first before perf_events_begin_again */
    size_t again;        /* index of the first event that was opened again; these count */
    uint64_t again_time; /* from then on, when others no longer do */
    int error;           /* a negative errno of the last failure that matters */
    unsigned missing;    /* threads without events */
    int most_fds;        /* the rest is for processes and their measurements */
    bool any_new, is_system;
    void (*meanwhile)(void); /* NULL: nothing */
} perf = {.again = SIZE_MAX, .again_time = UINT64_MAX};

/* ---- opening ---- */

static int open_once(int tid, int cpu)
{
    return (int)sys6(SYS_perf_event_open, SYS_ARG(&perf.attr), tid, cpu, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

/* Before Linux 6.0, events do not count their losses. */
static int open_event(int tid, int cpu)
{
    int fd = open_once(tid, cpu);
    if (fd != -EINVAL || perf.attr.read_format == 0)
        return fd;
    perf.attr.read_format = 0;
    return open_once(tid, cpu);
}

static bool is_forbidden(int error)
{
    return error == -EACCES || error == -EPERM;
}

/* Gives up samples in the kernel if this user can't have them. */
static int open_as_allowed(int tid, int cpu)
{
    int fd = open_event(tid, cpu);
    if (is_forbidden(fd) && !perf.attr.exclude_kernel) {
        perf.attr.exclude_kernel = 1;
        fd = open_event(tid, cpu);
        perf.attr.exclude_kernel = fd >= 0;
    }
    return fd;
}

static void set_alarm(const struct opened *its)
{
    const struct alarm *alarm = &perf.alarms[its->ring];
    const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = alarm->tid};
    if (its->fd < 0)
        return;
    if (alarm->tid) {
        fcntl(its->fd, F_SETOWN_EX, &owner);
        fcntl(its->fd, F_SETSIG, alarm->signal);
    }
    fcntl(its->fd, F_SETFL, alarm->tid ? O_ASYNC : 0);
}

static int add_event(int fd, int pid, int tid, unsigned i)
{
    uint64_t id;
    struct events *events = perf.events;
    size_t n = events->count;
    unsigned *of_tid = &events->of_tid[(unsigned)tid % TID_SLOTS];
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, perf_rings_at(i)->fd) != 0 || ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        return -errno;
    if (n == MOST_EVENTS)
        return -EMFILE;
    events->at[n] = (struct opened){.id = id, .fd = fd, .pid = pid, .tid = tid, .ring = i, .older = *of_tid};
    *of_tid = (unsigned)n + 1;
    events->count = n + 1;
    if (perf.alarms[i].tid)
        set_alarm(&events->at[n]);
    return 0;
}

/* Whether it has some from this index on. */
static bool has_events_from(size_t first, int tid)
{
    const struct events *events = perf.events;
    size_t i = events->of_tid[(unsigned)tid % TID_SLOTS];
    while (i > first && events->at[i - 1].tid != tid)
        i = events->at[i - 1].older;
    return i > first;
}

static bool has_events(int tid)
{
    return has_events_from(perf.events->first, tid);
}

static int open_on_cpu(int pid, int tid, unsigned i)
{
    const struct ring *ring = perf_rings_at(i);
    int fd = ring ? open_as_allowed(tid, (int)ring->cpu) : -ENODEV;
    if (fd == -ENODEV) /* the CPU went offline */
        return 0;
    int error = fd < 0 ? fd : fd >= perf.most_fds ? -EMFILE : add_event(fd, pid, tid, i);
    if (error < 0 && fd >= 0)
        close(fd);
    return error;
}

/* Closes the youngest events, which are this thread's. */
static void take_back(int tid, size_t kept)
{
    struct events *events = perf.events;
    for (; events->count > kept; events->count--) {
        const struct opened *last = &events->at[events->count - 1];
        events->of_tid[(unsigned)tid % TID_SLOTS] = last->older;
        close(last->fd);
    }
}

/* A thread that ends meanwhile needs none. One with events for some CPUs only would have too few samples. */
static void open_thread(int tid, void *data)
{
    const int *pid = data;
    const size_t before = perf.events->count;
    if (has_events(tid) || perf.error != 0)
        return;
    int error = 0;
    for (unsigned i = 0; i < perf_rings_cpus() && error == 0; i++)
        error = open_on_cpu(*pid, tid, i);
    perf.any_new |= error == 0;
    if (error == -EMFILE || error == -ENFILE) {
        take_back(tid, before);
        perf.missing++;
    } else if (error != -ESRCH) {
        perf.error = error;
    }
    if (perf.meanwhile)
        perf.meanwhile();
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
        .read_format = PERF_FORMAT_LOST,
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
        .disabled = 1, /* until all threads have theirs: perf_events_enable */
        .enable_on_exec = at_exec,
    };
}

int perf_events_probe(int pid)
{
    describe(&(struct event){.kind = EVENT_CPUTIME, .period = 1000000}, false);
    perf.attr.exclude_kernel = 1;
    perf.attr.inherit = 0;
    int fd = open_event(pid < 0 ? pid : measured_living_thread(pid), pid < 0 ? 0 : -1);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

int perf_events_prepare(const struct event *event, bool at_exec)
{
    raise_descriptor_limit();
    describe(event, at_exec);
    if (!perf.events) {
        void *at = mmap(NULL, sizeof(struct events), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        perf.events = at == MAP_FAILED ? NULL : at;
    }
    return perf.events ? 0 : -ENOMEM;
}

void perf_events_set_copy(unsigned bytes)
{
    perf.attr.sample_stack_user = bytes;
}

/* Repeats until a pass finds no new thread. A thread that began before its creator had an event has none
 * by inheritance; one that began later may now have two, and its samples count once (perf_events_count_sample). */
int perf_events_open(int pid, unsigned *missing)
{
    size_t count = perf.events->count;
    perf.error = 0;
    do {
        perf.any_new = false;
        *missing -= perf.missing;
        perf.missing = 0;
        if (!measured_visit_threads(pid, open_thread, &pid))
            return -ESRCH;
        *missing += perf.missing;
    } while (perf.any_new && perf.error == 0);
    bool no_events = perf.missing > 0;
    perf.missing = 0;
    return perf.error ? perf.error : perf.events->count > count ? 0 : no_events ? -EMFILE : -ESRCH;
}

void perf_events_set_period(uint64_t period)
{
    perf.attr.sample_period = period;
    perf_records_expect(period);
    for (size_t i = perf.events->first; i < perf.events->count; i++)
        ioctl(perf.events->at[i].fd, PERF_EVENT_IOC_PERIOD, &period);
}

void perf_events_enable(void)
{
    for (size_t i = perf.events->first; i < perf.events->count; i++)
        ioctl(perf.events->at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

static void describe_system(bool is_system)
{
    perf.attr.inherit = !is_system;
    perf.attr.exclude_idle = is_system;
}

int perf_events_open_system(void)
{
    int error = 0;
    describe_system(true);
    for (unsigned i = 0; i < perf_rings_cpus() && error == 0; i++)
        error = open_on_cpu(-1, -1, i);
    perf.is_system |= error == 0;
    describe_system(perf.is_system);
    return error;
}

bool perf_events_are_of_system(void)
{
    return perf.is_system;
}

bool perf_events_see_kernel(void)
{
    return !perf.attr.exclude_kernel;
}

const struct perf_event_attr *perf_events_attributes(void)
{
    return &perf.attr;
}

size_t perf_events_count(void)
{
    return perf.events->count;
}

void perf_events_alarm(unsigned i, int tid, int signal)
{
    perf.alarms[i] = (struct alarm){tid, signal};
    for (size_t k = perf.events->first; k < perf.events->count; k++)
        if (perf.events->at[k].ring == i)
            set_alarm(&perf.events->at[k]);
}

/* ---- losses ---- */

bool perf_events_count_losses(void)
{
    return perf.attr.read_format != 0 && !perf.is_system;
}

/* What others inherit from an event is in its count. */
static void read_losses(struct opened *its)
{
    struct {
        uint64_t count, lost;
    } now;
    if (its->fd >= 0 && its->tid >= 0 && perf.attr.read_format != 0 && read(its->fd, &now, sizeof now) == sizeof now)
        its->lost = now.lost;
}

uint64_t perf_events_take_losses(int pid)
{
    uint64_t sum = 0;
    if (!has_events_from(0, pid)) /* also closed ones: of a process that has ended, none were opened again */
        return 0;
    for (struct opened *its = perf.events->at; its < perf.events->at + perf.events->count; its++) {
        if (its->pid != pid)
            continue;
        read_losses(its);
        sum += its->lost - its->told;
        its->told = its->lost;
    }
    return sum;
}

/* ---- closing ---- */

static void close_events(size_t from, size_t to)
{
    for (struct opened *its = perf.events->at + from; its < perf.events->at + to; its++) {
        read_losses(its);
        if (its->fd >= 0)
            close(its->fd);
        its->fd = -1;
    }
}

void perf_events_begin_again(unsigned bytes, uint64_t period, void (*meanwhile)(void))
{
    struct events *events = perf.events;
    perf.first_before = events->first;
    perf.again = events->count;
    perf.again_time = UINT64_MAX;
    perf.attr.enable_on_exec = 0;
    perf.meanwhile = meanwhile;
    perf.attr.sample_period = period;
    perf_events_set_copy(bytes);
    events->first = events->count;
}

void perf_events_end_again(bool is_good)
{
    struct events *events = perf.events;
    perf.meanwhile = NULL;
    if (is_good) {
        perf_events_enable();
        perf.again_time = sys_clock(CLOCK_MONOTONIC);
        close_events(perf.first_before, perf.again);
    } else {
        close_events(perf.again, events->count);
        events->first = perf.first_before;
    }
}

void perf_events_stop(void)
{
    for (size_t i = 0; perf.events && i < perf.events->count; i++)
        ioctl(perf.events->at[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void perf_events_await_end(void)
{
    struct pollfd first = {.fd = perf.events->at[0].fd};
    while (poll(&first, 1, END_MS) < 0 && errno == EINTR)
        continue;
    close_events(0, perf.events->count);
    perf.events->count = 0;
    memset(perf.events->of_tid, 0, sizeof perf.events->of_tid);
}

/* ---- records ---- */

/* The index of the event with this id; events->count: it is none of them. */
static size_t find_event(uint64_t id)
{
    const struct events *events = perf.events;
    size_t count = events->count, i = partition_point(k, count, events->at[k].id < id);
    return i < count && events->at[i].id == id ? i : count;
}

bool perf_events_have(const struct perf_event_header *record)
{
    size_t i = find_event(perf_record_event(record));
    bool is_again = i >= perf.again, counts_again = perf_record_time(record) >= perf.again_time;
    return record->type == PERF_RECORD_LOST || i == perf.events->count || is_again == counts_again;
}

bool perf_events_are_of_cpu(uint64_t event)
{
    size_t i = find_event(event);
    return i < perf.events->count && perf.events->at[i].tid < 0;
}

/* A CPU has one event. A thread may have several: its own, and what it has inherited from its creator, if that had an event of
 * its own when the thread began. Its own one counts, else that of the first sample. */
bool perf_events_count_sample(int tid, uint64_t event, int *opener)
{
    const struct events *events = perf.events;
    size_t i = find_event(event);
    if (i == events->count)
        return false;
    if (events->at[i].tid < 0) /* of a CPU */
        return true;
    if (events->at[i].tid == tid)
        *opener = tid;
    else if (*opener == 0)
        *opener = has_events(tid) ? tid : events->at[i].tid;
    return events->at[i].tid == *opener;
}
