/* The number of threads that the program allows TBB by tbb::global_control; 0: no control. */
#ifndef AGENTS_TBB_THREAD_LIMIT_H
#define AGENTS_TBB_THREAD_LIMIT_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint32_t tbb_thread_limit;

#endif
