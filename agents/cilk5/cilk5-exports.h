/* The functions that Cilk-5.4.6's library exports in its default build, by which its code is told
 * in a program that it was linked into (agents/common/linked-runtime.h). */
#ifndef AGENTS_CILK5_CILK5_EXPORTS_H
#define AGENTS_CILK5_CILK5_EXPORTS_H

extern const char *const cilk5_exports[];

#endif
