/* For programs that look at what hpcrun's agents know of their threads while hpcrun runs them. */
#ifndef TESTS_AGENT_STATES_H
#define TESTS_AGENT_STATES_H

#include "agents/common/ready-tasks.c"
#include "agents/common/thread-slots.c"

#include <string.h>

/* hpcrun's, if that runs the program. */
extern struct agent_slots hpctoolkit_thread_slots __attribute__((weak));

/* The runtime of the compiler. */
#ifdef __clang__
#define RUNTIME RUNTIME_OMPT
#else
#define RUNTIME RUNTIME_GOMP
#endif

static bool read_here(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    (void)cursor;
    memcpy(to, (const void *)address, size);
    return true;
}

/* Threads that are about to take a task. No thread may end meanwhile: their stacks are read. */
static inline uint32_t threads_that_take_tasks(void)
{
    const struct agent_host host = {.slots = &hpctoolkit_thread_slots, .read = read_here};
    return slots_that_take_tasks(&host, NULL, RUNTIME);
}

#endif
