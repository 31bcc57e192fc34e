/* faults PAGES: touches PAGES fresh pages, one by one, in touch_pages. Prints the number of page
 * faults that the kernel counted meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

__attribute__((noinline)) static void touch_pages(volatile char *at, long pages)
{
    for (long i = 0; i < pages; i++)
        at[i * 4096] = 1;
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

int main(int count, char **arguments)
{
    long pages = count == 2 ? atol(arguments[1]) : 0;
    size_t size = (size_t)pages * 4096;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, size, MADV_NOHUGEPAGE);
    long before = faults();
    touch_pages(at, pages);
    printf("%ld\n", faults() - before);
    return 0;
}
