/* overdue thread|exit|exec MS: uses MS of CPU time with every signal blocked by a bare system call,
 * which hpcrun doesn't see, in a thread that ends, or before the process ends so. Prints how many
 * ns were used. */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void block_all(void)
{
    static const uint64_t all = ~(uint64_t)0;
    long result = SYS_rt_sigprocmask;
    register long size __asm__("r10") = sizeof all;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(0L /* SIG_BLOCK */), "S"(&all), "d"(0L), "r"(size)
                     : "rcx", "r11", "memory");
}

static void *use(void *ms)
{
    block_all();
    printf("%lu\n", (unsigned long)burn((uint64_t)(atof(ms) * 1e6)));
    fflush(stdout);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    if (count != 3)
        return 2;
    if (strcmp(arguments[1], "thread") == 0 &&
        pthread_create(&thread, NULL, use, arguments[2]) == 0)
        return pthread_join(thread, NULL);
    use(arguments[2]);
    if (strcmp(arguments[1], "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    return 0;
}
