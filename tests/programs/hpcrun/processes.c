/* processes tree DEPTH WIDTH MS: every process uses MS of CPU time; those above DEPTH fork WIDTH
 * children each and wait for them. Prints the ns used on purpose, by the processes' own clocks, and
 * all ns that the kernel counted for the tree, including its forks and ends.
 * processes chain COUNT MS: uses MS, prints the ns used, then executes itself, COUNT images
 * in all. */
#include "burn.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void tree(int depth, int width, uint64_t ns, uint64_t *total)
{
    for (int i = 0; depth > 0 && i < width; i++) {
        pid_t child = fork();
        if (child == 0) {
            uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
            burn(ns);
            __atomic_fetch_add(total, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before,
                               __ATOMIC_SEQ_CST);
            tree(depth - 1, width, ns, total);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

/* User and system time of `who`, in ns. */
static uint64_t usage_ns(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

int main(int count, char **arguments)
{
    if (count == 5 && strcmp(arguments[1], "tree") == 0) {
        uint64_t *total =
            mmap(NULL, sizeof *total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        uint64_t ns = (uint64_t)(atof(arguments[4]) * 1e6);
        burn(ns);
        *total = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        tree(atoi(arguments[2]), atoi(arguments[3]), ns, total);
        printf("%lu %lu\n", (unsigned long)*total,
               (unsigned long)(usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN)));
        return 0;
    }
    if (count == 4 && strcmp(arguments[1], "chain") == 0) {
        char left[16];
        snprintf(left, sizeof left, "%d", atoi(arguments[2]) - 1);
        printf("%lu\n", (unsigned long)burn((uint64_t)(atof(arguments[3]) * 1e6)));
        fflush(stdout);
        if (atoi(arguments[2]) > 1)
            execl("/proc/self/exe", arguments[0], "chain", left, arguments[3], (char *)NULL);
        puts("done");
        return 0;
    }
    return 2;
}
