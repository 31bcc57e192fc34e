/* Handler. */
#include "agents/common/ready-tasks.h"

#include <x86intrin.h>

/* ---- children of a task ---- */

/* The thread may be leaving the task: its memory is read through the host. */
static bool has_ready_children(const struct agent_host *host, const struct agent_cursor *cursor,
                               const struct agent_slot_part *thread)
{
    uint64_t link = (uint64_t)thread->link;
    uint64_t record = link ? agent_u64(host, cursor, link + offsetof(struct body_link, record)) : 0;
    if (!record)
        return false;
    uint32_t created = agent_u32(host, cursor, record + offsetof(struct task_record, created));
    uint32_t begun = agent_u32(host, cursor, record + offsetof(struct task_record, begun));
    uint32_t taken = agent_u32(host, cursor, record + offsetof(struct task_record, taken));
    return (int32_t)(created - begun - taken) > 0;
}

/* ---- tasks of teams ---- */

/* How many ready tasks of each team no thread was found to take so far. Only a few teams are kept: a
 * bound for processes with very many, whose threads then count as idle. */
#define MAX_TEAMS 8
struct ready_tasks {
    const struct agent_slots *slots;
    enum slot_runtime runtime;
    int teams;
    struct {
        uint64_t team;
        int32_t ready;
    } of[MAX_TEAMS];
};

static uint64_t team_of(const struct agent_slot_part *thread)
{
    return atomic_load_explicit(&thread->team.id, memory_order_relaxed);
}

static int32_t ready_by(const struct agent_slot_part *thread)
{
    return (int32_t)(atomic_load_explicit(&thread->team.created, memory_order_relaxed) -
                     atomic_load_explicit(&thread->team.begun, memory_order_relaxed));
}

static int32_t ready_in(const struct agent_slots *slots, enum slot_runtime runtime, uint64_t team)
{
    uint32_t end = atomic_load_explicit(&slots->end, memory_order_acquire);
    int32_t ready = 0;
    for (uint32_t i = 0; i < end; i++) {
        const struct agent_slot_part *thread = part_of(agent_slot_at(slots, i), runtime);
        ready += team_of(thread) == team ? ready_by(thread) : 0;
    }
    return ready;
}

/* The number for a team; NULL: it is not kept. */
static int32_t *ready_of(struct ready_tasks *tasks, uint64_t team)
{
    int i = 0;
    while (i < tasks->teams && tasks->of[i].team != team)
        i++;
    if (i == MAX_TEAMS || !team)
        return NULL;
    if (i == tasks->teams) {
        tasks->of[i].team = team;
        tasks->of[i].ready = ready_in(tasks->slots, tasks->runtime, team);
        tasks->teams++;
    }
    return &tasks->of[i].ready;
}

/* ---- short waits ---- */

/* Ticks of the time stamp counter between two looks: 0.7 to 2 ms. MANY waits in that time take less than
 * 0.1 ms each, in the mean. Of coarse tasks a thread begins a few in that time. */
enum { LOOK_TICKS = 1 << 21, MANY = 16 };

/* Handlers of several threads may look at the same time: the answer of one of them stays. */
static bool waits_are_short(struct agent_slot_waits *waits)
{
    uint64_t now = __rdtsc(), last = atomic_load_explicit(&waits->looked_at, memory_order_relaxed);
    if (now - last >= LOOK_TICKS) {
        uint32_t count = waits->count;
        uint32_t before =
            atomic_exchange_explicit(&waits->looked_at_count, count, memory_order_relaxed);
        atomic_store_explicit(&waits->looked_at, now, memory_order_relaxed);
        atomic_store_explicit(&waits->are_short, count - before >= MANY, memory_order_relaxed);
    }
    return atomic_load_explicit(&waits->are_short, memory_order_relaxed);
}

/* ---- threads ---- */

/* Whether a waiting thread takes a task, which is then no longer left for others. */
static bool take(const struct agent_host *host, const struct agent_cursor *cursor,
                 struct agent_slot *slot, struct ready_tasks *tasks)
{
    struct agent_slot_part *thread = part_of(slot, tasks->runtime);
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if ((state != AGENT_SLOT_TASKWAIT && state != AGENT_SLOT_BARRIER) ||
        !slot_serves(slot, tasks->runtime))
        return false;
    int32_t *left = ready_of(tasks, team_of(thread));
    if (!left || *left <= 0)
        return false;
    bool may_take = state == AGENT_SLOT_BARRIER || has_ready_children(host, cursor, thread) ||
                    waits_are_short(&thread->waits);
    *left -= may_take;
    return may_take;
}

/* Threads up to `last` that take a task, in the order of their slots. *takes: whether the last does. */
static uint32_t count_up_to(const struct agent_host *host, const struct agent_cursor *cursor,
                            enum slot_runtime runtime, uint32_t last, bool *takes)
{
    struct ready_tasks tasks = {.slots = host->slots, .runtime = runtime};
    uint32_t count = 0;
    for (uint32_t i = 0; i <= last; i++)
        count += *takes = take(host, cursor, agent_slot_at(host->slots, i), &tasks);
    return count;
}

bool slot_takes_task(const struct agent_host *host, const struct agent_cursor *cursor,
                     const struct agent_slot *slot, enum slot_runtime runtime)
{
    bool takes = false;
    count_up_to(host, cursor, runtime, slot->number, &takes);
    return takes;
}

uint32_t slots_that_take_tasks(const struct agent_host *host, const struct agent_cursor *cursor,
                               enum slot_runtime runtime)
{
    uint32_t end = atomic_load_explicit(&host->slots->end, memory_order_acquire);
    bool takes;
    return end ? count_up_to(host, cursor, runtime, end - 1, &takes) : 0;
}
