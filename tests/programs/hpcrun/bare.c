/* bare MS [sleep]: assembly code without unwind information uses MS of CPU time: a leaf, one with a frame
 * full of return addresses that earlier calls, direct and indirect, left on the stack, and one that
 * calls back. Or it sleeps so long, by a system call of its own. */
#include "burn.h"
#include "litter.h"

/* Count rdi down; call rsi. */
void leaf(uint64_t rounds), with_frame(uint64_t rounds), calls_back(void (*function)(void));
void nap(const struct timespec *time);

__asm__(".text\n"
        ".type leaf, @function\n"
        "leaf: dec %rdi\n"
        "  jnz leaf\n"
        "  ret\n"
        ".size leaf, . - leaf\n"
        ".type with_frame, @function\n"
        "with_frame: sub $480, %rsp\n"
        "1: dec %rdi\n"
        "  jnz 1b\n"
        "  add $480, %rsp\n"
        "  ret\n"
        ".size with_frame, . - with_frame\n"
        ".type calls_back, @function\n"
        "calls_back: push %rbx\n"
        "  sub $48, %rsp\n"
        "  call *%rdi\n"
        "  add $48, %rsp\n"
        "  pop %rbx\n"
        "  ret\n"
        ".size calls_back, . - calls_back\n"
        ".type nap, @function\n"
        "nap: sub $24, %rsp\n"
        "  xor %esi, %esi\n"
        "  mov $35, %eax\n" /* nanosleep */
        "  syscall\n"
        "  add $24, %rsp\n"
        "  ret\n"
        ".size nap, . - nap\n");

__attribute__((noinline)) static void call_leaf(void)
{
    litter(20);
    leaf(400000);
    sink++;
}

__attribute__((noinline)) static void call_with_frame(void)
{
    litter(20);
    with_frame(400000);
    sink++;
}

__attribute__((noinline)) static void called_back(void)
{
    leaf(400000);
    sink++;
}

__attribute__((noinline)) static void call_calls_back(void)
{
    litter(20);
    calls_back(called_back);
    sink++;
}

__attribute__((noinline)) static void call_nap(uint64_t ns)
{
    struct timespec time = {.tv_nsec = (long)ns};
    nap(&time);
    sink++;
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 1;
    uint64_t end = (uint64_t)(atof(arguments[1]) * 1e6);
    if (count == 3) {
        call_nap(end);
        return 0;
    }
    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end) {
        call_leaf();
        call_with_frame();
        call_calls_back();
    }
    return 0;
}
