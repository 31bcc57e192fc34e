#include "hpcrun/outside/image-workers.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/frame-catcher.h"
#include "hpcrun/outside/memory-limit.h"
#include "hpcrun/outside/outside-worker.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/stack-copies.h"
#include "lib/diag.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_WAIT_MS 2

/* A worker that has not written its measurement by then hangs in a read: a user may have a file or memory that never
 * answers, by FUSE or userfaultfd. */
#define MOST_END_NS 30000000000u

static struct worker_counts counts;
static char *const *command_line;
static bool have_lines;

#define MOST_LINES 8

void image_workers_init(char *const *command, size_t given)
{
    command_line = command;
    have_lines = given > 0 && given <= MOST_LINES;
}

bool image_workers_have_lines(void)
{
    return have_lines;
}

struct worker_counts *image_workers_counts(void)
{
    return &counts;
}

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
        .command = process->is_given ? command_line : NULL,
        .name = process->name,
    };
    find_program(process, &program);
    image.program = program.path[0] ? &program : NULL;
    image.has_begun = (process->has_exec || process->forked) && image.program;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != reader_pid) /* it has ended before */
        exit(1);
    sys3(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0); /* the reader's: events, and processes' ends */
    exit(outside_work(&image, process->queue, process->is_given && have_lines));
}

static void put_maps(struct record_queue *queue, const struct traced_map *youngest)
{
    if (!youngest)
        return;
    put_maps(queue, youngest->older);
    record_queue_put(queue, youngest->record);
}

static void set_lack(struct traced *process, int lack)
{
    counts.unmeasured[process->lack]--;
    counts.unmeasured[lack]++;
    process->lack = lack;
}

void image_worker_begin(struct traced *process)
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
        counts.images++;
        memory_limit_begin();
        traced_watch(process);
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

void image_worker_end(struct traced *process, enum queue_end why)
{
    if (!process || !process->queue)
        return;
    uint64_t lost = perf_events_take_losses(process->pid);
    if (lost > 0)
        record_queue_put(process->queue, perf_record_of_losses(lost));
    record_queue_end(process->queue, why);
    endings[ending_count++] = (struct ending){process->worker, process->queue};
    process->queue = NULL;
    process->images++;
    if (process->is_caught)
        catchers_forget(process->pid);
    process->is_caught = false;
    process->wish = QUEUE_WISHES_NOTHING;
}

static void note_end_of_worker(int status)
{
    if (WIFSIGNALED(status))
        diag_error(NULL, "the measurement from outside was ended by signal %d: it is incomplete",
                   WTERMSIG(status));
    bool is_late = WIFEXITED(status) && WEXITSTATUS(status) == OUTSIDE_TOO_LATE;
    counts.too_late += is_late;
    counts.is_damaged |= status != 0 && !is_late;
}

static void add_measured(struct measured measured)
{
    counts.measured.samples += measured.samples;
    counts.measured.cpu += measured.cpu;
    counts.measured.unseen += measured.unseen;
    counts.measured.unsampled += measured.unsampled;
    counts.measured.system += measured.system;
}

/* A worker that fails before its last record is reaped when its process has ended: until then its queue is in use. One
 * that is no child any more has ended unseen: its process number may be another process's by now. */
void image_workers_reap(void)
{
    for (unsigned i = ending_count; i > 0; i--) {
        struct ending *its = &endings[i - 1];
        int status = -1;
        if (waitpid(its->worker, &status, WNOHANG) == 0)
            continue;
        note_end_of_worker(status);
        add_measured(record_queue_measured(its->queue));
        stack_copies_gather(its->queue);
        record_queue_give_back(its->queue);
        *its = endings[--ending_count];
    }
}

void image_workers_await(void)
{
    uint64_t most = sys_clock(CLOCK_MONOTONIC) + MOST_END_NS;
    for (image_workers_reap(); ending_count > 0; image_workers_reap()) {
        poll(NULL, 0, END_WAIT_MS);
        for (unsigned i = 0; i < ending_count && sys_clock(CLOCK_MONOTONIC) > most; i++)
            kill(endings[i].worker, SIGKILL);
    }
}
