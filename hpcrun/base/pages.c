/* The kernel gives a new mapping the highest gap that fits, which may be one that the program has
 * made a moment ago: what it then expects there is nothing, and what it maps over it, as a program
 * of one thread may, would take our memory away. So we ask for addresses that are far below the
 * lowest at which the kernel begins to give them out (47 bits of address space less the largest
 * random offset and gap), yet above what the sanitizers' runtimes keep for themselves. Where
 * something is in the way already, the kernel chooses. */
#include "hpcrun/base/sys.h"

#include <stdatomic.h>

#define ZONE       0x7e8000000000u
#define ZONE_BYTES (UINT64_C(192) << 30)
#define PAGE       4096u

/* Where the next pages are asked for. What is given back leaves a gap: there is room. */
static _Atomic uint64_t taken;

void *sys_pages(size_t size)
{
    uint64_t pages = (size + PAGE - 1) / PAGE * PAGE;
    uint64_t at =
        ZONE + atomic_fetch_add_explicit(&taken, pages, memory_order_relaxed) % ZONE_BYTES;
    return sys_map(at, size);
}

void sys_pages_free(void *block, size_t size)
{
    if (block)
        sys_unmap(block, size);
}
