/* Copies frames of a stack. Not by memcpy: in a program that is built with AddressSanitizer that is
 * the sanitizer's, and ends the process at the memory between the variables of a frame. */
#ifndef AGENTS_COMMON_FRAME_COPY_H
#define AGENTS_COMMON_FRAME_COPY_H

#include <stdint.h>

/* A register of SSE2. A vector of 32 bytes is slower: without AVX, gcc copies it by way of the stack. */
typedef uint64_t frame_words __attribute__((vector_size(16), may_alias, aligned(1)));
typedef uint64_t frame_word __attribute__((may_alias, aligned(1)));

/* Keeps the compiler from making a call of memcpy of a loop. */
#define FRAME_COPY_STEP __asm__ volatile("" ::: "memory")

__attribute__((no_sanitize("address"))) static inline void frame_copy(void *to, const void *from,
                                                                      uint64_t bytes)
{
    char *out = to;
    const char *in = from, *end = in + bytes;
    for (; end - in >= 32; in += 32, out += 32) {
        frame_words first = *(const frame_words *)in, second = *(const frame_words *)(in + 16);
        *(frame_words *)out = first;
        *(frame_words *)(out + 16) = second;
        FRAME_COPY_STEP;
    }
    for (; end - in >= 8; in += 8, out += 8) {
        *(frame_word *)out = *(const frame_word *)in;
        FRAME_COPY_STEP;
    }
    for (; in < end; in++, out++) {
        *out = *in;
        FRAME_COPY_STEP;
    }
}

#endif
