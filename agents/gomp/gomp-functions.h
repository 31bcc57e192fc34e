/* The functions of libgomp that the agent interposes, as it finds them in one copy of the library.
 * GOMP_FUNCTIONS lists each as F(return type, name, parameters). Their ABI has only grown: newer
 * callers pass more arguments, so those of a function are the ones of the newest known version. */
#ifndef AGENTS_GOMP_GOMP_FUNCTIONS_H
#define AGENTS_GOMP_GOMP_FUNCTIONS_H

#include "agents/common/runtime-copies.h"

#include <stdbool.h>
#include <stdint.h>

typedef void region_function(void *data);
typedef void copy_function(void *to, void *from);
typedef unsigned long long ull;

/* More words than any known version of a function takes. They are copied from the caller's stack
 * for a runtime that the agent does not know; a function that takes fewer does not see them. */
#define FURTHER_WORDS      long, long, long, long, long, long
#define FURTHER_PARAMETERS long x1, long x2, long x3, long x4, long x5, long x6
#define FURTHER_ARGUMENTS  x1, x2, x3, x4, x5, x6

/* Behind a call that must not become a jump, because it reads the function's frame or has FURTHER_ARGUMENTS:
 * before a jump, the compiler stores these where it read them. There the caller may have variables, which
 * other threads may write. */
#define NO_JUMP __asm__ volatile("")

#define REGION_WORDS region_function *, void *, unsigned
#define TASK_WORDS                                                                                 \
    region_function *, void *, copy_function *, long, long, bool, unsigned, void **, int, void *
#define TASKLOOP_WORDS(type)                                                                       \
    region_function *, void *, copy_function *, long, long, unsigned, unsigned long, int, type,    \
        type, type

/* Functions that begin a parallel region and end it. */
#define GOMP_REGIONS(F)                                                                            \
    F(void, GOMP_parallel, (REGION_WORDS, unsigned, FURTHER_WORDS))                                \
    F(unsigned, GOMP_parallel_reductions, (REGION_WORDS, unsigned, FURTHER_WORDS))                 \
    F(void, GOMP_parallel_sections, (REGION_WORDS, unsigned, unsigned, FURTHER_WORDS))             \
    GOMP_CHUNKED_LOOPS(F, LOOP_TYPE)                                                               \
    GOMP_RUNTIME_LOOPS(F, RUNTIME_LOOP_TYPE)

#define LOOP_TYPE         (REGION_WORDS, long, long, long, long, unsigned, FURTHER_WORDS)
#define RUNTIME_LOOP_TYPE (REGION_WORDS, long, long, long, unsigned, FURTHER_WORDS)

#define GOMP_CHUNKED_LOOPS(F, type)                                                                \
    F(void, GOMP_parallel_loop_static, type)                                                       \
    F(void, GOMP_parallel_loop_dynamic, type)                                                      \
    F(void, GOMP_parallel_loop_guided, type)                                                       \
    F(void, GOMP_parallel_loop_nonmonotonic_dynamic, type)                                         \
    F(void, GOMP_parallel_loop_nonmonotonic_guided, type)

#define GOMP_RUNTIME_LOOPS(F, type)                                                                \
    F(void, GOMP_parallel_loop_runtime, type)                                                      \
    F(void, GOMP_parallel_loop_nonmonotonic_runtime, type)                                         \
    F(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, type)

/* The same of gcc before 4.9, which calls the region's function itself. */
#define GOMP_OLD_REGIONS(F)                                                                        \
    F(void, GOMP_parallel_start, (REGION_WORDS))                                                   \
    F(void, GOMP_parallel_sections_start, (REGION_WORDS, unsigned))                                \
    F(void, GOMP_parallel_loop_static_start, (REGION_WORDS, long, long, long, long))               \
    F(void, GOMP_parallel_loop_dynamic_start, (REGION_WORDS, long, long, long, long))              \
    F(void, GOMP_parallel_loop_guided_start, (REGION_WORDS, long, long, long, long))               \
    F(void, GOMP_parallel_loop_runtime_start, (REGION_WORDS, long, long, long))                    \
    F(void, GOMP_parallel_end, (void))

#define GOMP_TASKS(F)                                                                              \
    F(void, GOMP_task, (TASK_WORDS))                                                               \
    F(void, GOMP_taskloop, (TASKLOOP_WORDS(long), FURTHER_WORDS))                                  \
    F(void, GOMP_taskloop_ull, (TASKLOOP_WORDS(ull), FURTHER_WORDS))                               \
    F(void, GOMP_taskgroup_start, (void))                                                          \
    F(bool, GOMP_cancel, (int, bool))

/* Functions in which a thread waits: for its team, for tasks, for its turn. */
#define GOMP_TEAM_WAITS(F)                                                                         \
    F(void, GOMP_barrier, (void))                                                                  \
    F(void, GOMP_loop_end, (void))                                                                 \
    F(void, GOMP_sections_end, (void))
#define GOMP_TASK_WAITS(F)                                                                         \
    F(void, GOMP_taskwait, (void))                                                                 \
    F(void, GOMP_taskgroup_end, (void))
#define GOMP_TURN_WAITS(F)                                                                         \
    F(void, GOMP_ordered_start, (void))

/* For its team; whether that was cancelled. */
#define GOMP_BOOL_WAITS(F)                                                                         \
    F(bool, GOMP_barrier_cancel, (void))                                                           \
    F(bool, GOMP_loop_end_cancel, (void))                                                          \
    F(bool, GOMP_sections_end_cancel, (void))

/* They wait for their turn if an iteration skipped its ordered block. */
#define GOMP_ORDERED_LOOPS(F)                                                                      \
    F(bool, GOMP_loop_ordered_static_next, (void *, void *))                                       \
    F(bool, GOMP_loop_ordered_dynamic_next, (void *, void *))                                      \
    F(bool, GOMP_loop_ordered_guided_next, (void *, void *))                                       \
    F(bool, GOMP_loop_ordered_runtime_next, (void *, void *))                                      \
    F(bool, GOMP_loop_ull_ordered_static_next, (void *, void *))                                   \
    F(bool, GOMP_loop_ull_ordered_dynamic_next, (void *, void *))                                  \
    F(bool, GOMP_loop_ull_ordered_guided_next, (void *, void *))                                   \
    F(bool, GOMP_loop_ull_ordered_runtime_next, (void *, void *))

/* Variadic, one value for each dimension; twelve are passed on. */
#define DOACROSS_WORDS long, long, long, long, long, long, long, long, long, long, long, long
#define GOMP_DOACROSS(F)                                                                           \
    F(void, GOMP_doacross_wait, (DOACROSS_WORDS))                                                  \
    F(void, GOMP_doacross_ull_wait, (DOACROSS_WORDS))

#define GOMP_OTHER_WAITS(F)                                                                        \
    F(void *, GOMP_single_copy_start, (void))                                                      \
    F(void, GOMP_single_copy_end, (void *))                                                        \
    F(void, GOMP_taskwait_depend, (void **))                                                       \
    F(void, GOMP_workshare_task_reduction_unregister, (bool))                                      \
    F(void, GOMP_critical_start, (void))                                                           \
    F(void, GOMP_critical_end, (void))                                                             \
    F(void, GOMP_critical_name_start, (void **))                                                   \
    F(void, GOMP_critical_name_end, (void **))                                                     \
    F(void, GOMP_atomic_start, (void))                                                             \
    F(void, GOMP_atomic_end, (void))

#define GOMP_FUNCTIONS(F)                                                                          \
    GOMP_REGIONS(F)                                                                                \
    GOMP_OLD_REGIONS(F)                                                                            \
    GOMP_TASKS(F)                                                                                  \
    GOMP_TEAM_WAITS(F)                                                                             \
    GOMP_TASK_WAITS(F)                                                                             \
    GOMP_TURN_WAITS(F)                                                                             \
    GOMP_BOOL_WAITS(F)                                                                             \
    GOMP_ORDERED_LOOPS(F)                                                                          \
    GOMP_DOACROSS(F)                                                                               \
    GOMP_OTHER_WAITS(F)

/* Locks: two versions of each, for omp_lock_t before and since OpenMP 3.0, as F(function that takes
 * the lock, field for it, function that takes it if it is free, version). */
#define GOMP_LOCKS(F)                                                                              \
    F(omp_set_lock, old_set_lock, omp_test_lock, "OMP_1.0")                                        \
    F(omp_set_nest_lock, old_set_nest_lock, omp_test_nest_lock, "OMP_1.0")                         \
    F(omp_set_lock_, old_set_lock_, omp_test_lock_, "OMP_1.0")                                     \
    F(omp_set_nest_lock_, old_set_nest_lock_, omp_test_nest_lock_, "OMP_1.0")                      \
    F(omp_set_lock, set_lock, omp_test_lock, "OMP_3.0")                                            \
    F(omp_set_nest_lock, set_nest_lock, omp_test_nest_lock, "OMP_3.0")                             \
    F(omp_set_lock_, set_lock_, omp_test_lock_, "OMP_3.0")                                         \
    F(omp_set_nest_lock_, set_nest_lock_, omp_test_nest_lock_, "OMP_3.0")

/* The same of their release, as F(function, field for it, version). */
#define GOMP_UNLOCKS(F)                                                                            \
    F(omp_unset_lock, old_unset_lock, "OMP_1.0")                                                   \
    F(omp_unset_nest_lock, old_unset_nest_lock, "OMP_1.0")                                         \
    F(omp_unset_lock_, old_unset_lock_, "OMP_1.0")                                                 \
    F(omp_unset_nest_lock_, old_unset_nest_lock_, "OMP_1.0")                                       \
    F(omp_unset_lock, unset_lock, "OMP_3.0")                                                       \
    F(omp_unset_nest_lock, unset_nest_lock, "OMP_3.0")                                             \
    F(omp_unset_lock_, unset_lock_, "OMP_3.0")                                                     \
    F(omp_unset_nest_lock_, unset_nest_lock_, "OMP_3.0")

/* The wrappers, which programs call in place of libgomp's functions. */
#define EXPORTED                  __attribute__((visibility("default")))
#define F(type, name, parameters) EXPORTED type name parameters;
GOMP_FUNCTIONS(F)
#undef F

/* The functions of one copy of libgomp. A function that the copy lacks does nothing. */
struct gomp_functions {
    struct runtime_copy copy;
    bool is_traced; /* the agent knows its version; else calls are passed on as they are */
    const char *why_not_traced; /* NULL: it is traced */
    bool may_take_more;         /* words than those that are known; then it is not traced */
    bool is_observed;           /* its regions and tasks are reported: task-events.h */
    void **critical; /* if it is traced: the mutex of the critical section without a name */
    void **atomic;   /* the same of atomic operations that the CPU lacks */
    int (*get_max_threads)(void);
#define F(type, name, parameters) type(*name) parameters;
    GOMP_FUNCTIONS(F)
#undef F
#define F(name, field, test_name, version)                                                         \
    void (*field)(void *lock);                                                                     \
    int (*test_##field)(void *lock);
    GOMP_LOCKS(F)
#undef F
#define F(name, field, version) void (*field)(void *lock);
    GOMP_UNLOCKS(F)
#undef F
};

#endif
