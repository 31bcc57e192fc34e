/* A library that is libgomp and libtbb for test_runtime_copies.c, which opens several copies of it. With
 * USER: one that is linked to such a copy, and has only the last function. */
#include <stdint.h>

#ifndef USER
void GOMP_parallel(void);
void GOMP_parallel(void)
{
}

void spawn(void) __asm__("_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE");
void spawn(void)
{
}

#endif

uintptr_t address_in_copy(void);
uintptr_t address_in_copy(void)
{
    return (uintptr_t)address_in_copy;
}
