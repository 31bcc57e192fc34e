/* The interface between hpcrun and an *agent*: the plug-in that knows one parallel runtime or
 * interpreter and tells hpcrun's logical unwinder what its stack frames mean. This header is all
 * that an agent needs.
 *
 * WHAT AN AGENT DOES. At every sample hpcrun unwinds the thread's stack: the *physical* path, a
 * list of frames (p-notes). An agent claims the address ranges of its runtime's code. When the walk
 * over the path, from the innermost frame outwards, comes to a frame whose pc an agent has claimed,
 * hpcrun asks that agent for the *bichord* that begins there: a run of p-notes, and the run of
 * logical frames (l-notes) that the programmer would see in their place. Frames that nobody claims
 * are native code: one p-note, one l-note, the same. (Tallent and Mellor-Crummey, PPoPP 2009,
 * sections 3 and 4, whose names are used here.)
 *
 *     association   p-notes   l-notes   for instance
 *     AGENT_1_1        1         1      code that stands for other code
 *     AGENT_1_0        1         0      a frame of the scheduler: nobody wrote it
 *     AGENT_M_0       many       0      all frames from the scheduler's to the thread's start
 *     AGENT_M_1       many       1      an interpreter's frames for one procedure
 *     AGENT_1_M        1        many    a scheduler frame below which a stolen procedure runs: the
 *                                       procedure's ancestors, whose frames are in the heap
 *
 * CALLS. The conventions are libunwind's: a step gives one item, or says that there are no more, so
 * that an agent need not look ahead and keeps its state in the cursor that hpcrun gives it:
 *
 *     cursor.state = 0;  class = begin(&cursor);
 *     for each frame, from the innermost outwards, that the agent has claimed:
 *         association = step_bichord(&cursor, frame)
 *         AGENT_M_0, AGENT_M_1:  while (step_pnote(&cursor, next frame)) take that frame, too
 *         AGENT_1_1, M_1, 1_M:   while (step_lnote(&cursor, &note)) take the note, innermost first
 *         cursor.takes_callees:  take the frames of libraries that it has called, too
 *         cursor.takes_libc:     take the frames of libc that it has called, too
 *
 * TWO CONTEXTS. start, module_* and thread_* are called in normal context, one at a time. The
 * others run in the sampling signal handler, in any thread, between any two instructions of the
 * program and of the runtime: they call nothing but the host's functions marked "handler", use no
 * thread-local storage, no libc, no locks and no static data that they change without atomics, and
 * read the runtime's memory through host->read only. What they find there may be half changed: an
 * agent must be right in every such window, or say so (AGENT_1_0, and no l-notes).
 *
 * BUILDING. A shared object, linked with -z now, that exports one symbol, `hpcrun_agent`, and has a
 * rules file of the same name beside it:
 *     NAME.so      the agent
 *     NAME.rules   lines "key value"; the first must be "agent NAME VERSION"; then, one of these at
 *                  least, how a process is seen to use the runtime:
 *                      runtime-note OWNER     a module has an ELF note of this owner
 *                      runtime-module NAME    a module has this base name, or NAME.<something>
 *                      runtime-symbol NAME    the main program, not stripped, has this symbol: the
 *                                             runtime may be linked into it
 *                  and what hpcprof is to know:
 *                      clone PREFIX*SUFFIX    a procedure of such a name shows as the one that the
 *                                             star stands for, of the same file and line
 *                      overhead PATTERN [KIND] time in such a procedure, also where it is inlined,
 *                                             is overhead of that kind (spawn, sync, ...); in a
 *                                             PATTERN a star stands for any text. The rule applies
 *                                             to all modules of a process with the runtime, so it
 *                                             names procedures as only the runtime may
 *                  hpcprof/runtime/rules.h has all of it.
 *
 * AN EXAMPLE, complete: an interpreter `calc` whose every procedure call is one call of the C
 * function `calc_run`, with the procedure's id in memory at the frame's rbp - 24, and frames of
 * helper functions between that nobody wants to see.
 *
 *     static const struct agent_host *host;
 *     static uint64_t run_start, run_end;
 *
 *     static bool start(const struct agent_host *the_host) { host = the_host; return true; }
 *
 *     static void module_added(const struct agent_module *m)
 *     {
 *         if (m->note) {                            // the runtime describes itself in its note
 *             const int64_t *offset = m->note;      // of calc_run, of its end, of helpers, ...
 *             run_start = (uint64_t)m->note + offset[0]; run_end = (uint64_t)m->note + offset[1];
 *             struct agent_claim code = {run_start, (uint64_t)m->note + offset[2], 0};
 *             host->claim(&hpcrun_agent, &code, 1);
 *         }
 *     }
 *
 *     static enum agent_thread begin(struct agent_cursor *c) { return AGENT_FOREIGN; }
 *
 *     static enum agent_association step_bichord(struct agent_cursor *c,
 *                                                const struct agent_frame *f)
 *     {
 *         uint64_t id;
 *         if (f->pc < run_start || f->pc >= run_end || !host->read(c, f->bp - 24, &id, sizeof id))
 *             return AGENT_1_0;
 *         c->state[0] = id;
 *         return AGENT_1_1;
 *     }
 *
 *     static bool step_lnote(struct agent_cursor *c, struct agent_lnote *note)
 *     {
 *         if (c->state[0] == 0) return false;       // the second call: there was one note
 *         *note = (struct agent_lnote){.space = AGENT_CODE, .value = procedure_code(c->state[0])};
 *         c->state[0] = 0;
 *         return true;
 *     }
 *
 *     const struct agent hpcrun_agent = {
 *         .interface = AGENT_INTERFACE, .name = "calc", .version = "1.0", .start = start,
 *         .module_added = module_added, .begin = begin, .step_bichord = step_bichord,
 *         .step_lnote = step_lnote };
 */
#ifndef AGENTS_AGENT_H
#define AGENTS_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Was not released yet: may change without becoming 2. */
#define AGENT_INTERFACE 1
#define AGENT_STATES    8

/* Numbered as in lib/measurement-format.h. */
enum agent_association { AGENT_1_1, AGENT_1_0, AGENT_M_0, AGENT_M_1, AGENT_1_M };

/* What a thread is to the runtime, at this instant. */
enum agent_thread {
    AGENT_FOREIGN, /* nothing: it pays work, and neither idleness nor incomplete time */
    AGENT_WORKING, /* a worker that executes the user's code: it pays work, and for idle ones */
    AGENT_IDLE,    /* a worker without work: it pays nothing */
    AGENT_OWNED,   /* a thread that the runtime keeps for itself: it pays nothing */
};

/* A p-note. pc is exact in interrupted frames, else the return address - 1. */
struct agent_frame {
    uint64_t pc, sp, bp;
};

/* An l-note. */
enum agent_space { AGENT_CODE };
struct agent_lnote {
    enum agent_space space;
    uint64_t value; /* AGENT_CODE: an address in the procedure */
    uint64_t site;  /* address of the call (return address - 1) that the procedure waits in; 0 when
                       not known: then the note belongs to the procedure and to no line of it */
};

/* A load module, while it is loaded. */
struct agent_module {
    uint64_t start, end; /* of its mapping */
    uint64_t bias;       /* run-time address - ELF virtual address */
    const char *path;    /* "" for the main program */
    const void *note;    /* data of the ELF note that the agent's rules name; NULL without one */
    size_t note_bytes;
};

/* A range of a module's code, and what the agent wants to be told again of it. */
struct agent_claim {
    uint64_t start, end;
    uint32_t mark;
};

/* Threads of the runtime. */
struct agent_counts {
    uint32_t workers; /* 0: not known yet */
    uint32_t working; /* of these, how many execute the user's code at this instant */
};

/* What a thread was created to run; zeros for the initial thread. */
struct agent_origin {
    uint64_t function, argument; /* of pthread_create or thrd_create */
};

/* The state of an unwind; hpcrun's, but for `state`. */
struct agent_cursor {
    void *slot; /* the agent's memory for this thread: slot_bytes, zero when the thread began */
    int tid;
    uint64_t stack_low, stack_high; /* the thread's own stack; equal when not known */
    struct agent_frame leaf;        /* innermost frame of the sample's physical path */
    void *hpcrun;                   /* not the agent's */
    /* Set by step_bichord, false before: what the frame has called, up to the last bichord or the
     * leaf, and is not claimed, is of this bichord, too: functions of libraries that the runtime
     * calls, but not handlers of signals. The bichord is then AGENT_M_0, and what step_bichord
     * returns must be that or AGENT_1_0. */
    bool takes_callees;
    /* The same, but of what the frame has called only functions of libc that follow one another:
     * for runtimes that call the user's code, too (a hook, a reduction). */
    bool takes_libc;
    uint64_t state[AGENT_STATES]; /* the agent's, zero when the unwind begins */
};

struct agent;

/* What hpcrun does for agents. */
struct agent_host {
    uint32_t interface;
    /* Normal context: claims so many ranges of modules' code at once; handlers see all of them or
     * none. Any order will do, an ascending one is quickest. What is claimed in a module that is
     * unloaded is given up by itself. False, and nothing claimed, without memory or when part of a
     * range is claimed already. */
    bool (*claim)(const struct agent *agent, const struct agent_claim *claims, size_t count);
    /* Any context: the agent's claim that is around `pc`; false when there is none. */
    bool (*claimed)(const struct agent *agent, uint64_t pc, struct agent_claim *found);
    /* Normal context: a line for hpcrun.log, without newline. */
    void (*log)(const char *line);
    /* Normal context: the agent can't serve this process, and why, a constant: "the runtime was
     * stripped". Call paths are then native. hpcrun prints the reason and records it in the
     * measurements. NULL withdraws the refusal. */
    void (*refuse)(const struct agent *agent, const char *why);
    /* Handler: copies memory that may not be there; false when some byte can't be read. */
    bool (*read)(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size);
    /* Handler: frame i of the sample's physical path, 0 being the outermost; false when there are
     * not so many. */
    bool (*path)(const struct agent_cursor *cursor, uint32_t i, struct agent_frame *frame);
    /* Handler: from a frame (of any stack that stands still) to its caller's; false at the
     * outermost, or when there is no simple unwind rule. */
    bool (*step)(const struct agent_cursor *cursor, struct agent_frame *frame);
};

/* Handler: fields of the runtime, of 8, 4 and 2 bytes; 0 where they can't be read. */
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
    uint32_t interface; /* AGENT_INTERFACE */
    const char *name, *version;
    size_t slot_bytes; /* per thread, at most 65536 */
    /* Whether begin, counts and the steps give the same answers as at the last sample when all that
     * they read through the host (read, path, step) is the same, and the frames and the state that
     * they are given. Then hpcrun compares that and seldom asks them. They may rest on what start,
     * module_* and thread_* set, too; not on the leaf in `begin`, or on a clock. */
    bool repeatable;

    /* Normal context; all but start may be NULL. start: false when the agent can't serve. */
    bool (*start)(const struct agent_host *host);
    void (*module_added)(const struct agent_module *module);
    void (*module_removed)(const struct agent_module *module);
    /* In the thread itself, with signals blocked: when it begins (the initial thread: before main),
     * and when it ends. Threads that began before the agent was opened are not
     * announced: their slot is zero. `origin` says what the thread runs. */
    void (*thread_begin)(void *slot, int tid, struct agent_origin origin);
    void (*thread_end)(void *slot);

    /* Handler; counts leaves the state as it is; counts, step_pnote and step_lnote may be NULL. */
    enum agent_thread (*begin)(struct agent_cursor *cursor);
    struct agent_counts (*counts)(struct agent_cursor *cursor);
    enum agent_association (*step_bichord)(struct agent_cursor *cursor,
                                           const struct agent_frame *frame);
    bool (*step_pnote)(struct agent_cursor *cursor, const struct agent_frame *frame);
    bool (*step_lnote)(struct agent_cursor *cursor, struct agent_lnote *note);
};

/* Each agent defines this. */
extern const struct agent hpcrun_agent __attribute__((visibility("default")));

#endif
