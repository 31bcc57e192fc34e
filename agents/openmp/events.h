/* What libomp tells of its threads: events of OMPT. They keep in the thread's slot
 * (common/thread-slots.h) whether it works or waits, and links to the contexts of what it runs
 * (scopes.h). Normal context, in the thread of the event. */
#ifndef AGENTS_OPENMP_EVENTS_H
#define AGENTS_OPENMP_EVENTS_H

#include "agents/openmp/ompt.h"

#include <link.h>
#include <stdbool.h>

/* The events that span-events.h reports, too. */
struct ompt_events {
    void (*parallel_begin)(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                           unsigned threads, int flags, const void *caller);
    void (*parallel_end)(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *caller);
    void (*implicit_task)(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned threads,
                          unsigned number, int flags);
    void (*task_create)(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task,
                        int flags, int has_dependences, const void *caller);
    void (*task_schedule)(ompt_data_t *prior, int status, ompt_data_t *next);
    void (*sync_region_wait)(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task,
                             const void *caller);
    void (*mutex_acquire)(int kind, unsigned hint, unsigned implementation, uint64_t lock,
                          const void *caller);
    void (*mutex_acquired)(int kind, uint64_t lock, const void *caller);
    void (*nest_lock)(int endpoint, uint64_t lock, const void *caller);
    void (*thread_end)(ompt_data_t *thread);
};

extern const struct ompt_events plain_events;

/* The frames of a task; NULL: not known yet. */
const ompt_frame_t *events_frames(const ompt_data_t *task);

/* When a task is created: whether it runs in the call that creates it (if(0)). */
bool events_is_at_once(const ompt_data_t *task);

/* Whether a thread has left `prior` for good; whether the event is about a switch of tasks at all. */
bool events_is_end(int status);
bool events_is_switch(int status);

/* libomp's module has this dynamic section and load bias. */
void events_learn_libomp(const ElfW(Dyn) * dynamic, uint64_t bias);

/* What mutex_acquire says of the lock that it is about, with the address in libomp to which it returns. libomp 14 calls
 * omp_test_lock an ompt_mutex_lock, and says no more if it fails. */
int events_mutex_kind(int kind, uint64_t caller);

/* Registers for all events. False: libomp does not announce one of them. */
bool events_register(ompt_set_callback_t set_callback);

/* Any context. Whether libomp has created a thread. */
bool events_have_threads(void);

#endif
