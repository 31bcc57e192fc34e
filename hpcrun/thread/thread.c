#include "hpcrun/thread/thread.h"

__thread struct thread *thread_self;
__thread unsigned thread_samples_handled;
__thread unsigned thread_program_handlers;

/* xorshift64* (Vigna), and the multiplication that maps it to a range (Lemire). */
uint64_t thread_random(struct thread *thread, uint64_t limit)
{
    uint64_t x = thread->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    thread->random = x;
    return (uint64_t)((unsigned __int128)(x * 0x2545f4914f6cdd1du) * limit >> 64);
}
