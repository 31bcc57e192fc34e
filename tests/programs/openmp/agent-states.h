/* For programs that look at what hpcrun's agents know of their threads while hpcrun runs them. */
#ifndef TESTS_AGENT_STATES_H
#define TESTS_AGENT_STATES_H

#include "agents/common/thread-slots.c"

/* hpcrun's, if that runs the program. */
extern struct agent_slots hpctoolkit_thread_slots __attribute__((weak));

/* The runtime of the compiler. */
#ifdef __clang__
#define RUNTIME RUNTIME_OMPT
#else
#define RUNTIME RUNTIME_GOMP
#endif

#endif
