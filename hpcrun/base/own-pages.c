/* Pages at addresses that the program does not use.
 *
 * By default the kernel places a new mapping in the highest gap that fits. The program may just
 * have made this gap with munmap, and may map something there again by address (MAP_FIXED), which
 * would replace our memory. So we ask for addresses far below the lowest one that the kernel gives
 * out by default (47 bits of address space, less the largest random offset and gap), and above the
 * regions that the sanitizers' runtimes reserve. If something is mapped there already, the kernel
 * chooses. */
#include "hpcrun/base/sys.h"

#include <stdatomic.h>

#define ZONE       0x7e8000000000u
#define ZONE_BYTES (UINT64_C(192) << 30)
#define PAGE       4096u

/* Offset in the zone of the next pages to ask for. Freed pages leave gaps: the zone is large. */
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
