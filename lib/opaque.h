/* OPAQUE: a function of which the compiler knows nothing in its callers. It is not inlined, cloned or merged
 * with an equal one, has a frame of its own, and every call of it is made. C and C++. */
#ifndef LIB_OPAQUE_H
#define LIB_OPAQUE_H

#ifdef __clang__
#define OPAQUE __attribute__((noinline, optnone))
#else
#define OPAQUE __attribute__((noipa))
#endif

#endif
