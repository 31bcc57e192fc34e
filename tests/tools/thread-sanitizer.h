/* Included first where libhpcrun is built with ThreadSanitizer, which differs from the ordinary build in two
 * things.
 *
 * The sanitizer forgets a thread in the last round of destructors: code of ours that ends a thread is in the
 * round before. And it does not see system calls that are made directly, so that memory that one thread gives
 * back and another one gets would look shared: here it goes through libc. */
#include <limits.h>
#undef PTHREAD_DESTRUCTOR_ITERATIONS
#define PTHREAD_DESTRUCTOR_ITERATIONS 3

#define sys_map   sys_map_unseen
#define sys_unmap sys_unmap_unseen
#include "hpcrun/base/sys.h"
#undef sys_map
#undef sys_unmap

static inline void *sys_map(uint64_t at, size_t size)
{
    void *block = mmap((void *)at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static inline void sys_unmap(void *block, size_t size)
{
    munmap(block, size);
}
