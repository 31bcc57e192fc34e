#include "tests/fuzz/reader-checks.h"

#include "tests/fuzz/promise.h"

#include "lib/measurement.h"
#include "lib/trace-format.h"

#include <string.h>

static void look_at_names(const struct measurement *m)
{
    look_at_text(m->process.host);
    look_at_text(m->process.executable);
    look_at_text(m->process.directory);
    look_at_text(m->process.hpcrun_version);
    for (size_t i = 0; i < m->process.arguments.n; i++)
        look_at_text(m->process.arguments.at[i]);
    for (size_t i = 0; i < m->events.n; i++) {
        look_at_text(m->events.at[i].name);
        look_at_text(m->events.at[i].unit);
        look_at_text(m->events.at[i].why_other_source);
    }
    for (size_t i = 0; i < m->metrics.n; i++) {
        look_at_text(m->metrics.at[i].name);
        PROMISE(m->metrics.at[i].event == MEASUREMENT_UNKNOWN ||
                m->metrics.at[i].event < m->events.n);
    }
    for (size_t i = 0; i < m->modules.n; i++)
        look_at_text(m->modules.at[i].path);
    for (size_t i = 0; i < m->agents.n; i++)
        look_at_text(m->agents.at[i].rules_version);
    for (size_t i = 0; i < m->problems.n; i++)
        PROMISE(!strchr(m->problems.at[i], '\n'));
    PROMISE(m->complete || m->problems.n);
}

static void look_at_space(const struct measurement *m, uint32_t space, uint64_t value)
{
    if (space >= MEASUREMENT_LOST_RECORD)
        return;
    if (space < MEASUREMENT_NAMES) {
        PROMISE(space < m->modules.n && m->modules.at[space].used);
        return;
    }
    PROMISE(space - MEASUREMENT_NAMES < m->name_tables.n);
    const struct measurement_name *name = measurement_name(m, space, value);
    if (name)
        look_at_text(name->file);
}

static void look_at_creator(const struct measurement *m, const struct measurement_thread *t)
{
    size_t nodes = 1;
    for (size_t i = 0; i < m->threads.n; i++)
        if (m->threads.at[i].index + UINT64_C(1) == t->creator)
            nodes = m->threads.at[i].nodes.n;
    PROMISE(t->creation_context < nodes);
}

static void look_at_trace(const struct measurement *m, const struct measurement_thread *t)
{
    PROMISE(t->trace_step > 0 && t->trace_step <= UINT32_MAX &&
            (t->trace_step & (t->trace_step - 1)) == 0);
    PROMISE(t->trace_event == MEASUREMENT_UNKNOWN || t->trace_event < m->events.n);
    PROMISE(t->trace.n == 0 || t->known);
    for (size_t i = 0; i < t->trace.n; i++) {
        const struct measurement_trace_record *record = &t->trace.at[i];
        enum trace_state state = trace_state(record->amount);
        PROMISE(state > 0 && state < TRACE_STATES && state != TRACE_OVERHEAD);
        PROMISE(record->node < t->nodes.n);
        PROMISE(record->time >= (i > 0 ? record[-1].time : t->first_monotonic));
    }
}

static void look_at_thread(const struct measurement *m, const struct measurement_thread *t)
{
    look_at_text(t->name);
    PROMISE(t->nodes.n >= 2);
    look_at_creator(m, t);
    PROMISE(t->last_monotonic >= t->first_monotonic && t->last_cpu >= t->first_cpu);
    for (size_t i = 0; i < t->nodes.n; i++) {
        const struct measurement_node *node = &t->nodes.at[i];
        PROMISE(i == 0 || node->parent < i);
        look_at_space(m, node->ip_space, node->ip_offset);
        look_at_space(m, node->lip_space, node->lip_value);
    }
    for (size_t i = 0; i < t->values.n; i++) {
        const struct measurement_value *value = &t->values.at[i];
        PROMISE(value->node < t->nodes.n && value->metric < m->metrics.n);
        PROMISE(m->metrics.at[value->metric].event != MEASUREMENT_UNKNOWN);
        PROMISE(i == 0 || value[-1].node < value->node ||
                (value[-1].node == value->node && value[-1].metric < value->metric));
    }
    for (size_t i = 0; i < t->fates.n; i++)
        PROMISE(t->fates.at[i].event == MEASUREMENT_UNKNOWN || t->fates.at[i].event < m->events.n);
    look_at_trace(m, t);
}

void check_measurement(const struct measurement *m)
{
    look_at_names(m);
    for (size_t i = 0; i < m->threads.n; i++) {
        PROMISE(i == 0 || m->threads.at[i - 1].index < m->threads.at[i].index);
        look_at_thread(m, &m->threads.at[i]);
    }
    for (size_t i = 0; i < m->children.n; i++)
        check_measurement(m->children.at[i]);
}
