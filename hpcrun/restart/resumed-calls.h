/* Signal handler: everything here runs there.
 *
 * System calls that go on for the rest of their time. Where a call has its timeout in a register,
 * or in memory of the program, the call can't be made again as it
 * was. The program relies on its registers and memory, which system calls leave as they are. So
 * the thread makes the call again at an instruction of ours, with the rest of the time in memory
 * of ours. After the call our code restores the registers and jumps to where the program goes on:
 *
 *     program            ours (r12: the struct resumed_call)
 *     syscall
 *     |   a sample  ->   syscall  <- later samples: the rest of the time is set again
 *     |                  add what a part before has done; set the program's signal mask;
 *     |                  store the rest of the time where the kernel would do so
 *     <----------------  restore rdi, rsi, rdx, r10, r8, r9, r12
 *
 * glibc from 2.41 on cancels threads only at the system call instruction of its own function. That
 * one ends with "syscall; ret". So if a ret follows, the thread makes the call at the program's
 * instruction, with a return address to our code on the stack, below the red zone.
 *
 * The unwind information of our code leads to the program's code: samples, exceptions and the
 * cancellation of the thread find it. Handlers of the program that interrupt such a call end it
 * with EINTR. They may make calls that are resumed themselves; so a thread has several. */
#ifndef HPCRUN_RESTART_RESUMED_CALLS_H
#define HPCRUN_RESTART_RESUMED_CALLS_H

#include "hpcrun/restart/thread-calls.h"

/* A new one for a call that ends at the context, with the registers of the program. Without a free one, takes
 * the one that was used longest ago: handlers that end with longjmp leave theirs. */
struct resumed_call *resumed_new(const struct interruptible_call *call, const ucontext_t *context);

/* The one whose call ends at the context; NULL if it is none of ours. */
struct resumed_call *resumed_at(const ucontext_t *context);

/* The context makes the call (again) for the rest of its time. False, with the result in the context,
 * if the time of a socket is over: the kernel can't be given the rest of that. */
bool resumed_go_on(struct resumed_call *resumed, ucontext_t *context);

/* Whether the program's memory can be written: the kernel adds 0 to it. */
bool resumed_is_writable(uint64_t address);

#endif
