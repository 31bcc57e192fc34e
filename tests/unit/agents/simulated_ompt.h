/* Tasks and teams as they lie in libomp, and the callbacks that agents have registered with it. */
#ifndef TESTS_UNIT_AGENTS_SIMULATED_OMPT_H
#define TESTS_UNIT_AGENTS_SIMULATED_OMPT_H

#include "tests/unit/cmocka_suite.h"

#include "agents/openmp/events.h"

/* A task's frames and data are fields of one structure. Behind that, within a page, is what the compiler
 * knows of it; the second word of that is the body. */
struct task {
    _Alignas(256) ompt_frame_t frame;
    ompt_data_t data;
    uint64_t others[8];
    const void *body;
};

static struct {
    const void *const *arguments;
    uint32_t argument_count, threads;
    const void *body, *invoke;
    ompt_data_t data;
    const void *room[2];
} team;

static const void *code_of(void (*function)(void))
{
    const void *code;
    memcpy(&code, &function, sizeof code);
    return code;
}

static void (*tell_sync_region)(int, int, ompt_data_t *, ompt_data_t *, const void *);
static void (*tell_dependences)(ompt_data_t *, const ompt_dependence_t *, int);
static void (*tell_mutex_released)(int, uint64_t, const void *);
static void (*tell_thread_begin)(int, ompt_data_t *);
static struct ompt_events tell;
static unsigned registered;

static int set_callback(int which, ompt_callback_t callback)
{
    void *const places[64] = {
        [ompt_callback_thread_begin] = &tell_thread_begin,
        [ompt_callback_thread_end] = &tell.thread_end,
        [ompt_callback_parallel_begin] = &tell.parallel_begin,
        [ompt_callback_parallel_end] = &tell.parallel_end,
        [ompt_callback_implicit_task] = &tell.implicit_task,
        [ompt_callback_task_create] = &tell.task_create,
        [ompt_callback_task_schedule] = &tell.task_schedule,
        [ompt_callback_sync_region_wait] = &tell.sync_region_wait,
        [ompt_callback_sync_region] = &tell_sync_region,
        [ompt_callback_mutex_acquire] = &tell.mutex_acquire,
        [ompt_callback_mutex_acquired] = &tell.mutex_acquired,
        [ompt_callback_mutex_released] = &tell_mutex_released,
        [ompt_callback_nest_lock] = &tell.nest_lock,
        [ompt_callback_dependences] = &tell_dependences,
    };
    registered++;
    if (places[which])
        memcpy(places[which], &callback, sizeof callback);
    return ompt_set_always;
}

#endif
