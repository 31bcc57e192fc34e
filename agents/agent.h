/* The interface between hpcrun and its agents. This header is all that an agent needs. It includes
 * agent-notes.h (frames and names), agent-slots.h (states of threads) and agent-events.h (work and span).
 *
 * WHAT AN AGENT IS. A plug-in that knows one parallel runtime or interpreter. At every sample
 * hpcrun unwinds the thread's stack. Where the runtime's code stands between the user's functions,
 * the agent says which call path the programmer would recognize. Example: a Cilk worker has stolen
 * the rest of fib(8), whose callers are in heap frames, not on the worker's stack:
 *
 *     the stack                   fib(7)  fib(8)  scheduler_loop  thread_start
 *     the agent's answer          fib(7)  fib(8)  fib(9)  main
 *
 * TERMS, from Tallent and Mellor-Crummey, PPoPP 2009, sections 3 and 4:
 *
 *     p-note      a frame of the physical call path, the one on the stack
 *     l-note      a frame of the logical call path, the one that the programmer wrote
 *     bichord     some consecutive p-notes and the l-notes that replace them
 *     association how many p-notes and l-notes a bichord has, see the next table
 *     claim       a range of code addresses for which hpcrun asks the agent. Frames elsewhere are
 *                 native: one p-note, one identical l-note
 *     leaf        the innermost frame; in all tables below "next" means the next frame outwards
 *
 *     association  p-notes  l-notes  example
 *     AGENT_NATIVE    1        1     native code after all: the frame is in no bichord of the agent
 *     AGENT_1_1       1        1     code that stands for other code, e.g. a trampoline
 *     AGENT_1_0       1        0     a scheduler function; the user did not write it
 *     AGENT_M_0     many       0     all frames from the scheduler's to the thread's start
 *     AGENT_M_1     many       1     an interpreter's C frames for one procedure
 *     AGENT_1_M       1      many    the scheduler frame below a stolen procedure: the procedure's
 *                                    ancestors, read from the heap
 *
 * ENTRY POINTS (struct agent).
 *
 *     function        called when                                          context   may be NULL
 *     start           once, after hpcrun has opened the agent              normal    no
 *     module_added    for each module in the process, then for new ones    normal    yes
 *     module_removed  after a module was unloaded                          normal    yes
 *     thread_begin    in each new thread; initial thread: before main      normal *  yes
 *     thread_end      in each thread that ends                             normal *  yes
 *     unwind_begin    first at a sample: what is this thread doing?        handler   no
 *     worker_counts   second: how many workers are there, how many work?   handler   yes
 *     step_bichord    for each claimed frame, from the leaf outwards       handler   no
 *     step_pnote      after AGENT_M_0 or AGENT_M_1: is the next frame in?  handler   yes
 *     step_lnote      after AGENT_1_1, M_1 or 1_M: the next l-note?        handler   yes
 *
 *     context    rules
 *     normal     one call at a time, locks and malloc are allowed. * also: signals are blocked. The
 *                module of module_added may be unloaded in the meantime: common/loaded-modules.h has
 *                what keeps it
 *     handler    runs in the sampling signal handler, between any two instructions of the program
 *                and of the runtime. No libc, no locks, no thread-local storage, no writes to
 *                static data but atomic ones, and only those functions of the host that are marked
 *                "handler". The runtime's memory is read through host->read only, since it may be
 *                unmapped. It may also be half changed: an agent must answer correctly in every
 *                such window, or answer AGENT_1_0
 *
 * ONE UNWIND, step by step:
 *
 *     1. hpcrun unwinds the physical path and clears cursor.state.
 *     2. unwind_begin(cursor) returns the thread's status. It may leave in cursor.state what the
 *        later steps need, e.g. the address of the thread's worker.
 *     3. worker_counts(cursor), unless the status is AGENT_FOREIGN. It must not change the state.
 *     4. hpcrun walks the path from the leaf outwards. For each frame that the agent has claimed:
 *        a. association = step_bichord(cursor, frame)
 *        b. AGENT_M_0, AGENT_M_1: step_pnote(cursor, next frame) until it returns false; each frame
 *           with true joins the bichord.
 *        c. AGENT_1_1, AGENT_M_1, AGENT_1_M: step_lnote(cursor, note) until it returns false; each
 *           note is one l-note, innermost first.
 *        d. cursor.include_callees or include_libc: unclaimed frames inside this one join, too.
 *           cursor.replaces_callers: the walk ends, all frames outside of this bichord are one M-0.
 *     5. hpcrun enters the l-notes into the thread's calling context tree.
 *
 *     As in libunwind, a step gives one item or says that there are no more. So an agent never
 *     looks ahead: it keeps its position in cursor.state.
 *
 * FILES. An agent is a shared object, linked with -z now, that exports the symbol `hpcrun_agent`;
 * its rules file lies next to it:
 *
 *     NAME.so      the agent
 *     NAME.rules   lines "key value"; the first is "agent NAME VERSION". At least one line must say
 *                  how hpcrun recognizes the runtime. hpcprof/runtime/rules.h describes all keys
 *
 *     key value                 the process uses the runtime if
 *     runtime-note OWNER        a module has an ELF note of this owner
 *     runtime-module NAME       a module's base name is NAME, or begins with "NAME."; a star at the end of
 *                               NAME stands for anything
 *     runtime-symbol NAME       the main program, not stripped, has this symbol: the runtime may be
 *                               linked into it
 *     runtime-threads any       the process creates a thread that is no runtime's. Only for the
 *                               agent for plain threads, which is a part of hpcrun
 *
 *     runtime-preload yes       the launcher preloads the agent, because it interposes functions
 *
 *     key value                 hpcprof
 *     clone PREFIX*SUFFIX       shows a procedure of such a name as the procedure that the star
 *                               stands for, of the same file and line
 *     overhead PATTERN [KIND]   counts time in such a procedure, also where it is inlined, as
 *                               overhead of this kind (spawn, sync, ...). A star in PATTERN stands
 *                               for any text. The rule applies to all modules of the process, so
 *                               PATTERN must not match the user's procedures
 *
 * EXAMPLE, complete: an interpreter `calc`. Each call of a calc procedure is one call of the C
 * function calc_run, which keeps the procedure's code address at rbp - 24. Helper functions between
 * these calls are hidden.
 *
 *     static const struct agent_host *host;
 *     static uint64_t run_start, run_end;
 *
 *     static bool start(const struct agent_host *h) { host = h; return true; }
 *
 *     static void module_added(const struct agent_module *m)
 *     {
 *         if (!m->note)                             // the note has offsets of the runtime's code:
 *             return;
 *         const int64_t *offset = m->note;          // calc_run, its end, the end of the helpers
 *         uint64_t base = m->note_address;
 *         run_start = base + offset[0], run_end = base + offset[1];
 *         host->claim(&hpcrun_agent, &(struct agent_claim){run_start, base + offset[2], 0}, 1);
 *     }
 *
 *     struct state { uint64_t code; };              // of the next l-note; 0: there is none
 *
 *     static enum agent_thread_status unwind_begin(struct agent_cursor *c)
 *     {
 *         return AGENT_FOREIGN;                     // a serial interpreter has no workers
 *     }
 *
 *     static enum agent_association step_bichord(struct agent_cursor *c,
 *                                                const struct agent_frame *f)
 *     {
 *         struct state *state = c->state;
 *         bool is_run = f->pc >= run_start && f->pc < run_end;
 *         state->code = is_run ? agent_u64(host, c, f->bp - 24) : 0;
 *         return state->code ? AGENT_1_1 : AGENT_1_0;
 *     }
 *
 *     static bool step_lnote(struct agent_cursor *c, struct agent_lnote *note)
 *     {
 *         struct state *state = c->state;
 *         *note = (struct agent_lnote){.space = AGENT_CODE, .value = state->code};
 *         state->code = 0;                          // so the second call says: no more l-notes
 *         return note->value != 0;
 *     }
 *
 *     const struct agent hpcrun_agent = {
 *         .interface = AGENT_INTERFACE, .name = "calc", .version = "1.0",
 *         .state_bytes = sizeof(struct state), .start = start,
 *         .module_added = module_added, .unwind_begin = unwind_begin,
 *         .step_bichord = step_bichord, .step_lnote = step_lnote };
 */
#ifndef AGENTS_AGENT_H
#define AGENTS_AGENT_H

#include "agents/agent-events.h"
#include "agents/agent-notes.h"
#include "agents/agent-slots.h"
#include "agents/held-locks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The interface was not released yet, so it may still change without becoming 2. */
#define AGENT_INTERFACE             1
#define AGENT_MAX_STATE_BYTES       128
#define AGENT_MAX_THREAD_DATA_BYTES 65536

/* Numbered as in lib/measurement-format.h, but for the last one. */
enum agent_association { AGENT_1_1, AGENT_1_0, AGENT_M_0, AGENT_M_1, AGENT_1_M, AGENT_NATIVE };

/* What a thread is to the runtime at the instant of the sample, and what the sample is charged. */
enum agent_thread_status {
    AGENT_FOREIGN,       /* not a thread of the runtime: work, no idleness, no incomplete time */
    AGENT_WORKING,       /* a worker that executes user code: work, and its share of idleness */
    AGENT_IDLE,          /* a worker without user code: nothing */
    AGENT_RUNTIME_OWNED, /* a thread that the runtime uses for itself: nothing */
    AGENT_WAITING,       /* a worker that waits in a call of the program: waiting, at its path */
};

/* A loaded module. */
struct agent_module {
    uint64_t start, end; /* address range of its mapping */
    uint64_t bias;       /* run-time address - ELF virtual address */
    const char *path;    /* "" for the main program */
    const void *note;    /* a copy of the data of the ELF note that a runtime-note rule names; NULL:
                            there is none */
    size_t note_bytes;
    uint64_t note_address; /* of that data, in the module */
};

/* A claimed range of code. */
struct agent_claim {
    uint64_t start, end;
    uint32_t tag; /* the agent's own, returned by find_claim */
};

struct agent_worker_counts {
    uint32_t workers; /* of the runtime in this process; 0: not known yet */
    uint32_t working; /* workers that execute user code at this instant */
};

/* What pthread_create or thrd_create was given; zeros for the initial thread. */
struct agent_start_routine {
    uint64_t function, argument;
};

/* The position of one unwind. hpcrun sets all fields but the last five. */
struct agent_cursor {
    void *thread_data; /* the agent's memory for this thread: thread_data_bytes, initially zero */
    void *state; /* the agent's memory for this unwind: state_bytes, zero when the unwind begins */
    int tid;
    uint64_t stack_low, stack_high; /* bounds of the thread's own stack; equal if unknown */
    struct agent_frame leaf;        /* innermost frame of the physical path */
    void *host_private;             /* not for agents */

    /* step_bichord may set one of these; both are false before it. The frames inside this one, up
     * to the previous bichord or to the leaf, then join this bichord, as far as they are unclaimed
     * and no signal handlers of the program. The association becomes AGENT_M_0, so step_bichord
     * must return that or AGENT_1_0. */
    bool include_callees; /* all these frames: for functions that never call user code */
    bool include_libc;    /* only consecutive frames of libc next to this one: for functions that
                             may also call user code, e.g. a hook or a reduction */

    /* step_bichord may set this with AGENT_1_M; false before it. The l-notes go on to the outermost
     * caller, so what the stack has outside of this frame, as the thread's start, is hidden. */
    bool replaces_callers;

    /* What read_ahead has set at this sample, for the other handler functions. */
    uint64_t hint;

    /* step_bichord may set this with AGENT_1_M; false before it. The frame is that of the innermost l-note,
     * e.g. an interpreter's loop, whose pc changes while the procedures around do not. Else it is that
     * of the outermost one. */
    bool is_innermost;

    /* step_bichord and step_lnote may set this; 0 before step_bichord. If the l-notes go on to where a
     * thread began: agent_slot.thread of that thread, as it was when the frames were there. hpcprof
     * then shows the path where that thread hangs. 0: unknown. Where the frames themselves lead to
     * the stack of another thread, hpcrun finds it. */
    uint64_t owner;
};

struct agent;

/* Services of hpcrun. */
struct agent_host {
    /* NULL, unless the user wants work and span: the agent then has its runtime call these. */
    const struct agent_dag *dag;
    const struct agent_tasks *tasks;

    /* The process is measured from another one, in which the agent runs. Modules can be read directly, at their
     * addresses there; of their data, what their files have. */
    bool is_elsewhere;

    /* Handler, if is_elsewhere. Whether `read` has had at this sample all that it was asked for: the process runs on,
     * so it has the words that read_ahead has read at the instant of the sample, and those of the stack. */
    bool (*is_caught)(const struct agent_cursor *cursor);

    /* Normal context. Claims `count` ranges in any order (fastest: ascending); handlers see all of
     * them or none. Unloading a module ends the claims in it. False, with nothing claimed: no
     * memory, or a range overlaps an existing claim. */
    bool (*claim)(const struct agent *agent, const struct agent_claim *claims, size_t count);

    /* Any context. The agent's claim around `pc`; false: there is none. */
    bool (*find_claim)(const struct agent *agent, uint64_t pc, struct agent_claim *found);

    /* Any context. Whether some agent has claimed `pc`. */
    bool (*is_claimed)(uint64_t pc);

    /* Normal context. Writes a line, given without newline, to hpcrun.log. */
    void (*log)(const char *line);

    /* Normal context. Says that the agent cannot serve this process; `why` is a constant such as
     * "the runtime was stripped", or NULL to withdraw the refusal. hpcrun prints the reason and
     * records it in the measurements; call paths are then native. */
    void (*refuse)(const struct agent *agent, const char *why);

    /* Normal context. Says what of the runtime the agent does not serve, without newline; the rest is served. */
    void (*warn)(const struct agent *agent, const char *what);

    /* Normal context. The process has this lock, the only one of its kind; NULL: not any more. It stays
     * where it is. */
    void (*set_lock)(const struct agent *agent, const struct agent_lock *lock);

    /* Handler. Copies memory that may be unmapped; false: some byte cannot be read. Fastest: aligned words,
     * one or several in a row. */
    bool (*read)(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size);

    /* Handler, in read_ahead. The agent is about to read at these addresses: to read them at once takes less time. What
     * it has read before only was to know them: it reads that again if the handler functions do. */
    void (*expect)(const struct agent_cursor *cursor, const uint64_t *addresses, unsigned count);

    /* Handler. Frame i of the physical path, 0 being the outermost; false: the path is shorter. */
    bool (*path_frame)(const struct agent_cursor *cursor, uint32_t i, struct agent_frame *frame);

    const struct agent_slots *slots;

    /* Handler, in step_bichord. The frame that the frame in question has called; false: none, or a
     * signal handler, or hpcrun itself. */
    bool (*callee)(const struct agent_cursor *cursor, struct agent_frame *frame);

    /* Handler. The address at which the function begins that contains pc; 0: unknown. The parts of a
     * function that the compiler has split are functions of their own. */
    uint64_t (*function)(const struct agent_cursor *cursor, uint64_t pc);

    /* Handler. The end of a frame on the stack, where its caller's begins; 0: unknown. */
    uint64_t (*frame_end)(const struct agent_cursor *cursor, const struct agent_frame *frame);

    /* Handler. The value of an l-note in space AGENT_NAMES; 0: no memory, or it cannot be read. Costs some
     * 50 ns for a known name: agents may keep it, for the life of the process and its forks. */
    uint64_t (*name)(const struct agent_cursor *cursor, const struct agent_name *name);

    /* Handler. Sets the name that the program has given the thread. It is shown instead of the system's. */
    void (*name_thread)(const struct agent_cursor *cursor, const struct agent_text *text);

    /* Handler. Replaces a frame, of any stack that is not running, by its caller; false: it is the
     * outermost, or has no simple unwind rule. */
    bool (*step)(const struct agent_cursor *cursor, struct agent_frame *frame);

    /* Handler. The thread on whose stack an address is, for agent_cursor.owner; 0: none that hpcrun
     * knows, e.g. on a stack that a runtime has made for its own. */
    uint64_t (*stack_owner)(const struct agent_cursor *cursor, uint64_t address);
};

/* Handler. A field of the runtime's memory, of 8, 4 or 2 bytes; 0 if it cannot be read. */
static inline uint64_t agent_u64(const struct agent_host *host, const struct agent_cursor *cursor,
                                 uint64_t address)
{
    uint64_t value;
    return host->read(cursor, address, &value, sizeof value) ? value : 0;
}

static inline uint32_t agent_u32(const struct agent_host *host, const struct agent_cursor *cursor,
                                 uint64_t address)
{
    uint32_t value;
    return host->read(cursor, address, &value, sizeof value) ? value : 0;
}

static inline uint16_t agent_u16(const struct agent_host *host, const struct agent_cursor *cursor,
                                 uint64_t address)
{
    uint16_t value;
    return host->read(cursor, address, &value, sizeof value) ? value : 0;
}

struct agent {
    uint32_t interface; /* AGENT_INTERFACE; another one than hpcrun's is refused before `start` */
    const char *name, *version;
    size_t thread_data_bytes; /* per thread, at most AGENT_MAX_THREAD_DATA_BYTES */
    size_t state_bytes;       /* of a cursor, at most AGENT_MAX_STATE_BYTES */

    /* True promises: the handler functions return the same as at the last sample if they would read
     * the same through the host (read, path_frame, step), are passed the same frames and state, and
     * no normal-context function ran between. hpcrun then compares these inputs and reuses the last
     * answers instead of asking. Such an agent may not use a clock, nor `leaf` in unwind_begin. */
    bool deterministic;

    /* True promises: slots say which threads are its runtime's (agent_slot.runtimes, .pool). */
    bool marks_threads;

    /* The agent for plain threads: it is asked if all other agents mark theirs. */
    bool is_for_threads;

    /* Threads that begin in claimed code are plain ones: the agent is for an interpreter. */
    bool has_plain_threads;

    /* Normal context, see the table above. */
    bool (*start)(const struct agent_host *host); /* false: the agent cannot serve */
    void (*module_added)(const struct agent_module *module);
    void (*module_removed)(const struct agent_module *module);
    /* Threads that began before the agent was opened are not announced: their data is zero. */
    void (*thread_begin)(void *thread_data, int tid, struct agent_start_routine routine);
    void (*thread_end)(void *thread_data);

    /* Handler, see the steps above. */
    enum agent_thread_status (*unwind_begin)(struct agent_cursor *cursor);
    struct agent_worker_counts (*worker_counts)(struct agent_cursor *cursor);
    enum agent_association (*step_bichord)(struct agent_cursor *cursor,
                                           const struct agent_frame *frame);
    bool (*step_pnote)(struct agent_cursor *cursor, const struct agent_frame *frame);
    bool (*step_lnote)(struct agent_cursor *cursor, struct agent_lnote *note);

    /* For processes that are measured from another one; NULL: the agent does not serve them.
     *
     * share: normal context. Copies what read_ahead must know of the process; returns the number of bytes, 0 if
     * there is nothing to read. read_ahead: in a process that knows nothing of the measured one but that, while
     * the sampled thread is off the CPU. Reads through the host what the handler functions may read at this
     * sample. It must be short. The host has read, expect, name, name_thread and is_caught. */
    size_t (*share)(void *to, size_t room);
    void (*read_ahead)(struct agent_cursor *cursor, const void *shared);
};

/* Each agent defines this. */
extern const struct agent hpcrun_agent __attribute__((visibility("default")));

/* The agent for plain threads, a part of libhpcrun.so. */
extern const struct agent agent_for_threads;

#endif
