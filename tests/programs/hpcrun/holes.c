/* Unmaps memory, works for a while, and then finds nothing there: it is the only thread, and maps
 * nothing meanwhile. Prints "fine", or at how many places there was something. */
#include "burn.h"

#include <sys/mman.h>

#define HOLES 8
#define SIZE  1024000 /* too small for the kernel to align it to large pages */
#define PAGE  4096
#define FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static char *map(size_t size)
{
    return mmap(NULL, size, PROT_NONE, FLAGS, -1, 0);
}

/* Paths that were not seen before. */
__attribute__((noinline)) static void work(unsigned depth)
{
    if (depth > 0)
        work(depth - 1);
    burn(200000);
    burn_sink++;
}

int main(void)
{
    char *hole[HOLES];
    burn(1); /* what is mapped at first calls has been */
    for (int i = 0; i < HOLES; i++) {
        hole[i] = map(SIZE);
        map(PAGE);
    }
    while (map(PAGE) > hole[0]) /* the holes are to be the highest gaps */
        continue;
    for (int i = 0; i < HOLES; i++)
        munmap(hole[i], SIZE);
    work(1000);
    int taken = 0;
    for (int i = 0; i < HOLES; i++)
        taken += mmap(hole[i], SIZE, PROT_NONE, FLAGS | MAP_FIXED_NOREPLACE, -1, 0) != hole[i];
    if (taken)
        printf("%d\n", taken);
    else
        puts("fine");
    return 0;
}
