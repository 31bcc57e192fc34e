/* A simulated scheduler of Cilk, which calls the hooks of libhpctoolkit-cilktool.so as compiled code
 * does: with its frame pointer, in the thread of the worker. Stacks move to thieves as in OpenCilk. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_CILK_H
#define TESTS_UNIT_HPCRUN_SIMULATED_CILK_H

#include "tests/unit/hpcrun/program_graph.h"

enum { SITES = 3, MAX_WORKERS = 8, MAX_FRAMES = 4096 };

/* A stack frame: what lies at a frame pointer. */
struct sim_frame {
    const void *outer, *return_address;
};

/* A random program as a compiler of Cilk sees it. A body without hooks does not spawn. */
struct body *make_root(void);

/* Executes a program after a serial strand; compares what probes return. `frames` are on the stack of
 * the caller. `rarity`: of successful steals. Returns the number of steals. */
uint64_t execute(struct body *root, uint64_t serial, struct sim_frame frames[MAX_FRAMES],
                 unsigned workers, unsigned rarity);

/* Calls a hook as code with this frame pointer, in the thread of a worker. */
void call_hook(unsigned worker, unsigned place, const void *frame, void (*hook)(void), uint64_t a,
               uint64_t b, uint64_t c, uint64_t d);

#define HOOK_OF(name) ((void (*)(void))(name))

#endif
