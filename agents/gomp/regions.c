/* Parallel regions. The wrappers pass run_region, run_loop or run_sections to libgomp in place of
 * the region's function, and keep a record on the master's stack: nothing is unwound when a region
 * begins. */
#include "agents/common/body-links.h"
#include "agents/common/team-waits.h"
#include "agents/gomp/task-events.h"

#include <stdlib.h>

/* On the master's stack. */
struct gomp_region {
    void *first_word; /* of the user's data: libgomp reads it there for reductions */
    void (*function)(void *);
    void *data;
    void *observed; /* handle of its events; NULL: they are not reported */
    struct parallel_region common;
};

static INLINED void run(void *data)
{
    struct gomp_region *region = data;
    struct agent_slot *slot = slot_mine();
    struct body_link link = {.up = slot->gomp.link,
                             .context = &region->common.context,
                             .sp = (uint64_t)&link,
                             .is_inline = slot == region->common.master,
                             .region = &region->common,
                             .body = (uint64_t)region->function};
    slot_join(slot, RUNTIME_GOMP);
    if (!link.is_inline) {
        team_started(&slot->gomp, &region->common);
        team_join(&slot->gomp, region->common.team);
    }
    slot->gomp.kept = &region->common.context;
    link_publish(&slot->gomp, &link);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    if (region->observed)
        task_events->member_begins(region->observed);
    region->function(region->data);
    if (region->observed)
        task_events->member_ended();
    slot_set_state(slot, AGENT_SLOT_BARRIER);
    team_arrives(&slot->gomp);
    link_withdraw(&slot->gomp, &link);
    if (link.record)
        record_end(&slot->gomp, link.record);
}

TRAMPOLINE static void run_region(void *data)
{
    run(data);
}

TRAMPOLINE static void run_loop(void *data)
{
    run(data);
}

TRAMPOLINE static void run_sections(void *data)
{
    run(data);
}

static inline void begin(struct gomp_region *region, struct agent_slot *slot,
                         region_function *function, void *data, void *first_word)
{
    region->first_word = first_word;
    region->function = function;
    region->data = data;
    region->observed = NULL;
    region->common.master = slot;
    region->common.context.kind = CONTEXT_ON_STACK;
    region->common.context.up = (uint64_t)slot->gomp.link;
    region->common.context.thread = slot->thread;
    atomic_init(&region->common.is_cancelled, false);
    atomic_init(&region->common.kept, NULL);
    slot_join(slot, RUNTIME_GOMP);
    team_begin(slot, &slot->gomp, &region->common);
    team_starts(&region->common);
    slot_set_state(slot, AGENT_SLOT_STARTING);
}

static inline void end(struct gomp_region *region, struct agent_slot *slot)
{
    if (region->observed)
        task_events->region_ended(region->observed);
    team_goes_on(&slot->gomp);
    team_end(&slot->gomp, &region->common);
    slot_set_state(slot, AGENT_SLOT_WORKING);
    if (atomic_load_explicit(&region->common.is_cancelled, memory_order_relaxed) ||
        atomic_load_explicit(&region->common.kept, memory_order_relaxed))
        records_end_region(&slot->gomp, &region->common);
}

#define SET_CALLER(region)                                                                         \
    ((region).common.context.pc = CALLER_PC, (region).common.context.sp = CALLER_SP,               \
     (region).common.context.bp = CALLER_BP)

/* In a wrapper with the parameters fn and data: begins a region. */
#define BEGIN(first_word)                                                                          \
    struct gomp_region region;                                                                     \
    struct agent_slot *slot = slot_mine();                                                         \
    begin(&region, slot, fn, data, first_word);                                                    \
    SET_CALLER(region);                                                                            \
    if (real->is_observed)                                                                         \
    region.observed = task_events->region_begins(fn, (const void *)CALLER_PC)

void GOMP_parallel(region_function *fn, void *data, unsigned n, unsigned flags, FURTHER_PARAMETERS)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    if (!real->is_traced) {
        real->GOMP_parallel(fn, data, n, flags, FURTHER_ARGUMENTS);
        NO_JUMP;
        return;
    }
    BEGIN(NULL);
    real->GOMP_parallel(run_region, &region, n, flags, 0, 0, 0, 0, 0, 0);
    end(&region, slot);
}

unsigned GOMP_parallel_reductions(region_function *fn, void *data, unsigned n, unsigned flags,
                                  FURTHER_PARAMETERS)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    unsigned threads;
    if (!real->is_traced) {
        threads = real->GOMP_parallel_reductions(fn, data, n, flags, FURTHER_ARGUMENTS);
        NO_JUMP;
        return threads;
    }
    BEGIN(*(void **)data);
    threads = real->GOMP_parallel_reductions(run_region, &region, n, flags, 0, 0, 0, 0, 0, 0);
    end(&region, slot);
    return threads;
}

void GOMP_parallel_sections(region_function *fn, void *data, unsigned n, unsigned count,
                            unsigned flags, FURTHER_PARAMETERS)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    if (!real->is_traced) {
        real->GOMP_parallel_sections(fn, data, n, count, flags, FURTHER_ARGUMENTS);
        NO_JUMP;
        return;
    }
    BEGIN(NULL);
    real->GOMP_parallel_sections(run_sections, &region, n, count, flags, 0, 0, 0, 0, 0, 0);
    end(&region, slot);
}

#define LOOP(type, name, parameters)                                                               \
    type name(region_function *fn, void *data, unsigned n, long start, long stop, long step,       \
              long chunk, unsigned flags, FURTHER_PARAMETERS)                                      \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        if (!real->is_traced) {                                                                    \
            real->name(fn, data, n, start, stop, step, chunk, flags, FURTHER_ARGUMENTS);           \
            NO_JUMP;                                                                               \
            return;                                                                                \
        }                                                                                          \
        BEGIN(NULL);                                                                               \
        real->name(run_loop, &region, n, start, stop, step, chunk, flags, 0, 0, 0, 0, 0, 0);       \
        end(&region, slot);                                                                        \
    }
GOMP_CHUNKED_LOOPS(LOOP, )

#define RUNTIME_LOOP(type, name, parameters)                                                       \
    type name(region_function *fn, void *data, unsigned n, long start, long stop, long step,       \
              unsigned flags, FURTHER_PARAMETERS)                                                  \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        if (!real->is_traced) {                                                                    \
            real->name(fn, data, n, start, stop, step, flags, FURTHER_ARGUMENTS);                  \
            NO_JUMP;                                                                               \
            return;                                                                                \
        }                                                                                          \
        BEGIN(NULL);                                                                               \
        real->name(run_loop, &region, n, start, stop, step, flags, 0, 0, 0, 0, 0, 0);              \
        end(&region, slot);                                                                        \
    }
GOMP_RUNTIME_LOOPS(RUNTIME_LOOP, )

/* -------- gcc before 4.9 --------
 *
 * The caller runs the region's function itself, between the start and GOMP_parallel_end, so the
 * record is on the heap. The master has no frame of run_region: its link stands for the caller's
 * frame. Without memory the region is passed on as it is. */

struct old_region {
    struct gomp_region region;
    struct body_link link;
};

static struct gomp_region *begin_old(struct creation_context caller, region_function *function,
                                     void *data)
{
    struct old_region *old = malloc(sizeof *old);
    struct agent_slot *slot = slot_mine();
    if (!old)
        return NULL;
    begin(&old->region, slot, function, data, NULL);
    old->region.common.context.pc = caller.pc;
    old->region.common.context.sp = caller.sp;
    old->region.common.context.bp = caller.bp;
    old->link = (struct body_link){.up = slot->gomp.link,
                                   .context = &old->region.common.context,
                                   .sp = caller.sp,
                                   .is_inline = true,
                                   .region = &old->region.common};
    link_publish(&slot->gomp, &old->link);
    return &old->region;
}

#define OLD_REGION(name, parameters, ...)                                                          \
    void name parameters                                                                           \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        const struct creation_context caller = {                                                   \
            .pc = CALLER_PC, .sp = CALLER_SP, .bp = CALLER_BP};                                    \
        struct gomp_region *region = real->is_traced ? begin_old(caller, fn, data) : NULL;         \
        if (region && real->is_observed)                                                           \
            region->observed = task_events->region_begins(fn, (const void *)caller.pc);            \
        if (region) {                                                                              \
            fn = run_region;                                                                       \
            data = region;                                                                         \
        }                                                                                          \
        real->name(fn, data, __VA_ARGS__);                                                         \
        if (region)                                                                                \
            slot_set_state(slot_mine(), AGENT_SLOT_WORKING);                                       \
        if (region && region->observed)                                                            \
            task_events->member_begins(region->observed);                                          \
    }
OLD_REGION(GOMP_parallel_start, (region_function * fn, void *data, unsigned n), n)
OLD_REGION(GOMP_parallel_sections_start,
           (region_function * fn, void *data, unsigned n, unsigned count), n, count)

#define OLD_LOOP(name)                                                                             \
    OLD_REGION(name,                                                                               \
               (region_function * fn, void *data, unsigned n, long start, long stop, long step,    \
                long chunk),                                                                       \
               n, start, stop, step, chunk)
OLD_LOOP(GOMP_parallel_loop_static_start)
OLD_LOOP(GOMP_parallel_loop_dynamic_start)
OLD_LOOP(GOMP_parallel_loop_guided_start)
OLD_REGION(GOMP_parallel_loop_runtime_start,
           (region_function * fn, void *data, unsigned n, long start, long stop, long step), n,
           start, stop, step)

void GOMP_parallel_end(void)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    struct agent_slot *slot = slot_mine();
    struct body_link *link = slot->gomp.link;
    struct old_region *old = NULL;
    if (link && link->is_inline && link->sp == (uint64_t)CALLER_SP)
        old = (struct old_region *)((char *)link - offsetof(struct old_region, link));
    if (old && old->region.observed)
        task_events->member_ended();
    slot_set_state(slot, AGENT_SLOT_BARRIER);
    real->GOMP_parallel_end();
    slot_set_state(slot, AGENT_SLOT_WORKING);
    if (!old)
        return;
    link_withdraw(&slot->gomp, link);
    if (link->record)
        record_end(&slot->gomp, link->record);
    end(&old->region, slot);
    free(old);
}
