/* Signal handler: everything here runs in the sampling handler, in a guarded region.
 *
 * Whether a word on the stack is the return address of a frame without unwind information. */
#ifndef HPCRUN_UNWIND_RETURN_ADDRESS_H
#define HPCRUN_UNWIND_RETURN_ADDRESS_H

#include "hpcrun/unwind/frame.h"

/* No frame of such code is larger, bytes. */
#define RETURN_MAX_FRAME (1u << 20)

/* Whether code may return to `address`: it is not on the frame's stack, and there is a call before it, or
 * one of these begins there:
 *
 *   rt_sigreturn           the kernel makes it the return address of a signal's handler
 *   HotSpot's interpreter  it pushes the address of code that begins by taking its stack pointer from its
 *                          frame, and jumps */
bool return_address_is_plausible(struct memory *memory, const struct frame *frame,
                                 uint64_t address);

/* Whether `address` is where the outermost function of a goroutine returns to: goexit, behind its
 * first instruction. Go puts this address on a new stack; the path ends there. */
bool return_ends_goroutine(struct memory *memory, uint64_t address);

/* Whether the 8 bytes of code are where HotSpot's interpreter goes on after a call. */
bool return_to_interpreter(uint64_t code);

/* Loads the word at `place`. True if it is a plausible return address or the end of a goroutine. For
 * places that a rule gives. */
bool return_address_at(struct memory *memory, const struct frame *frame, uint64_t place,
                       uint64_t *value);

/* The same for places that are guessed: the call before it must not be known to call something else
 * than the code of `frame`. */
bool return_address_guessed_at(struct memory *memory, const struct frame *frame, uint64_t place,
                               uint64_t *value);

/* Whether rbp may be the frame's frame pointer: it is aligned, and not far above sp. */
static inline bool return_frame_pointer(const struct frame *frame)
{
    return frame->bp - frame->sp < RETURN_MAX_FRAME && (frame->bp & 7) == 0;
}

#endif
