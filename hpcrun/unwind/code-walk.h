/* Signal handler: everything here runs in the sampling handler, in a guarded region.
 *
 * Follows machine code from an address on, and keeps track of rsp and rbp relative to what they were
 * there. At a conditional jump the walk goes straight on; the other ways are kept, and can be taken
 * when this one ends. Code is walked through once: wherever ways meet, it has the same stack. */
#ifndef HPCRUN_UNWIND_CODE_WALK_H
#define HPCRUN_UNWIND_CODE_WALK_H

#include "hpcrun/unwind/instruction.h"

struct memory;

/* A value relative to the registers at the start:
 *
 *     VALUE_SP, VALUE_BP        rsp or rbp + offset
 *     VALUE_AT_SP, VALUE_AT_BP  the word there, + added
 *     VALUE_AT_AT_SP            the word at VALUE_AT_SP
 *     VALUE_SAVED               the register from which rsp was taken + offset
 *     VALUE_AT_SAVED            the word there */
enum value_kind {
    VALUE_UNKNOWN,
    VALUE_SP,
    VALUE_BP,
    VALUE_AT_SP,
    VALUE_AT_BP,
    VALUE_AT_AT_SP,
    VALUE_SAVED,
    VALUE_AT_SAVED,
};

struct value {
    enum value_kind kind;
    int32_t offset, added;
};

static inline bool value_is_same(struct value a, struct value b)
{
    return a.kind == b.kind && a.offset == b.offset && a.added == b.added &&
           a.kind != VALUE_UNKNOWN;
}

/* Whether the value is the start's rbp. */
static inline bool value_is_bp(struct value value)
{
    return value_is_same(value, (struct value){VALUE_BP, 0, 0});
}

/* The state in front of an instruction. */
struct code_state {
    uint64_t pc;
    struct value sp, bp;
    struct value bp_saved;  /* where the rbp of the start was saved on the way */
    struct value popped_at; /* where the word was that was popped last, into register `popped` */
    struct value below;     /* where the return address was at the last push, if it is at the top */
    uint8_t popped;
    uint8_t pushed;     /* register that the last stack operation pushed, + 1; 0: it was none */
    uint8_t saved_sp;   /* register of VALUE_SAVED, + 1; 0: none */
    uint8_t run_before; /* number of the run before this one, + 1; 0: none */
    uint64_t run_first, run_last; /* addresses of the current run so far */
    uint64_t table; /* address relative to rip that was loaded last: of a jump table; 0: none */
};

/* A part of a way: adjacent instructions, in front of which sp is `sp` bytes above that of the start.
 * rbp is that of the start, or was saved. */
struct code_run {
    uint64_t first, last;
    struct value bp_saved; /* where the rbp of the start was saved */
    int32_t sp;
    uint8_t before; /* number of the run before it on its way, + 1; 0: none */
};

/* Adjacent instructions, [first, end). */
struct code_segment {
    uint64_t first, end;
};

#define CODE_WINDOW   64
#define CODE_WAYS     64
#define CODE_SEGMENTS 128
#define CODE_RUNS     64

/* Memory for a walk; not on the stack, since a program's signal stack may be small. */
struct code_walk {
    struct code_state state;
    struct value place; /* where the return address is that a return takes */
    struct value
        entry; /* where it is by the first prologue on the ways: push %rbp; mov %rsp, %rbp */
    struct code_state ways[CODE_WAYS]; /* jumps not taken so far */
    unsigned way_count;
    struct code_segment segments[CODE_SEGMENTS]; /* where the walk was before the current one */
    unsigned segment_count;
    uint64_t segment_first, segment_limit; /* the current one, and where it ends at the latest */
    struct code_segment
        gap; /* code of a module, without unwind information, up to code that has it */
    struct code_run runs[CODE_RUNS];
    unsigned run_count;
    bool uses_frame; /* an operand lies below where rbp of the start points to */
    bool callers_bp; /* rbp of the start is the caller's: it is saved or returned on some way */
    bool may_return; /* there are returns, indirect jumps, or code that is not known */
    uint64_t
        joined; /* where code made at run time jumps into a function with unwind information; 0:
                        nowhere */
    uint64_t window_start; /* code that was read: window_size bytes from here */
    unsigned window_size;
    uint8_t window[CODE_WINDOW];
};

/* What an instruction does: the way goes on, ends, or returns; an indirect jump may return. */
enum code_next { CODE_GOES_ON, CODE_ENDS, CODE_RETURNS, CODE_MAY_RETURN };

void code_walk_begin(struct code_walk *walk, uint64_t pc);

/* Whether the next step reads code from memory. */
static inline bool code_walk_needs_code(const struct code_walk *walk)
{
    uint64_t from = walk->state.pc - walk->window_start;
    return from >= walk->window_size || walk->window_size - from < INSTRUCTION_MAX_BYTES;
}

/* Takes the instruction at state.pc. Sets `place` if it returns, or may return. */
enum code_next code_walk_step(struct memory *memory, struct code_walk *walk);

/* Adds the current run. */
void code_walk_end_run(struct code_walk *walk);

/* Goes on at a jump that was not taken; false if there is none. */
bool code_walk_other_way(struct code_walk *walk);

#endif
