#include "hpcrun/process.h"

#include "hpcrun/arguments.h"
#include "hpcrun/code/modules.h"
#include "hpcrun/fds.h"
#include "hpcrun/hooks/process.h"
#include "hpcrun/hooks/real.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/hooks/threads.h"
#include "hpcrun/logical/agents.h"
#include "hpcrun/logical/workers.h"
#include "hpcrun/rank.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement.h"
#include "hpcrun/record/perf-map.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/report.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/source.h"
#include "hpcrun/sys.h"
#include "hpcrun/thread.h"
#include "hpcrun/unwind/rule-cache.h"

#include <string.h>

#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

struct process process;
struct sampling sampling;

/* How long the end of a process waits for threads in their handlers, which may be writing. */
#define END_WAIT_NS 2000000000u

/* How long a thread that is to end the process waits for another that is at it. */
#define OTHER_END_WAIT_NS 10000000000u

bool process_is_ours(void)
{
    return process.pid == sys_getpid();
}

static size_t read_file(const char *path, char *to, size_t room)
{
    long fd = sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long size = fd < 0 ? 0 : sys3(SYS_read, fd, to, room - 1);
    if (fd >= 0)
        sys1(SYS_close, fd);
    to[size > 0 ? size : 0] = '\0';
    return size > 0 ? (size_t)size : 0;
}

/* Field 22 of /proc/self/stat; the second field, a name in parentheses, may hold anything. */
static uint64_t read_start_ticks(void)
{
    char buffer[1024];
    size_t size = read_file("/proc/self/stat", buffer, sizeof buffer);
    const char *at = memrchr(buffer, ')', size);
    uint64_t ticks = 0;
    for (unsigned field = 2; at && field < 22; field++)
        if ((at = strchr(at, ' ')))
            at++;
    return at && text_take_number(&at, &ticks) ? ticks : sys_clock(CLOCK_REALTIME);
}

/* A number for the host that does not change: the machine id where there is one. gethostid would
 * ask name services. */
static uint64_t host_id(const char *name)
{
    char id[64];
    uint64_t hash = 0xcbf29ce484222325u;
    const char *at = read_file("/etc/machine-id", id, sizeof id) ? id : name;
    for (; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
    return hash & 0xffffffff;
}

static void identify_host(void)
{
    struct utsname name = {0};
    sys1(SYS_uname, &name);
    strcpy(process.host, name.nodename[0] ? name.nodename : "localhost");
    process.host_id = host_id(process.host);
}

static unsigned usable_cpus(void)
{
    uint64_t mask[128];
    long size = sys3(SYS_sched_getaffinity, 0, sizeof mask, mask);
    unsigned count = 0;
    for (long i = 0; i < size / 8; i++)
        count += (unsigned)__builtin_popcountll(mask[i]);
    return count ? count : 1;
}

static void read_clocks(void)
{
    process.began_real = sys_clock(CLOCK_REALTIME);
    process.began_wall = sys_clock(CLOCK_MONOTONIC);
    process.began_cpu = sys_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* What is new for every process, also for the child of a fork. */
static void identify_process(void)
{
    process.pid = sys_getpid();
    process.parent = (int)sys0(SYS_getppid);
    process.start_ticks = read_start_ticks();
    read_clocks();
}

static void identify_program(char *const *environment)
{
    long length =
        sys3(SYS_readlink, "/proc/self/exe", process.executable, sizeof process.executable - 1);
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (length <= 0 && started) /* there is no /proc */
        strncpy(process.executable, started, sizeof process.executable - 1);
    sys2(SYS_getcwd, process.directory, sizeof process.directory);
    process.rank = rank_in(environment);
    process.usable_cpus = usable_cpus();
    process.origin = process.pid == process.config.launched_pid ? ORIGIN_LAUNCHED : ORIGIN_OTHER;
}

/* The initial thread's stack: below its arguments, as far down as it may grow. */
static void begin_initial_thread(char *const *arguments)
{
    struct rlimit limit = {.rlim_cur = 8 << 20};
    sys4(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit);
    uint64_t size = limit.rlim_cur < (1u << 30) ? limit.rlim_cur : 1u << 30;
    uint64_t high = (uint64_t)(uintptr_t)arguments;
    thread_begin(thread_new(THREAD_INITIAL), high - size, high);
}

/* The thread sanitizer's runtime stands before libc's functions. It can't be called before it is
 * initialised, which is later than we begin, and from a sample it would report races of ours. */
void __tsan_init(void) __attribute__((weak, visibility("default")));

static bool is_left_alone(void)
{
#ifdef __SANITIZE_THREAD__
    return false; /* a test of this library */
#else
    return __tsan_init;
#endif
}

static void tell_left_alone(void)
{
    char buffer[128];
    struct text line = TEXT(buffer);
    if (!config_read(&process.config, environ))
        return;
    text_add(&line, "the program is built with the thread sanitizer: it is not measured");
    process.pid = sys_getpid();
    fds_init();
    report_init();
    report_loss(&line);
    report_after_fork();
}

__attribute__((constructor)) static void begin(int count, char **arguments, char **environment)
{
    (void)count;
    if (is_left_alone() || !config_read(&process.config, environment))
        return;
    int signal = process.config.signal ? process.config.signal : signals_choose();
    if (signal == 0)
        return;
    process.signal = signal;
    identify_process();
    identify_host();
    identify_program(environment);
    arguments_keep(arguments);
    metrics_init(&process.metrics, &process.config);
    code_map_refresh();
    rule_cache_init();
    modules_init(process.executable, (const void *)(uintptr_t)begin);
    fds_init();
    fds_reserve();
    report_init();
    measurement_init();
    signals_init(signal, handler_on_signal);
    process.fault_handler = signals_fault_handler();
    sources_init(&process.config, signal);
    hook_threads_init();
    hook_process_init();
    agents_init(process.config.agents);
    atomic_store(&sampling.on, !process.config.start_off);
    sampling.collapse_recursion = process.config.collapse_recursion;
    process.active = true;
    begin_initial_thread(arguments);
}

void process_starts_program(void)
{
    if (is_left_alone())
        tell_left_alone();
    if (!process.active)
        return;
    uint64_t mask = sys_mask(SIG_BLOCK, ~(uint64_t)0);
    agents_look();
    if (thread_self)
        logical_thread_begin(thread_self);
    sys_mask(SIG_SETMASK, mask);
}

static void pause_events(struct thread *thread, void *data)
{
    (void)data;
    for (unsigned i = 0; i < thread->event_count; i++)
        source_pause(&thread->events[i]);
}

static void resume_events(struct thread *thread, void *data)
{
    (void)data;
    for (unsigned i = 0; i < thread->event_count; i++)
        source_resume(thread, &thread->events[i]);
}

/* A thread that did not come out of its handler keeps its data: reading it could find it half
 * changed. One that is in the handler again counts its late sample only. One that has written
 * itself is only about to leave the list. */
static void flush_last(struct thread *thread, void *data)
{
    (void)data;
    if (!thread->stuck && !thread->written)
        flush_thread(thread, true);
}

/* What the threads had added up that ended by themselves: none does between threads_quiesce and an
 * exec that fails. */
static struct flush_ends ends_before_last;

static void write_everything(enum process_state state, int detail)
{
    struct chunk chunk;
    threads_quiesce(END_WAIT_NS);
    ends_before_last = flush_totals()->ends;
    measurement_forget_failures();
    threads_visit(flush_last, NULL);
    if (measurement_open() && chunk_memory(&chunk)) {
        process_chunks_write_modules(&chunk);
        process_chunks_write_agents(&chunk);
        perf_map_write(&chunk);
        process_chunks_write_clock(&chunk, state, detail);
        chunk_release(&chunk);
    }
    report_summary();
}

/* The thread that writes at the image's end: its tid, or one of these. */
enum { WRITER_NONE = 0, WRITER_DONE = -1 };
static _Atomic int last_writer = WRITER_NONE;

/* Whether the caller is to write. While another thread does, to go on would end the process in the
 * middle of it: waits. */
static bool become_last_writer(void)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    uint64_t deadline = sys_clock(CLOCK_MONOTONIC) + OTHER_END_WAIT_NS;
    int self = sys_gettid();
    for (;;) {
        int writer = WRITER_NONE;
        if (atomic_compare_exchange_strong(&last_writer, &writer, self))
            return true;
        if (writer == WRITER_DONE || writer == self || sys_clock(CLOCK_MONOTONIC) > deadline)
            return false;
        sys2(SYS_nanosleep, &nap, NULL);
    }
}

/* Stops sampling and writes everything, with every signal blocked: one that ends the process waits
 * until that is done. False, when it is done, for all but the first to call this. */
static bool stop_and_write(enum process_state state, int detail)
{
    if (!process.active)
        return false;
    uint64_t mask = sys_mask(SIG_BLOCK, ~(uint64_t)0);
    bool first = become_last_writer();
    if (first) {
        atomic_store(&sampling.stopping, true);
        threads_visit_events(pause_events, NULL);
        write_everything(state, detail);
        /* A sample that is on its way to this thread would reach the image that an exec makes,
         * which has no handler for it yet, and end it. */
        sys_take_pending(sys_mask_bit(process.signal));
        atomic_store(&last_writer, WRITER_DONE);
    }
    sys_mask(SIG_SETMASK, mask);
    return first;
}

bool process_end(enum process_state state, int detail)
{
    bool first = stop_and_write(state, detail);
    if (first)
        measurement_close();
    return first;
}

static void close_events(struct thread *thread, void *data)
{
    (void)data;
    for (unsigned i = 0; i < thread->event_count; i++)
        source_close(&thread->events[i]);
}

void process_withdraw(const char *why)
{
    char buffer[256];
    struct text line = TEXT(buffer);
    text_add(&line, why);
    text_add(&line, ": it is not measured from here on");
    report_loss(&line);
    process_end(PROCESS_RUNNING, 0);
    threads_visit_events(close_events, NULL);
    report_after_fork();
    fds_give_up_reserve();
    signals_give_back();
    process.active = false;
    process.withdrawn = true;
}

bool process_before_exec(void)
{
    return stop_and_write(PROCESS_EXEC, 0);
}

void process_exec_failed(void)
{
    int error = errno;
    flush_restore_ends(&ends_before_last);
    atomic_store(&sampling.stopping, false);
    atomic_store(&last_writer, WRITER_NONE);
    if (atomic_load(&sampling.on))
        threads_visit_events(resume_events, NULL);
    errno = error;
}

void process_set_sampling(bool on)
{
    if (!process.active || atomic_exchange(&sampling.on, on) == on)
        return;
    threads_visit_events(on ? resume_events : pause_events, NULL);
}

void process_before_fork(void)
{
    if (!process.active)
        return;
    threads_lock_for_fork();
    signals_lock_for_fork();
}

static void unlock_after_fork(void)
{
    signals_unlock_after_fork();
    threads_unlock_after_fork();
}

void process_after_fork_in_parent(void)
{
    if (process.active)
        unlock_after_fork();
}

void process_after_fork_in_child(void)
{
    if (!process.active)
        return;
    unlock_after_fork();
    report_after_fork();
    measurement_leave_to_parent();
    perf_map_after_fork(process.pid);
    identify_process();
    process.origin = ORIGIN_FORK;
    atomic_store(&sampling.stopping, false);
    atomic_store(&last_writer, WRITER_NONE);
    measurement_init();
    process_chunks_forget();
    workers_forget();
    agents_after_fork();
    flush_forget_totals();
    threads_after_fork();
}
