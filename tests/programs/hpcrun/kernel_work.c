/* kernel_work [fork] SECONDS: reads in `reader`, touches fresh pages in `toucher`, and computes in `burn`, for that much
 * CPU time together, in turns; with `fork` in a child. Prints the seconds in user and in system mode by the kernel's
 * account. */
#include "tests/programs/hpcrun/burn.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PIECE (1u << 20)

__attribute__((noipa)) static void reader(int fd, char *to)
{
    for (int i = 0; i < 20; i++)
        if (read(fd, to, PIECE / 4) < 0)
            exit(1);
}

__attribute__((noipa)) static void toucher(void)
{
    volatile char *at = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)at, PIECE, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < PIECE; i += 4096)
        at[i] = 1;
    munmap((void *)at, PIECE);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

int main(int count, char **arguments)
{
    static char piece[PIECE];
    struct rusage before, after;
    uint64_t most = (uint64_t)(atof(arguments[count - 1]) * 1e9);
    if (count == 3 && fork() > 0)
        return wait(NULL) < 0;
    int zero = open("/dev/zero", O_RDONLY);
    getrusage(RUSAGE_SELF, &before);
    for (uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID); clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin < most;) {
        reader(zero, piece);
        toucher();
        burn(500000);
    }
    getrusage(RUSAGE_SELF, &after);
    printf("%f %f\n", seconds(after.ru_utime) - seconds(before.ru_utime),
           seconds(after.ru_stime) - seconds(before.ru_stime));
    return 0;
}
