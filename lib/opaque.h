/* OPAQUE, before a function: the compiler makes each call of it, as if it did not know the body. It does not inline
 * or clone the function, nor merge it with an equal one, so that it has a frame of its own. C and C++. */
#ifndef LIB_OPAQUE_H
#define LIB_OPAQUE_H

#ifdef __clang__
#define OPAQUE __attribute__((noinline, optnone))
#else
#define OPAQUE __attribute__((noipa))
#endif

#endif
