/* The part of OMPT, the tools interface of OpenMP 5, that the agent uses. The names and numbers are
 * those of the standard; a compiler's omp-tools.h has all of them. */
#ifndef AGENTS_OPENMP_OMPT_H
#define AGENTS_OPENMP_OMPT_H

#include <stdint.h>

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;

typedef struct {
    ompt_data_t exit_frame, enter_frame; /* frames of the runtime around a task's user frames */
    int exit_frame_flags, enter_frame_flags;
} ompt_frame_t;

typedef void (*ompt_callback_t)(void);
typedef ompt_callback_t (*ompt_function_lookup_t)(const char *name);
typedef int (*ompt_set_callback_t)(int which, ompt_callback_t callback);

typedef struct {
    int (*initialize)(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data);
    void (*finalize)(ompt_data_t *tool_data);
    ompt_data_t tool_data;
} ompt_start_tool_result_t;

/* Numbers of callbacks. */
enum {
    ompt_callback_thread_begin = 1,
    ompt_callback_thread_end = 2,
    ompt_callback_parallel_begin = 3,
    ompt_callback_parallel_end = 4,
    ompt_callback_task_create = 5,
    ompt_callback_task_schedule = 6,
    ompt_callback_implicit_task = 7,
    ompt_callback_sync_region_wait = 16,
    ompt_callback_mutex_released = 17,
    ompt_callback_dependences = 18,
    ompt_callback_sync_region = 23,
    ompt_callback_mutex_acquire = 26,
    ompt_callback_mutex_acquired = 27,
    ompt_callback_nest_lock = 28,
};

enum { ompt_set_always = 5 };
enum { ompt_scope_begin = 1, ompt_scope_end = 2 };
enum {
    ompt_mutex_test_lock = 2,
    ompt_mutex_test_nest_lock = 4,
    ompt_mutex_critical = 5,
    ompt_mutex_atomic = 6,
    ompt_mutex_ordered = 7,
};
enum { ompt_thread_worker = 2 };

enum {
    ompt_task_initial = 1,
    ompt_task_explicit = 4,
    ompt_task_undeferred = 0x08000000,
    ompt_task_untied = 0x10000000,
    ompt_task_final = 0x20000000,
};

enum { ompt_parallel_league = 0x40000000 };

/* Flags of frames. */
enum { ompt_frame_application = 1 };

enum {
    ompt_sync_region_barrier = 1,
    ompt_sync_region_barrier_implicit = 2,
    ompt_sync_region_barrier_explicit = 3,
    ompt_sync_region_barrier_implementation = 4,
    ompt_sync_region_taskwait = 5,
    ompt_sync_region_taskgroup = 6,
    ompt_sync_region_barrier_implicit_workshare = 8,
    ompt_sync_region_barrier_implicit_parallel = 9,
};

/* An element of a dependence of tasks or of iterations (doacross). */
typedef struct {
    ompt_data_t variable;
    int type;
} ompt_dependence_t;

enum { ompt_dependence_type_source = 5, ompt_dependence_type_sink = 6 };

enum {
    ompt_task_complete = 1,
    ompt_task_cancel = 3,
    ompt_task_detach = 4,
    ompt_task_early_fulfill = 5,
    ompt_task_late_fulfill = 6,
    ompt_taskwait_complete = 8,
};

#endif
