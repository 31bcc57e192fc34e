/* altstack MS: burns MS of CPU time in a recursion. Its signal stack and, if that is another one, the
 * one that the kernel has are painted before. Prints how many bytes of each were used by then, and how
 * many a frame of the kernel's takes. */
#include "burn.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define SIZE  (256 * 1024)
#define PAINT 0x5a

static unsigned char *volatile stack; /* volatile: raise is declared not to call back */
static volatile long frame_size;

static void measure_frame(int signal)
{
    (void)signal;
    frame_size = stack + SIZE - (unsigned char *)__builtin_frame_address(0);
}

__attribute__((noinline)) static uint64_t descend(int depth)
{
    burn_unit();
    uint64_t result = depth > 0 ? descend(depth - 1) : 0;
    return result + burn_sink;
}

static stack_t stack_in_kernel(void)
{
    stack_t now;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_sigaltstack), "D"(NULL), "S"(&now)
                     : "rcx", "r11", "memory");
    return now;
}

static long used(const unsigned char *low, size_t size)
{
    size_t unused = 0;
    while (unused < size && low[unused] == PAINT)
        unused++;
    return (long)(size - unused);
}

int main(int count, char **arguments)
{
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t alternate = {.ss_sp = stack, .ss_size = SIZE};
    struct sigaction action = {.sa_handler = measure_frame, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    stack_t kernels = stack_in_kernel();
    memset((void *)stack, PAINT, SIZE);
    memset(kernels.ss_sp, PAINT, kernels.ss_size);
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(atof(arguments[count - 1]) * 1e6);
    for (int depth = 0; clock_ns(CLOCK_THREAD_CPUTIME_ID) < end; depth = (depth + 7) % 100)
        descend(depth);
    printf("%ld %ld %ld\n", used(stack, SIZE), used(kernels.ss_sp, kernels.ss_size), frame_size);
    return 0;
}
