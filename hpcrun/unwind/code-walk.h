/* Signal handler: everything here is used in the sampling handler.
 *
 * Memory for following code (code-rule.h); not on the stack, since a program's signal stack may be
 * small. */
#ifndef HPCRUN_UNWIND_CODE_WALK_H
#define HPCRUN_UNWIND_CODE_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* A value relative to the registers at the start: rsp or rbp + offset, or the word that is there.
 */
enum value_kind { VALUE_UNKNOWN, VALUE_SP, VALUE_BP, VALUE_AT_SP, VALUE_AT_BP };

struct value {
    enum value_kind kind;
    int32_t offset;
};

/* The state in front of an instruction. */
struct code_state {
    uint64_t pc;
    struct value sp, bp;
    struct value bp_saved;  /* where the rbp of the start was saved on the way */
    struct value popped_at; /* where the word was that was popped last, into register `popped` */
    uint8_t popped;
    uint8_t pushed; /* register that the last stack operation pushed, + 1; 0: it was none */
};

#define CODE_WINDOW  64
#define CODE_WAYS    64
#define CODE_TARGETS 256

struct code_walk {
    struct code_state state;
    struct code_state ways[CODE_WAYS]; /* jumps not taken so far */
    unsigned way_count;
    uint64_t targets[CODE_TARGETS]; /* of all jumps on the ways so far */
    unsigned target_count;
    bool uses_frame; /* an operand lies below where rbp of the start points to */
    bool callers_bp; /* rbp of the start is the caller's: it is saved or returned on some way */
    uint64_t window_start; /* code that was read: window_size bytes from here */
    unsigned window_size;
    uint8_t window[CODE_WINDOW];
};

#endif
