/* libhpctoolkit-cilktool.so: the functions that programs compiled with clang -fopencilk
 * -fcilktool=cilkscale call, for work and span.
 *
 *     how the program is run                   where hooks and probes come from       what measures
 *     hpcrun --work-span ./app                 this library, which hpcrun preloads    libhpcrun.so
 *     ./app, linked with this library          this library                           the library
 *     hpcrun ./app, linked with it             this library                           the library
 *     ./app, linked with Cilkscale's library   that one                               that one
 *
 * So an unmodified program that is linked with Cilkscale's shared library is measured by hpcrun, and
 * one that is linked with this library needs no hpcrun. A program with Cilkscale's static library has
 * its hooks inside, and nothing can replace them: link it with this library instead.
 *
 * The library has a copy of span/ for programs without hpcrun. Normal context. */
#ifndef HPCRUN_CILKTOOL_TOOL_ENGINE_H
#define HPCRUN_CILKTOOL_TOOL_ENGINE_H

#include "hpcrun/span/frame-span.h"

/* What measures; it begins with the first call. NULL without memory. */
const struct frame_events *tool_engine(void);

#endif
