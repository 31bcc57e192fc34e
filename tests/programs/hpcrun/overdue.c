/* overdue thread|exit|exec MS
 * overdue late MS COUNT
 *
 * Uses MS of CPU time with all signals blocked by a bare system call, which hpcrun doesn't see: in a
 * thread that ends; before exit or exec; or (late) in COUNT threads, one after the other, that unblock
 * signals before they end. Prints the ns used on purpose, and those
 * threads' CPU clocks. */
#include "burn.h"

#include <sys/syscall.h>

static void mask(long how) /* SIG_BLOCK or SIG_UNBLOCK, for all signals */
{
    static const uint64_t all = ~(uint64_t)0;
    long result = SYS_rt_sigprocmask;
    register long size __asm__("r10") = sizeof all;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(how), "S"(&all), "d"(0L), "r"(size)
                     : "rcx", "r11", "memory");
}

static uint64_t burned, counted;

static void *use_and_let_through(void *ms)
{
    mask(SIG_BLOCK);
    burned += burn((uint64_t)(atof(ms) * 1e6));
    mask(SIG_UNBLOCK);
    counted += clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static void use_late(char *ms, int threads)
{
    for (pthread_t thread; threads > 0; threads--) {
        pthread_create(&thread, NULL, use_and_let_through, ms);
        pthread_join(thread, NULL);
    }
    printf("%lu %lu\n", (unsigned long)burned, (unsigned long)counted);
}

static void *use(void *ms)
{
    mask(SIG_BLOCK);
    printf("%lu\n", (unsigned long)burn((uint64_t)(atof(ms) * 1e6)));
    fflush(stdout);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    if (count == 4) {
        use_late(arguments[2], atoi(arguments[3]));
        return 0;
    }
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
