/* Loops with and without a pause instruction; hpcstruct must mark those with one. */
#include <immintrin.h>

volatile int word, other;

void spin(void)
{
    while (!word) /* MARK pause */
        _mm_pause();
}

/* The inner loop spins, the outer one only has that. */
void spin_again(void)
{
    for (int i = 0; i < 100; i++) {
        other++;
        while (!word) /* MARK pause */
            _mm_pause();
        other--;
    }
}

/* As OpenBLAS waits. */
void spin_by_nops(void)
{
    while (!word) /* MARK pause */
        __asm__ volatile("nop;nop;nop;nop;nop;nop;nop;nop");
}

void poll_by_seven_nops(void)
{
    while (!word)
        __asm__ volatile("nop;nop;nop;nop;nop;nop;nop");
}

void poll_without_pause(void)
{
    while (!word)
        other++;
}

/* A pause in no loop. */
void pause_once(void)
{
    other++;
    _mm_pause();
    other--;
}

/* As runtimes call the kernel: to wait, with a timeout (none), and to wake. */
long wait_for_futex(int *futex, long timeout)
{
    long result;
    register long fourth __asm__("r10") = timeout;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(202L), "D"(futex), "S"(128L), "d"(0L), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

long wake_futex(int *futex)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(202L), "D"(futex), "S"(129L), "d"(1L)
                     : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    return 0;
}
