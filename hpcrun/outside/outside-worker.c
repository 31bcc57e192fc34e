#include "hpcrun/outside/outside-worker.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/life/process-summary.h"
#include "hpcrun/outside/caught-memory.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/foreign-threads.h"
#include "hpcrun/outside/foreign-waits.h"
#include "hpcrun/outside/kernel-code.h"
#include "hpcrun/outside/linked-agents.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/printed-text.h"
#include "hpcrun/outside/unsampled-time.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/chunk-writer.h"
#include "hpcrun/record/append-file.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/record/perf-map.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/source/source-perf.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define WAIT_NS        10000000000u
#define MOST_REST_NS   50000000u
#define WRITE_INTERVAL 10000000000u
#define CPU_INTERVAL   5000000u
#define FIRST_CALM     500u /* most_calm at first */
#define UNSEEN_PART    4 /* threads without samples are counted if more than 1/4 of the samples' CPU time has none */

static struct {
    struct record_queue *queue;
    bool is_main;
    bool has_news; /* records that are not in the file */
    uint64_t period;
    uint64_t lost, refused; /* samples: they came too fast; there was no memory for them */
    uint64_t lost_records;  /* of any kind, for which a ring had no room */
    uint64_t most_in_them;  /* samples that may be among these */
    enum queue_wish wish;        /* what the reader was asked for */
    uint64_t samples, cut, calm; /* since the last wish. cut: the rest of the stack was lost; calm: no rest was read */
    uint64_t most_calm;          /* once `calm` is that many, rests are no longer read */
    uint64_t to_catch, missed;   /* samples since an agent was found; those for which it lacked memory of the instant */
    uint64_t throttled;  /* times that the kernel held samples back */
    uint64_t written_at, cpu_at; /* CLOCK_MONOTONIC of the last writing, and reading of the process's CPU time */
} worker;

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)info;
    if (foreign_threads_fix_up(context) || linked_agents_fix_up(context))
        return;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL); /* it comes again */
}

/* The reader of the rings ends the measurement, by the queue; SIGTERM comes if it is gone. */
static void handle_signals(void)
{
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction interrupt = {.sa_handler = on_interrupt}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGBUS, &fault, NULL);
    sigaction(SIGTERM, &interrupt, NULL);
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
}

/* ---- records ---- */

static void on_lost(uint64_t records)
{
    worker.lost_records += records;
}

/* Samples on a CPU. */
static void lose(uint64_t *count, struct lost_samples samples)
{
    *count += samples.count;
    if (samples.count + samples.time)
        foreign_threads_lose(samples.count, samples.time, samples.time);
}

static void refuse_look(void)
{
    worker.refused++;
    foreign_threads_lose(1, worker.period, 0);
}

/* An event of the CPU counts on while a thread of the reader has that, right after the sample. */
static uint64_t time_to_catch(const struct perf_sample *sample)
{
    uint64_t time = sample->caught ? sample->caught->ended - sample->time : 0;
    uint64_t most = perf_events_are_of_cpu(sample->event) ? sample->period / 2 : 0;
    return time < most ? time : most;
}

static void on_sample(const struct perf_sample *record)
{
    struct perf_sample sample = *record;
    sample.caught = caught_after(worker.queue, record_queue_first(worker.queue));
    sample.period -= time_to_catch(&sample);
    uint64_t bytes = foreign_threads_sample(&sample);
    worker.samples++;
    worker.calm = bytes < sample.copy_bytes ? worker.calm + 1 : 0;
    worker.cut += bytes > sample.copy_bytes;
    record_queue_ask(worker.queue, bytes);
    worker.missed += worker.wish == QUEUE_WISHES_AGENT && !caught_is_whole();
    if (worker.wish == QUEUE_WISHES_AGENT && caught_lacks())
        record_queue_note_lack(worker.queue);
}

static void on_throttled(void)
{
    worker.throttled++;
}

static void on_begin(int tid, uint64_t time)
{
    foreign_threads_begin(tid, time, &(struct scheduled){0});
    waits_add(tid);
}

static void on_end(int tid, uint64_t time)
{
    foreign_threads_end(tid, time);
    waits_remove(tid);
}

static const struct perf_visitor visitor = {.map = foreign_modules_add,
                                            .sample = on_sample,
                                            .lost = on_lost,
                                            .throttled = on_throttled,
                                            .begin = on_begin,
                                            .end = on_end,
                                            .switched = waits_switch};

/* Gives agents what was read at the instant of the next sample. False: it is not yet known what that is. */
static bool take_caught(const struct perf_event_header *record, uint64_t until)
{
    if (worker.wish == QUEUE_WISHES_NOTHING || record->type != PERF_RECORD_SAMPLE || perf_record_is_switch(record))
        return true;
    enum caught_proof proof = caught_prove(worker.queue, record, until);
    if (proof == CAUGHT_NOT_YET)
        return false;
    if (worker.wish == QUEUE_WISHES_AGENT) {
        caught_use(proof == CAUGHT_PROVEN ? caught_after(worker.queue, record) : NULL);
        worker.to_catch++;
    }
    return true;
}

static void wish(enum queue_wish its, const void *note, size_t bytes)
{
    record_queue_make_wish(worker.queue, its, note, bytes);
    worker.wish = its;
    worker.samples = worker.cut = worker.calm = 0;
}

/* To read the rest of a stack at the instant of each sample takes CPU time. So it begins only after two rests were
 * lost, and more than 1 per 1000 samples, and ends after most_calm samples in a row that needed none. Each time that it
 * begins again, most_calm doubles, so that it does not begin and end all the time. */
static void make_wishes(void)
{
    uint8_t note[QUEUE_NOTE_BYTES];
    size_t bytes = worker.wish == QUEUE_WISHES_AGENT ? 0 : linked_agents_share(note, sizeof note);
    if (bytes > 0) {
        wish(QUEUE_WISHES_AGENT, note, bytes);
    } else if (worker.wish == QUEUE_WISHES_NOTHING && worker.cut > 1 && worker.cut > worker.samples / 1000) {
        wish(QUEUE_WISHES_STACKS, NULL, 0);
        worker.most_calm = worker.most_calm ? 2 * worker.most_calm : FIRST_CALM;
    } else if (worker.wish == QUEUE_WISHES_STACKS && worker.calm >= worker.most_calm) {
        wish(QUEUE_WISHES_NOTHING, NULL, 0);
    }
}

/* Looks at waiting threads come in between, in the order of time. */
static void visit_records(uint64_t until)
{
    struct lost_samples lost = record_queue_lost(worker.queue), refused = record_queue_refused(worker.queue);
    for (;;) {
        const struct perf_event_header *record = record_queue_first(worker.queue);
        const struct perf_sample *look = waits_first(record ? perf_record_time(record) : until);
        if ((!record && !look) || (!look && !take_caught(record, until)))
            break;
        worker.has_news = true;
        if (look) {
            caught_use(look->caught);
            if (record_queues_refuse_now())
                refuse_look();
            else
                foreign_threads_sample(look);
            waits_remove_first();
        } else {
            perf_record_visit(record, &visitor);
            record_queue_remove_first(worker.queue);
        }
    }
    lose(&worker.lost, lost);
    lose(&worker.refused, refused);
    record_queue_want_cpus(worker.queue, foreign_threads_want_cpus());
}

/* ---- the end ---- */

/* A ring says how many records it has lost, not how many of them were samples. At most as many were as are missing: the
 * process's CPU time without samples, in periods. */
static void count_lost_records(void)
{
    struct foreign_time time = foreign_threads_time();
    uint64_t most = time.used > time.sampled ? (time.used - time.sampled) / worker.period : 0;
    uint64_t samples = most < worker.lost_records ? most : worker.lost_records;
    lose(&worker.most_in_them, (struct lost_samples){samples, samples * worker.period});
}

/* The part of its CPU time that a thread can have after its last sample is no loss. */
static bool lacks_samples(struct foreign_time time)
{
    return !perf_events_see_kernel() && time.used > time.sampled + time.rests + time.used / 100 + MOST_REST_NS;
}

/* "3 to 12 samples are lost (70 records of all kinds): reading them was too slow". */
static void add_slow(struct text *line)
{
    if (worker.lost)
        text_print(line, "%lu", worker.lost);
    if (worker.lost_records)
        text_print(line, "%s %lu", worker.lost ? " to" : "up to", worker.lost + worker.most_in_them);
    text_add(line, " samples are lost");
    if (worker.lost_records)
        text_print(line, " (%lu records of all kinds)", worker.lost_records);
    text_add(line, ": reading them was too slow");
}

/* "sh[77]: 3 samples are lost: reading them was too slow; ...". What all processes have in common, the reader of
 * the rings says. */
static void report_losses(void)
{
    char buffer[PATH_MAX + 512];
    struct text line = TEXT(buffer);
    struct foreign_time time = foreign_threads_time();
    const char *program = process_arguments()[0] ? process_arguments()[0] : process.executable;
    text_print(&line, "%s[%d]: ", program, process.pid);
    const size_t begin = line.length;
    if (worker.lost + worker.lost_records)
        add_slow(&line);
    text_print_part(&line, begin, "; ", worker.refused, "%lu samples are lost: memory was used up (--memory)",
                    worker.refused);
    text_print_part(&line, begin, "; ", worker.throttled,
                    "times are too short: the kernel held samples back %lu times, since there were more than "
                    "kernel.perf_event_max_sample_rate allows",
                    worker.throttled);
    text_print_part(&line, begin, "; ", lacks_samples(time), "%s",
                    unsampled_time(time.used - time.sampled, measured_system_time()));
    text_print_part(&line, begin, "; ", worker.missed,
                    "%lu of %lu samples lack Python's frames, which could not be read in time", worker.missed,
                    worker.to_catch);
    text_print_part(&line, begin, "; ", foreign_modules_missing(), "code without names: %u file%s could not be read",
                    foreign_modules_missing(), foreign_modules_missing() == 1 ? "" : "s");
    text_print_part(&line, begin, "; ", waits_forbidden(),
                    "times of waiting are not known: the process may not be looked at (kernel.yama.ptrace_scope?)");
    text_print_part(&line, begin, "; ", waits_without_descriptors(),
                    "times of waiting are not known of %lu threads: too few file descriptors (ulimit -n)",
                    waits_without_descriptors());
    if (line.length > begin)
        report_loss(&line);
}

static void note_measured(void)
{
    struct foreign_time time = foreign_threads_time();
    uint64_t unsampled = lacks_samples(time) ? time.used - time.sampled : 0, system = measured_system_time();
    record_queue_note_measured(worker.queue, (struct measured){
        .samples = flush_totals()->fates[0][fate_slot(FATE_FIRED)].count,
        .cpu = time.used,
        .unseen = time.used > time.sampled + time.used / UNSEEN_PART ? time.unseen : 0,
        .unsampled = unsampled,
        .system = unsampled < system ? unsampled : system});
}

/* *detail: the number of a signal, else the exit status. */
static enum process_state end_state(enum queue_end end, int *detail)
{
    int status = end == QUEUE_PROCESS_ENDED ? measured_exit_status() : -1;
    *detail = 0;
    if (end == QUEUE_EXEC)
        return PROCESS_EXEC;
    if (end != QUEUE_PROCESS_ENDED)
        return PROCESS_RUNS_ON;
    if (status < 0) /* its parent knows */
        return PROCESS_EXIT;
    *detail = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return WIFSIGNALED(status) ? PROCESS_SIGNAL : PROCESS_EXIT;
}

static void read_cpu(void)
{
    measured_read_cpu();
    if (!perf_events_see_kernel())
        measured_read_system_time();
}

/* A process that has ended has no clock. It has used at least what its samples stand for. */
static void correct_cpu(void)
{
    uint64_t least = process.began_cpu + foreign_threads_time().used;
    if (process.cpu_elsewhere < least)
        process.cpu_elsewhere = least;
}

/* With REALTIME. */
static bool write_lock_states(struct chunk *chunk)
{
    static const char why[] = "from outside, a wait for a lock counts from the first look at the thread";
    const struct known_metric known[] = {{process.metrics.lock_blame[0], RECORDED_LOWER_BOUND, why, 0},
                                         {process.metrics.lock_wait[0], RECORDED_LOWER_BOUND, why, 0}};
    return known[0].id == NO_METRIC || process_chunks_write_states(chunk, known, 2);
}

/* False: something could not be written, which a line says. */
static bool end_image(enum queue_end end)
{
    struct chunk chunk;
    int detail;
    enum process_state state = end_state(end, &detail);
    read_cpu();
    measured_read_children_cpu();
    count_lost_records();
    bool is_lost = !foreign_threads_write(true);
    correct_cpu();
    if (measurement_create() && chunk_memory(&chunk)) {
        is_lost |= !process_chunks_write_modules(&chunk);
        is_lost |= !perf_map_write(&chunk, measured_owner(), measured_program_began());
        is_lost |= !write_lock_states(&chunk);
        process_chunks_write_clock(&chunk, state, detail);
        chunk_release(&chunk);
    } else {
        is_lost = true;
    }
    note_measured();
    report_losses();
    summarize(state, detail, state == PROCESS_EXEC, is_lost);
    measurement_close();
    return !is_lost;
}

/* ---- the work ---- */

/* Threads of a process that was forked meanwhile began with it, or later. Samples from before the clocks of a thread
 * that runs already are read are none of its measured time. */
static void begin_thread(int tid, void *data)
{
    const struct measured_image *image = data;
    struct scheduled now = {0};
    if (process.origin == ORIGIN_FORK || measured_schedule(tid, &now))
        foreign_threads_begin(tid, image->has_begun ? process.began_wall : sys_clock(CLOCK_MONOTONIC), &now);
}

static bool begin_image(struct measured_image *image)
{
    process.config.launched_pid = worker.is_main ? image->pid : 0;
    if (!measured_identify(image))
        return false;
    fds_init();
    metrics_init(&process.metrics, &process.config);
    modules_init(process.executable, &(struct known_code){0});
    kernel_code_begin();
    report_init();
    measurement_init();
    sampling.collapse_recursion = process.config.collapse_recursion;
    atomic_store(&sampling.on, true);
    process.active = true;
    measured_visit_threads(process.pid, begin_thread, image);
    waits_begin();
    note_begin();
    worker.written_at = process.began_wall;
    return true;
}

static void write_now_and_then(void)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (now - worker.cpu_at >= CPU_INTERVAL) {
        read_cpu();
        worker.cpu_at = now;
    }
    if (now - worker.written_at < WRITE_INTERVAL || !worker.has_news)
        return;
    worker.written_at = now;
    worker.has_news = false;
    long error = 0;
    if (!foreign_threads_write(false) && file_failures(&error) > 0)
        record_queue_note_write_error(worker.queue, (int)-error);
}

int outside_work(struct measured_image *image, struct record_queue *queue, bool is_main)
{
    worker.queue = queue;
    worker.is_main = is_main;
    worker.period = process.config.events[0].period;
    handle_signals();
    if (!begin_image(image))
        return OUTSIDE_TOO_LATE;
    enum queue_end end = QUEUE_OPEN;
    uint64_t until = 0;
    while (end == QUEUE_OPEN && !is_interrupted) {
        uint64_t next = waits_look();
        record_queue_wait(queue, until, next < WAIT_NS ? next : WAIT_NS);
        end = record_queue_ended(queue);
        until = end == QUEUE_OPEN ? record_queues_until() : UINT64_MAX;
        visit_records(until);
        make_wishes();
        write_now_and_then();
    }
    process.config.quiet |= is_interrupted; /* the reader is gone, which a line says */
    return end_image(end) ? 0 : 1;
}
