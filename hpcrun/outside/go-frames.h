/* Unwind information of Go's code, which has none but the depths of the stack in its table of functions
 * (lib/go-table.h): an .eh_frame with the same content. So unwind/cfi.h serves Go, too.
 *
 *     code                                     rules
 *     functions                                the CFA is rsp + depth + 8; if they have a frame, rbp is below the
 *                                              return address
 *     the first function of a stack, and what  outermost. Go's runtime goes on at another stack there, that of a
 *     moves rsp to another stack (systemstack) goroutine, which has moved on when a sample is read
 *     goexit                                   outermost. Its first byte, to which the first function of a
 *                                              goroutine seems to return, has no rule: it is no caller
 *     sigreturn                                a signal frame
 *     calls of C and by C                      none: they are carried out (unwind/carry-out.h) */
#ifndef HPCRUN_OUTSIDE_GO_FRAMES_H
#define HPCRUN_OUTSIDE_GO_FRAMES_H

#include "lib/go-table.h"

/* Returns the section, of *bytes, which the caller frees; NULL: no memory, or more than a program has. */
uint8_t *go_frames_make(const struct go_table *table, size_t *bytes);

#endif
