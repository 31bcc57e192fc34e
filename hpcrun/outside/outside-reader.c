#include "hpcrun/outside/outside-reader.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/frame-catcher.h"
#include "hpcrun/outside/kernel-code.h"
#include "hpcrun/outside/memory-limit.h"
#include "hpcrun/outside/outside-worker.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/perf-rights.h"
#include "hpcrun/outside/perf-rings.h"
#include "hpcrun/outside/stack-copies.h"
#include "hpcrun/outside/watched-ends.h"
#include "hpcrun/outside/traced-processes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "lib/diag.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS      50
#define STACK_BYTES  (1u << 20) /* more than a worker takes */
#define EXEC_WAIT_MS 1 /* a program may end soon: /proc is to be read before */
#define END_WAIT_MS  2

/* A worker that has not written its measurement by then hangs in a read: a user may have a file or memory that never
 * answers, by FUSE or userfaultfd. */
#define MOST_END_NS 30000000000u

static struct {
    const struct outside_work *work;
    struct given_processes given;    /* those that can be measured */
    size_t running;                  /* given processes that have not ended */
    size_t ending;                   /* processes whose last records have not been read */
    unsigned missing;                /* threads without events */
    bool has_begun;                  /* of a command: it is executed */
    uint64_t images;                 /* that have or had a worker */
    int64_t unmeasured[3];           /* processes without a worker, by `lack`; the first number means nothing */
    uint64_t too_late;               /* that had ended before their worker could look at them */
    bool is_damaged;                 /* a worker has failed */
    uint64_t until;                  /* CLOCK_MONOTONIC of the last record, or later */
    bool has_waits;                  /* workers need to know when threads wait */
} reader;

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

static void handle_signals(void)
{
    struct sigaction interrupt = {.sa_handler = on_interrupt}, before;
    sigaction(SIGTERM, &interrupt, NULL);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &interrupt, NULL);
}

/* ---- workers ---- */

/* The oldest mapping is the program's file. */
static void find_program(const struct traced *process, struct mapping *program)
{
    const struct traced_map *oldest = process->maps;
    while (oldest && oldest->older)
        oldest = oldest->older;
    if (oldest)
        perf_record_mapping(oldest->record, program);
}

static _Noreturn void become_worker(const struct traced *process, pid_t reader_pid)
{
    static struct mapping program;
    struct measured_image image = {
        .pid = process->pid,
        .parent = process->parent,
        .origin = process->is_given                       ? ORIGIN_LAUNCHED
                  : process->forked && !process->has_exec ? ORIGIN_FORK
                                                          : ORIGIN_OTHER,
        .images = process->images,
        .began = process->began,
        .forked = process->forked,
        .command = process->is_given ? reader.work->command : NULL,
        .name = process->name,
    };
    find_program(process, &program);
    image.program = program.path[0] ? &program : NULL;
    image.has_begun = (process->has_exec || process->forked) && image.program;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != reader_pid) /* it has ended before */
        exit(1);
    sys3(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0); /* the reader's: events, and processes' ends */
    exit(outside_work(&image, process->queue, process->is_given));
}

static void put_maps(struct record_queue *queue, const struct traced_map *youngest)
{
    if (!youngest)
        return;
    put_maps(queue, youngest->older);
    record_queue_put(queue, youngest->record);
}

static void note_end(int pid)
{
    struct traced *process = traced_find(pid);
    if (!process || process->ended)
        return;
    process->ended = sys_clock(CLOCK_MONOTONIC);
    reader.ending++;
}

/* It may have ended since its first sample. */
static void watch_end(struct traced *process)
{
    if (process->watched < 0)
        process->watched = process_end_watch(process->pid);
    if (process->watched == -ESRCH)
        note_end(process->pid);
}

static void set_lack(struct traced *process, int lack)
{
    reader.unmeasured[process->lack]--;
    reader.unmeasured[lack]++;
    process->lack = lack;
}

/* Gives the image a worker, unless there are too many, of hpcrun's or of the user's processes, or too little memory. */
static void begin_worker(struct traced *process)
{
    bool has_memory = !memory_limit_is_reached();
    process->queue = has_memory ? record_queue_take() : NULL;
    if (process->queue)
        put_maps(process->queue, process->maps);
    pid_t reader_pid = getpid();
    process->worker = process->queue ? fork() : -1;
    if (process->worker == 0)
        become_worker(process, reader_pid);
    if (process->worker > 0) {
        reader.images++;
        memory_limit_begin();
        watch_end(process);
        set_lack(process, LACKS_NOTHING);
        return;
    }
    if (process->queue)
        record_queue_give_back(process->queue);
    process->queue = NULL;
    set_lack(process, has_memory ? LACKS_ROOM : LACKS_MEMORY);
}

/* Workers that have their last record, until they end. */
static struct ending {
    pid_t worker;
    struct record_queue *queue;
} endings[MAX_QUEUES];
static unsigned ending_count;

static void end_worker(struct traced *process, enum queue_end why)
{
    if (!process || !process->queue)
        return;
    record_queue_end(process->queue, why);
    endings[ending_count++] = (struct ending){process->worker, process->queue};
    process->queue = NULL;
    process->images++;
    if (process->is_caught)
        catchers_forget(process->pid);
    process->is_caught = process->is_told = false;
}

static void note_end_of_worker(int status)
{
    if (WIFSIGNALED(status))
        diag_error(NULL, "the measurement from outside was ended by signal %d: it is incomplete",
                   WTERMSIG(status));
    bool is_late = WIFEXITED(status) && WEXITSTATUS(status) == OUTSIDE_TOO_LATE;
    reader.too_late += is_late;
    reader.is_damaged |= status != 0 && !is_late;
}

/* A worker that fails before its last record is reaped when its process has ended: until then its queue is in use. */
static void reap(void)
{
    int status;
    for (unsigned i = ending_count; i > 0; i--) {
        struct ending *its = &endings[i - 1];
        if (waitpid(its->worker, &status, WNOHANG) != its->worker)
            continue;
        note_end_of_worker(status);
        stack_copies_gather(its->queue);
        record_queue_give_back(its->queue);
        *its = endings[--ending_count];
    }
}

/* Further signals don't end it: then hpcrun would end before there are all measurements. */
static void reap_all(void)
{
    uint64_t most = sys_clock(CLOCK_MONOTONIC) + MOST_END_NS;
    for (reap(); ending_count > 0; reap()) {
        poll(NULL, 0, END_WAIT_MS);
        for (unsigned i = 0; i < ending_count && sys_clock(CLOCK_MONOTONIC) > most; i++)
            kill(endings[i].worker, SIGKILL);
    }
}

/* ---- records ---- */

static void forget(struct traced *process)
{
    reader.ending -= process->ended != 0;
    reader.running -= process->is_given;
    traced_remove(process);
}

static void on_begin(const struct task_record *task)
{
    struct traced *parent = traced_find((int)task->parent), *process = traced_find((int)task->pid);
    if (task->pid == task->parent) {
        if (process)
            process->threads++;
        if (process && process->queue)
            record_queue_put(process->queue, &task->header);
        return;
    }
    if (process) { /* another one with this number, whose end was lost */
        end_worker(process, QUEUE_PROCESS_ENDED);
        forget(process);
    }
    if (!parent) /* a thread of the kernel, or one of hpcrun's processes */
        return;
    process = traced_add((int)task->pid, task->time);
    if (!process) {
        reader.unmeasured[LACKS_ROOM]++;
        return;
    }
    process->threads = 1;
    process->parent = (int)task->parent;
    process->forked = task->time;
    memcpy(process->name, parent->name, sizeof process->name);
    traced_maps_share(process, parent);
}

static void on_exec(struct traced *process, const char name[PROCESS_NAME], uint64_t time)
{
    end_worker(process, QUEUE_EXEC);
    if (strcmp(name, OUTSIDE_PROGRAM) == 0) { /* what it measures is its own */
        forget(process);
        return;
    }
    traced_maps_clear(process);
    process->began = time;
    process->has_exec = true;
    memcpy(process->name, name, sizeof process->name);
    reader.has_begun |= process->is_given;
    if (process->is_given && !reader.work->gains_rights)
        begin_worker(process);
}

static void on_end(struct traced *process)
{
    if (!process->forked || --process->threads > 0) /* of others, the number of threads is not known */
        return;
    end_worker(process, QUEUE_PROCESS_ENDED);
    forget(process);
}

static void on_map(struct traced *process, const struct perf_event_header *record)
{
    static struct mapping mapping;
    perf_record_mapping(record, &mapping);
    if (mapping_is_module(&mapping))
        traced_map_add(process, &mapping, record);
}

/* A sample, or a thread that waits. */
static bool is_worth_a_worker(const struct perf_event_header *record)
{
    const unsigned left = PERF_RECORD_MISC_SWITCH_OUT, preempted = PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    return record->type == PERF_RECORD_SAMPLE ||
           (record->type == PERF_RECORD_SWITCH && (record->misc & (left | preempted)) == left);
}

/* After the sample, what was read at its instant. */
static void put_caught(struct traced *process, const struct perf_event_header *sample)
{
    const struct caught *caught = perf_rings_are_full() ? NULL : catchers_take(sample);
    if (!caught)
        return;
    record_queue_put(process->queue, &caught->header);
    process->caught_until = caught->ended > process->caught_until ? caught->ended : process->caught_until;
}

/* Whether a record is only for proofs, and there is none that needs it. */
static bool is_needless(const struct traced *process, const struct perf_event_header *record)
{
    bool is_for_waits = record->type == PERF_RECORD_SWITCH && reader.has_waits;
    bool is_of_switch = record->type == PERF_RECORD_SWITCH || perf_record_is_switch(record);
    return is_of_switch && !is_for_waits && perf_record_time(record) > process->caught_until;
}

static void on_record(const struct perf_event_header *record)
{
    char name[PROCESS_NAME];
    if (!perf_events_have(record))
        return;
    stack_copies_lose(perf_record_lost(record));
    const struct task_record *begun = perf_record_begin(record);
    if (begun) {
        on_begin(begun);
        return;
    }
    struct traced *process = traced_find(perf_record_pid(record));
    if (!process)
        return;
    if (record->type == PERF_RECORD_MMAP2)
        on_map(process, record);
    if (perf_record_is_exec(record, name)) {
        on_exec(process, name, perf_record_time(record));
        return;
    }
    if (is_needless(process, record))
        return;
    if (!process->queue && is_worth_a_worker(record))
        begin_worker(process);
    if (process->queue)
        record_queue_put(process->queue, record);
    if (process->is_caught && record->type == PERF_RECORD_SAMPLE && !perf_record_is_switch(record))
        put_caught(process, record);
    if (record->type == PERF_RECORD_EXIT)
        on_end(process);
}

/* ---- begin ---- */

static int open_process(int pid)
{
    process.pid = pid;
    return perf_events_open(&reader.missing);
}

static bool open_events(void)
{
    const struct outside_work *work = reader.work;
    kernel_code_init();
    int pid = work->is_all ? -1 : reader.given.pids[0];
    int error = perf_rings_map(memory_limit_of_rings(), work->is_all);
    if (error == 0)
        error = perf_events_prepare(&process.config.events[0], work->command && !reader.has_begun);
    if (!perf_rights_suffice(pid, error))
        return false;
    stack_copies_begin();
    bool is_open = work->is_all    ? perf_rights_suffice(pid, perf_events_open_system())
                   : work->command ? perf_rights_suffice(pid, open_process(pid))
                                   : given_open(&reader.given, open_process);
    if (is_open && reader.missing)
        diag_note(NULL, "%u threads are not sampled: too few file descriptors (ulimit -n)",
                  reader.missing);
    return is_open;
}

static void add_map(const struct mapping *mapping, void *data)
{
    struct traced *process = data;
    struct perf_event_header *record = perf_record_of_mapping(process->pid, mapping);
    if (record)
        traced_map_add(process, mapping, record);
    free(record);
}

/* A process that runs already gets its worker at once, so that it is in the list of processes. Of many, the others
 * get theirs at their first sample. */
static bool begin_running(struct traced *given)
{
    process.pid = given->pid;
    traced_maps_clear(given);
    bool is_there = foreign_modules_visit_maps(add_map, given);
    if (is_there && reader.images < record_queues_count() / 2)
        begin_worker(given);
    return is_there;
}

/* Returns 0, or a negative errno. */
static int begin_given(int pid)
{
    struct traced *given = traced_add(pid, sys_clock(CLOCK_MONOTONIC));
    if (!given)
        return -ENOMEM;
    given->is_given = true;
    given->watched = process_end_watch(pid);
    reader.running++;
    bool is_there = given->watched >= 0 && (reader.work->command || begin_running(given));
    int error = is_there ? 0 : given->watched < 0 ? given->watched : -ESRCH;
    if (!is_there)
        forget(given);
    return error;
}

/* Since they were opened, processes may have ended. Of those of --name, one that has not is enough. */
static bool begin_all_given(void)
{
    for (size_t i = 0; i < reader.given.count; i++) {
        int error = begin_given(reader.given.pids[i]);
        bool is_last = i + 1 == reader.given.count;
        if (error == 0 || (reader.given.is_named && (!is_last || reader.running > 0)))
            continue;
        diag_error(NULL, "process %d: %s", reader.given.pids[i], error == -ESRCH ? "it has ended" : strerror(-error));
        return false;
    }
    return true;
}

/* A process of the system: its worker begins at its first sample. Threads of the kernel have no mappings. */
static void add_running(int pid)
{
    char name[64] = "";
    process.pid = pid;
    measured_name(pid, name, sizeof name);
    struct traced *added = strcmp(name, OUTSIDE_PROGRAM) == 0 ? NULL : traced_add(pid, sys_clock(CLOCK_MONOTONIC));
    if (!added)
        return;
    foreign_modules_visit_maps(add_map, added);
    if (!added->maps)
        traced_remove(added);
}

static bool begin_system(void)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        diag_fatal("/proc", "%s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(processes));)
        if (atoi(entry->d_name) > 0)
            add_running(atoi(entry->d_name));
    closedir(processes);
    return true;
}

/* The command has begun, and the kernel ends its events, since it gains rights. */
static bool begin_with_rights(void)
{
    perf_events_await_end();
    struct traced *given = traced_find(reader.given.pids[0]);
    return open_events() && given && begin_running(given);
}

/* A bit longer than what was asked for: see perf-events.h. */
static uint64_t outside_period(uint64_t period)
{
    return (period + period / 37) | 1;
}

/* A module of the process may lie right below the stack of its worker, which could not grow then. */
static void grow_stack(void)
{
    char room[STACK_BYTES];
    *(volatile char *)room = 0;
}

/* A reader, or worker, that shares the CPUs equally with 1000 busy threads loses nearly all samples. Only root, and who has
 * CAP_SYS_NICE, may have more. Workers inherit it; the command does not. */
static void take_priority(void)
{
    setpriority(PRIO_PROCESS, 0, -20);
}

static bool begin(void)
{
    const struct outside_work *work = reader.work;
    take_priority();
    process.config.events[0].period = outside_period(process.config.events[0].period);
    reader.has_waits = process.config.events[0].kind == EVENT_REALTIME;
    grow_stack();
    handle_signals();
    memory_limit_set(work->memory);
    if (!record_queues_map())
        diag_fatal(NULL, "no memory for queues");
    if (!open_events())
        return false;
    if (work->is_all)
        return begin_system();
    if (!begin_all_given())
        return false;
    if (!work->command)
        return true;
    char go = 1;
    bool goes = write(work->go, &go, 1) == 1;
    close(work->go);
    return goes;
}

/* ---- the end ---- */

/* A process that has ended has no more records. */
static void end_if_read(struct traced *process)
{
    if (process->ended && process->ended <= reader.until) {
        end_worker(process, QUEUE_PROCESS_ENDED);
        forget(process);
    }
}

static void end_measurement(struct traced *process)
{
    bool runs = !process->ended && kill(process->pid, 0) == 0;
    end_worker(process, runs ? QUEUE_MEASUREMENT_ENDED : QUEUE_PROCESS_ENDED);
}

static uint64_t cpu_of(int who)
{
    struct rusage usage = {0};
    getrusage(who, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

static void add_copies(struct text *line)
{
    struct copy_range range = stack_copies_range();
    if (range.least == range.most)
        return;
    text_add(line, ", copies of stacks had ");
    text_add_number(line, range.least);
    text_add(line, " to ");
    text_add_number(line, range.most);
    text_add(line, " KB");
}

static void add_unmeasured(struct text *line, const char *why, int64_t processes)
{
    if (processes == 0)
        return;
    text_add(line, why);
    text_add_number(line, (uint64_t)processes);
    text_add(line, " processes were not measured");
}

/* "measured from outside: 3 programs; reading took 0.012 s CPU, copies of stacks had 4 to 60 KB" */
static void report_reading(void)
{
    char buffer[512];
    struct text line = TEXT(buffer);
    text_add(&line, "measured from outside: ");
    text_add_number(&line, reader.images - reader.too_late);
    text_add(&line, reader.images - reader.too_late == 1 ? " program" : " programs");
    text_add(&line, "; reading took ");
    text_add_decimal(&line, (cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN)) / 1000000, 3);
    text_add(&line, " s CPU");
    add_copies(&line);
    if (reader.too_late) {
        text_add(&line, "; not measured, since they ended before hpcrun had looked at them: ");
        text_add_number(&line, reader.too_late);
    }
    add_unmeasured(&line, "; too many at once: ", reader.unmeasured[LACKS_ROOM]);
    add_unmeasured(&line, "; memory was used up (--memory): ", reader.unmeasured[LACKS_MEMORY]);
    report_init();
    if (process.config.quiet)
        report_log(&line);
    else
        report_error(&line);
}

static uint64_t deadline_of(double seconds)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    return seconds > 0 ? now + (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

static void add_memory(struct traced *process)
{
    if (process->queue)
        memory_limit_add(process->worker);
}

static void keep_to_memory_limit(void)
{
    if (memory_limit_is_due()) {
        record_queues_trim();
        memory_limit_measure(perf_rings_bytes());
        traced_visit(add_memory);
    }
    record_queues_refuse(memory_limit_is_reached());
}

/* Its worker may have found an interpreter. */
static void begin_to_catch(struct traced *process)
{
    const void *note = process->queue && !process->is_told ? record_queue_told(process->queue) : NULL;
    if (!note)
        return;
    int error = catchers_watch(process->pid, note);
    process->is_told = true;
    process->is_caught = error == 0;
    if (error != 0)
        diag_note(NULL, "process %d: frames of its interpreter can't be read: %s%s", process->pid, strerror(-error),
                  error == -EMFILE ? " (ulimit -n)" : "");
}

static int time_to_wait(bool waits_for_exec)
{
    return waits_for_exec ? EXEC_WAIT_MS : reader.ending ? END_WAIT_MS : WAIT_MS;
}

int outside_read(const struct outside_work *work)
{
    reader.work = work;
    reader.given = work->given;
    bool is_good = begin(), runs = is_good;
    uint64_t deadline = deadline_of(work->seconds);
    while (runs && !is_interrupted && sys_clock(CLOCK_MONOTONIC) < deadline) {
        bool waits_for_exec = work->command && !reader.has_begun;
        perf_rings_wait(process_ends_fd(), time_to_wait(waits_for_exec));
        process_ends_take(note_end);
        keep_to_memory_limit();
        reader.until = perf_rings_read(false, on_record);
        record_queues_wake(reader.until);
        if (record_queues_have_notes())
            traced_visit(begin_to_catch);
        if (reader.ending)
            traced_visit(end_if_read);
        runs = work->is_all || reader.running > 0;
        if (waits_for_exec && reader.has_begun && work->gains_rights)
            runs = begin_with_rights();
        if (!waits_for_exec)
            stack_copies_fit(on_record);
        reap();
    }
    perf_events_stop();
    perf_rings_read(true, on_record);
    traced_visit(end_measurement);
    reap_all();
    bool is_empty = !work->is_all && reader.images == 0;
    if (!is_good || (is_empty && reader.unmeasured[LACKS_ROOM] + reader.unmeasured[LACKS_MEMORY] == 0))
        return 1;
    fds_init();
    kernel_code_save();
    report_reading();
    return reader.is_damaged || is_empty ? 1 : 0;
}
