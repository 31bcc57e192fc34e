/* A simulated Cilk-5.4.6: functions with its names, structures with its layout, and a host for the
 * agent, which lets thieves act between two reads and makes memory unreadable. */
#ifndef TESTS_UNIT_AGENTS_SIMULATED_CILK5_H
#define TESTS_UNIT_AGENTS_SIMULATED_CILK5_H

#include "tests/unit/agents/recording_host.h"

#include "runtime-patches/cilk5/description.h"

#include <sys/auxv.h>

void Cilk_scheduler(void);
void Cilk_child_main(void);
void invoke_main_slow(void);
void cilk_main(void);
void Cilk_wakeup_workers(void);
void mt_cilk_main(void);
void _cilk_cilk_main_import(void);
void _cilk_other_import(void); /* its procedure is in it */

/* The object that the patch adds; initially of an unknown version. */
extern struct hpctoolkit_cilk5 hpctoolkit_cilk5;

/* ---- the runtime's structures ---- */

#define WORKERS 3

enum { RUNNING = 42, SUSPENDED, RETURNING, READY };

struct procedure {
    uint64_t other[2], slow;
};

struct frame {
    uint64_t entry, receiver, signature;
};

struct closure {
    uint8_t mutex[40];
    uint32_t join_counter, status;
    uint64_t other[4], parent, frame, abort, cache, site, more[11];
};

struct deque {
    uint8_t mutex[40];
    uint64_t top, bottom;
    uint8_t pad[64];
};

struct worker {
    uint64_t head, tail, exception, stack;
    uint8_t pad[64];
    uint32_t self;
    uint8_t other[276];
    uint64_t context;
};

struct parameters {
    uint64_t other[4];
    uint32_t workers, more[5];
    uint64_t deques;
};

#define CLOSURES 6

/* Closure 0 belongs to the root, closure 1 to cilk_main; each is the parent of the next. */
extern struct image {
    struct {
        uint64_t parameters, state;
    } context;
    struct parameters parameters;
    struct deque deques[WORKERS];
    struct worker workers[WORKERS];
    uint64_t stacks[WORKERS][8];
    struct closure closures[CLOSURES];
    struct frame frames[CLOSURES];
    struct procedure procedures[CLOSURES];
} image;

/* The procedures' code, 16 bytes each. */
extern char user_code[CLOSURES * 16];

static inline uint64_t address(const void *object)
{
    return (uint64_t)object;
}

/* Worker `self` runs closure `bottom` on the stack that closure `base` began. */
void set_worker(unsigned self, unsigned base, unsigned bottom);

/* ---- paths ---- */

#define SCHEDULER (address((void *)Cilk_scheduler) + 1)
#define CHILD     (address((void *)Cilk_child_main) + 1)
#define ROOT      (address((void *)invoke_main_slow) + 1)
#define WAKEUP    (address((void *)Cilk_wakeup_workers) + 1)
#define ENTRY     (address((void *)mt_cilk_main) + 1)
#define IMPORT    (address((void *)_cilk_cilk_main_import) + 1)
#define RUNTIME   (address((void *)set_path) + 1) /* another function of the runtime's module */
#define USER      0x1000                          /* no module's */
#define LIBC      0x2000
#define LINKER    (getauxval(AT_BASE) + 1)

/* Frames from the outermost inwards; 0 ends them. */
void set_path(const uint64_t *pcs);

/* ---- threads that wait ---- */

#define WAITING_THREADS 3
#define WAITING_THREAD  700 /* agent_slot.thread of the first */
#define CALLERS_BP      0x5000

/* A thread is in a wrapper of hpcrun that was called at `pc`, in this state. Its frames outside of that are
 * at `pcs`, innermost first; 0 ends them. One thread's frames are known: the last one's. */
void set_waiting(unsigned thread, enum agent_slot_state state, uint64_t pc, const uint64_t *pcs);

/* ---- the agent in it ---- */

/* The number of reads so far; the number of the read that fails, and of the one before which a
 * thief acts. */
extern unsigned reads, unreadable_read, thief_at;
extern void (*thief)(void);

/* For ALL_TESTS: the agent must recognize this program as the runtime's library. */
int recognize_runtime(void **state);

/* The addresses of this program, as if it were a library. */
struct agent_module this_module(void);

/* All workers are idle, though their paths have a slow clone; thread number WORKERS is no
 * worker. */
int set_up(void **state);

struct agent_cursor cursor_of(unsigned thread);
enum agent_thread_status class_of(unsigned thread);
struct agent_worker_counts counts_in(unsigned thread);

/* Restarts the thread. */
void begin_thread(unsigned thread, struct agent_start_routine origin);
void end_thread(unsigned thread);

#endif
