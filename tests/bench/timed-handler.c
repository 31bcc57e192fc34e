/* Linked with libhpcrun's objects into libhpcrun-timed.so, a variant that measures itself: the
 * linker's --wrap puts these functions around the handler and its parts. At the end of the process
 * the file HPCRUN_TIMES gets "key value" lines: samples; the mean nanoseconds per sample of the
 * whole handler, of measuring the increment (the clock read), of unwinding, of asking the agents,
 * of entering the path into the tree and paying the metrics, of arming the next sample, and of the
 * rest, which is the handler itself and the timing (14 time stamps and their code, in cold caches);
 * how many samples
 * were left out because they took over 100 us: the thread was preempted, or its tree grew; nodes
 * and bytes of the trees. */
#include "hpcrun/sample/handler.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/sample/sample.h"
#include "tests/bench/tick-rate.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum part { HANDLER, MEASURE, UNWIND, STANCE, PATH, RECORD, ARM, PARTS };

#define TOO_LONG_NS 100000

static _Atomic uint64_t ticks[PARTS], samples, left_out;
static __thread uint64_t now[PARTS]; /* of the sample that is being taken */
static __thread bool recorded;
static uint64_t too_long; /* ticks */

bool __real_handler_on_signal(const siginfo_t *info, const void *context);
struct increment __real_source_measure(struct thread *thread, struct thread_event *event,
                                       const siginfo_t *info, const ucontext_t *context);
enum unwind_end __real_unwind(struct unwinder *u, const ucontext_t *context);
const struct thread_status *__real_agent_query_status(struct agent_query *query, struct unwinder *u, int tid);
uint32_t __real_agent_query_path(struct agent_query *query);
void __real_sample_record(struct thread *thread, struct thread_event *event,
                          const struct increment *increment, const ucontext_t *context,
                          struct trace_record *found);
void __real_source_arm(struct thread *thread, struct thread_event *event);

bool __wrap_handler_on_signal(const siginfo_t *info, const void *context);
struct increment __wrap_source_measure(struct thread *thread, struct thread_event *event,
                                       const siginfo_t *info, const ucontext_t *context);
enum unwind_end __wrap_unwind(struct unwinder *u, const ucontext_t *context);
const struct thread_status *__wrap_agent_query_status(struct agent_query *query, struct unwinder *u, int tid);
uint32_t __wrap_agent_query_path(struct agent_query *query);
void __wrap_sample_record(struct thread *thread, struct thread_event *event,
                          const struct increment *increment, const ucontext_t *context,
                          struct trace_record *found);
void __wrap_source_arm(struct thread *thread, struct thread_event *event);

#define TIMED(part, call)                                                                          \
    uint64_t before = __rdtsc();                                                                   \
    call;                                                                                          \
    now[part] = __rdtsc() - before

bool __wrap_handler_on_signal(const siginfo_t *info, const void *context)
{
    recorded = false;
    TIMED(HANDLER, bool is_sample = __real_handler_on_signal(info, context));
    if (!recorded)
        return is_sample;
    if (now[HANDLER] > too_long) {
        left_out++;
        return is_sample;
    }
    samples++;
    for (int i = 0; i < PARTS; i++)
        ticks[i] += now[i];
    return is_sample;
}

struct increment __wrap_source_measure(struct thread *thread, struct thread_event *event,
                                       const siginfo_t *info, const ucontext_t *context)
{
    struct increment result;
    TIMED(MEASURE, result = __real_source_measure(thread, event, info, context));
    return result;
}

enum unwind_end __wrap_unwind(struct unwinder *u, const ucontext_t *context)
{
    enum unwind_end end;
    TIMED(UNWIND, end = __real_unwind(u, context));
    return end;
}

const struct thread_status *__wrap_agent_query_status(struct agent_query *query, struct unwinder *u, int tid)
{
    const struct thread_status *status;
    TIMED(STANCE, status = __real_agent_query_status(query, u, tid));
    return status;
}

uint32_t __wrap_agent_query_path(struct agent_query *query)
{
    uint32_t unchanged;
    TIMED(PATH, unchanged = __real_agent_query_path(query));
    return unchanged;
}

void __wrap_sample_record(struct thread *thread, struct thread_event *event,
                          const struct increment *increment, const ucontext_t *context,
                          struct trace_record *found)
{
    recorded = true;
    now[PATH] = 0; /* idle workers have no path */
    TIMED(RECORD, __real_sample_record(thread, event, increment, context, found));
}

void __wrap_source_arm(struct thread *thread, struct thread_event *event)
{
    TIMED(ARM, __real_source_arm(thread, event));
}

static void report(void *unused)
{
    (void)unused;
    const char *path = getenv("HPCRUN_TIMES");
    FILE *out = path && samples ? fopen(path, "w") : NULL;
    if (!out)
        return;
    double rate = ticks_per_ns() * (double)samples, part[PARTS];
    for (int i = 0; i < PARTS; i++)
        part[i] = (double)ticks[i] / rate;
    double agents = part[STANCE] + part[PATH];
    double tree = part[RECORD] - part[UNWIND] - agents;
    double rest = part[HANDLER] - part[MEASURE] - part[RECORD] - part[ARM];
    const struct flush_totals *totals = flush_totals();
    fprintf(out, "left_out %lu\nnodes %lu\nnode_bytes %lu\n", (unsigned long)left_out,
            (unsigned long)totals->ends.nodes, (unsigned long)totals->ends.node_bytes);
    fprintf(out,
            "samples %lu\nhandler %.1f\nclock %.1f\nunwind %.1f\nagents %.1f\ntree %.1f\narm %.1f\n"
            "rest %.1f\n",
            (unsigned long)samples, part[HANDLER], part[MEASURE], part[UNWIND], agents, tree,
            part[ARM], rest);
    fclose(out);
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* Registered before hpcrun's own end, to run after it: totals are complete then. */
__attribute__((constructor(101))) static void register_report(void)
{
    too_long = (uint64_t)(ticks_per_ns() * TOO_LONG_NS);
    __cxa_atexit(report, NULL, NULL);
}
