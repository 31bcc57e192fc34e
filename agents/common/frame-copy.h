/* Copies frames of a stack. Not by memcpy: in a program that is built with AddressSanitizer that is
 * the sanitizer's, and ends the process at the memory between the variables of a frame. */
#ifndef AGENTS_COMMON_FRAME_COPY_H
#define AGENTS_COMMON_FRAME_COPY_H

#include <stdint.h>

typedef uint64_t frame_word __attribute__((may_alias, aligned(1)));
typedef uint64_t frame_words __attribute__((vector_size(32), may_alias, aligned(1)));

/* The empty statement keeps the compiler from making a call of memcpy of a loop. */
#define FRAME_COPY_UNIT(type)                                                                      \
    for (; bytes >= sizeof(type); bytes -= sizeof(type)) {                                         \
        *(type *)to = *(const type *)from;                                                         \
        to = (char *)to + sizeof(type);                                                            \
        from = (const char *)from + sizeof(type);                                                  \
        __asm__ volatile("" ::: "memory");                                                         \
    }

__attribute__((no_sanitize("address"))) static inline void frame_copy(void *to, const void *from,
                                                                      uint64_t bytes)
{
    FRAME_COPY_UNIT(frame_words)
    FRAME_COPY_UNIT(frame_word)
    FRAME_COPY_UNIT(char)
}

#endif
