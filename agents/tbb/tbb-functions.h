/* The functions of oneTBB's library that this agent interposes, and what it knows of their arguments.
 *
 * They are the interface between the headers, which are compiled into programs, and libtbb: all of
 * oneTBB (libtbb.so.12) has them. X(result, name, symbol, parameters) */
#ifndef AGENTS_TBB_TBB_FUNCTIONS_H
#define AGENTS_TBB_TBB_FUNCTIONS_H

#include "agents/common/runtime-copies.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A class of the headers: tbb::detail::d1::task, or a delegate_base. The first word is the address of
 * its virtual functions. */
struct tbb_object {
    const uintptr_t *table;
};

/* Indices in the table of a task; the destructors are in front. */
enum { TASK_EXECUTE = 2, TASK_CANCEL = 3 };

/* tbb::detail::d1::wait_context, which is compiled into programs. */
struct tbb_wait {
    uint64_t traits, references; /* tasks that have not ended, and further reasons to wait */
};

/* tbb::global_control. */
struct tbb_control {
    size_t value;
    intptr_t reserved;
    int parameter;
};
enum { CONTROL_PARALLELISM = 0 }; /* global_control::max_allowed_parallelism */

#define R1(name) "_ZN3tbb6detail2r1" name

#define TBB_FUNCTIONS(X)                                                                           \
    X(void, spawn, R1("5spawnERNS0_2d14taskERNS2_18task_group_contextE"),                          \
      (struct tbb_object * task, void *group))                                                     \
    X(void, spawn_in_slot, R1("5spawnERNS0_2d14taskERNS2_18task_group_contextEt"),                 \
      (struct tbb_object * task, void *group, uint16_t slot))                                      \
    X(void, submit, R1("6submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm"),           \
      (struct tbb_object * task, void *group, void *arena, uintptr_t is_critical))                 \
    X(void, enqueue, R1("7enqueueERNS0_2d14taskEPNS2_15task_arena_baseE"),                         \
      (struct tbb_object * task, void *arena))                                                     \
    X(void, enqueue_in_group,                                                                      \
      R1("7enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE"),              \
      (struct tbb_object * task, void *group, void *arena))                                        \
    X(void, execute_and_wait,                                                                      \
      R1("16execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_"),    \
      (struct tbb_object * task, void *group, void *wait, void *waiting_group))                    \
    X(void, wait, R1("4waitERNS0_2d112wait_contextERNS2_18task_group_contextE"),                   \
      (void *wait, void *group))                                                                   \
    X(void, notify_waiters, R1("14notify_waitersEm"), (uintptr_t wait))                            \
    X(void, execute, R1("7executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE"),               \
      (void *arena, struct tbb_object *delegate))                                                  \
    X(void, wait_for_arena, R1("4waitERNS0_2d115task_arena_baseE"), (void *arena))                 \
    X(void, suspend, R1("7suspendEPFvPvPNS1_18suspend_point_typeEES2_"),                           \
      (void *callback, void *argument))                                                            \
    X(void, wait_on_address, R1("15wait_on_addressEPvRNS0_2d113delegate_baseEm"),                  \
      (void *address, void *delegate, uintptr_t context))                                          \
    X(void, wait_bounded_queue_monitor,                                                            \
      R1("26wait_bounded_queue_monitorEPNS1_18concurrent_monitorEmlRNS0_2d113delegate_baseE"),     \
      (void *monitor, size_t tag, ptrdiff_t target, void *delegate))                               \
    X(bool, finalize, R1("8finalizeERNS0_2d121task_scheduler_handleEl"),                           \
      (void *handle, intptr_t mode))                                                               \
    X(void, create_control, R1("6createERNS0_2d114global_controlE"),                               \
      (struct tbb_control * control))                                                              \
    X(void, destroy_control, R1("7destroyERNS0_2d114global_controlE"),                             \
      (struct tbb_control * control))

/* The same functions of one copy of libtbb. */
struct tbb_functions {
    struct runtime_copy copy;
#define X(result, name, symbol, parameters) result(*name) parameters;
    TBB_FUNCTIONS(X)
#undef X
    size_t (*active_value)(int parameter); /* NULL: none */
};

/* The wrappers have the names of the functions for the linker. */
#define X(result, name, symbol, parameters)                                                        \
    __attribute__((visibility("default"))) result tbb_##name parameters __asm__(symbol);
TBB_FUNCTIONS(X)
#undef X

#endif
