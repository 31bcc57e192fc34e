/* altstack MS: burns MS of CPU time in a recursion, with a painted alternate signal stack. Prints the
 * largest number of bytes of it that signal handlers used, and how many of these are the kernel's
 * frame. */
#include "burn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

int main(int count, char **arguments)
{
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset((void *)stack, PAINT, SIZE);
    stack_t alternate = {.ss_sp = stack, .ss_size = SIZE};
    struct sigaction action = {.sa_handler = measure_frame, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(atof(arguments[count - 1]) * 1e6);
    for (int depth = 0; clock_ns(CLOCK_THREAD_CPUTIME_ID) < end; depth = (depth + 7) % 100)
        descend(depth);
    int low = 0;
    while (low < SIZE && stack[low] == PAINT)
        low++;
    printf("%d %ld\n", SIZE - low, frame_size);
    return 0;
}
