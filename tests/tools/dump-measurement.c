/* Prints a measurement file as text, for tests and for the curious:
 *     dump-measurement [--paths] FILE...
 * Values are in the fixed point of the file. With --paths every node that has some of what an event
 * measured is printed with its physical path, innermost frame first, as MODULE+0xOFFSET. `sum` is
 * what the nodes of a thread's tree have of an event, all together; `trace` what the records of its time line
 * have, by state, and when the first and the last one are. */
#include "lib/diag.h"
#include "lib/measurement.h"
#include "lib/trace-format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_frame(const struct measurement *m, const struct measurement_node *node)
{
    if (node->ip_space == MEASUREMENT_PLACEHOLDER)
        printf(" <placeholder %" PRIu64 ">", node->ip_offset);
    else if (node->ip_space == MEASUREMENT_NO_MODULE)
        printf(" <no module>+0x%" PRIx64, node->ip_offset);
    else if (node->ip_space < m->modules.n)
        printf(" %s+0x%" PRIx64,
               strrchr(m->modules.at[node->ip_space].path, '/')
                   ? strrchr(m->modules.at[node->ip_space].path, '/') + 1
                   : m->modules.at[node->ip_space].path,
               node->ip_offset);
    else
        printf(" ?");
}

/* Whether a metric has a part of what its event measured that no other one has. */
static bool is_complete(const struct measurement *m, const struct measurement_metric *metric)
{
    return metric->event < m->events.n &&
           (strcmp(metric->name, "work") == 0 || strcmp(metric->name, "waiting") == 0 ||
            strcmp(metric->name, "ready") == 0 ||
            strcmp(metric->name, m->events.at[metric->event].name) == 0);
}

static void print_paths(const struct measurement *m, const struct measurement_thread *thread)
{
    for (size_t i = 0; i < thread->values.n; i++) {
        const struct measurement_value *value = &thread->values.at[i];
        if (!is_complete(m, &m->metrics.at[value->metric]))
            continue;
        printf("path %u %s %" PRIu64, thread->index, m->metrics.at[value->metric].name,
               value->amount);
        for (uint32_t id = value->node; id != MEASUREMENT_ROOT; id = thread->nodes.at[id].parent)
            print_frame(m, &thread->nodes.at[id]);
        printf("\n");
    }
}

static void print_thread(const struct measurement *m, const struct measurement_thread *thread)
{
    printf("thread %u tid %" PRIu64 " kind %" PRIu64 " name '%s' nodes %zu wall %" PRIu64
           " cpu %" PRIu64 " ended %d\n",
           thread->index, thread->tid, thread->kind, thread->name, thread->nodes.n - 2,
           thread->last_monotonic - thread->first_monotonic, thread->last_cpu - thread->first_cpu,
           thread->ended);
    for (size_t i = 0; i < thread->fates.n; i++) {
        const struct measurement_fate *fate = &thread->fates.at[i];
        printf("fate %u %s %u %" PRIu64 " %" PRIu64 " %u\n", thread->index,
               fate->event < m->events.n ? m->events.at[fate->event].name : "?", fate->code,
               fate->count, fate->amount, fate->source);
    }
}

static void print_sums(const struct measurement *m, const struct measurement_thread *thread)
{
    for (size_t event = 0; event < m->events.n; event++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < thread->values.n; i++) {
            const struct measurement_metric *metric = &m->metrics.at[thread->values.at[i].metric];
            if (metric->event == event && is_complete(m, metric))
                sum += thread->values.at[i].amount;
        }
        printf("sum %u %s %" PRIu64 "\n", thread->index, m->events.at[event].name, sum);
    }
}

static void print_trace(const struct measurement *m, const struct measurement_thread *thread)
{
    uint64_t sums[TRACE_STATES] = {0}, begin = thread->first_monotonic;
    size_t n = thread->trace.n;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        uint64_t amount = thread->trace.at[i].amount;
        sums[trace_state(amount)] += trace_amount(amount);
    }
    printf("trace %u %s step %" PRIu64 " records %zu from %" PRIu64 " to %" PRIu64, thread->index,
           thread->trace_event < m->events.n ? m->events.at[thread->trace_event].name : "?",
           thread->trace_step, n, thread->trace.at[0].time - begin,
           thread->trace.at[n - 1].time - begin);
    for (int state = TRACE_WORK; state < TRACE_STATES; state++)
        printf(" %" PRIu64, sums[state]);
    printf("\n");
}

static void print_marks(const struct measurement_thread *thread)
{
    for (size_t i = 0; i < thread->marks.n; i++)
        printf("mark %u %" PRIu64 " %" PRIu64 " %s\n", thread->index, thread->marks.at[i].time,
               thread->marks.at[i].kind, thread->marks.at[i].name);
    if (thread->lost_marks)
        printf("marks %u lost %" PRIu64 "\n", thread->index, thread->lost_marks);
    for (size_t i = 0; i < thread->wake_ups.n; i++) {
        const struct measurement_wake_up *wake_up = &thread->wake_ups.at[i];
        printf("wake-up %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", thread->index, wake_up->time, wake_up->began,
               wake_up->released, wake_up->thread);
    }
    if (thread->lost_wake_ups)
        printf("wake-ups %u lost %" PRIu64 "\n", thread->index, thread->lost_wake_ups);
}

static void dump(const char *path, bool paths)
{
    char *cause;
    struct measurement *m = measurement_open(path, &cause);
    if (!m) {
        diag_error(path, "%s", cause);
        free(cause);
        return;
    }
    printf("file %s pid %" PRIu64 " ppid %" PRIu64 " exec %" PRIu64 " origin %" PRIu64
           " state %" PRIu64 " detail %" PRIu64 " wall %" PRIu64 " cpu %" PRIu64 " startup %" PRIu64 " epoch %" PRIu64
           " executable %s\n",
           path, m->process.pid, m->process.parent_pid, m->process.exec_sequence, m->process.origin,
           m->clock.state, m->clock.detail, m->clock.monotonic - m->process.monotonic,
           m->clock.cpu - m->process.cpu, m->process.cpu, m->process.realtime - m->process.monotonic,
           m->process.executable);
    for (size_t i = 0; i < m->problems.n; i++)
        printf("problem %s\n", m->problems.at[i]);
    for (size_t i = 0; i < m->modules.n; i++)
        printf("module %" PRIu64 " %" PRIx64 "-%" PRIx64 " bias %" PRIx64 " flags %" PRIu64
               " generation %" PRIu64 " build-id %zu %s\n",
               m->modules.at[i].id, m->modules.at[i].begin, m->modules.at[i].end,
               m->modules.at[i].bias, m->modules.at[i].flags, m->modules.at[i].generation,
               m->modules.at[i].build_id_size, m->modules.at[i].path);
    for (size_t i = 0; i < m->threads.n; i++) {
        print_thread(m, &m->threads.at[i]);
        print_sums(m, &m->threads.at[i]);
        print_trace(m, &m->threads.at[i]);
        print_marks(&m->threads.at[i]);
        if (paths)
            print_paths(m, &m->threads.at[i]);
    }
    measurement_free(m);
}

int main(int count, char **arguments)
{
    diag_init("dump-measurement");
    int at = 1;
    bool paths = at < count && strcmp(arguments[at], "--paths") == 0;
    for (at += paths; at < count; at++)
        dump(arguments[at], paths);
    return diag_exit_status();
}
