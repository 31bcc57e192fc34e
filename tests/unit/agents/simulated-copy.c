/* A library that is libgomp and libtbb for test_runtime_copies.c, which opens several copies of it. */
#include <stdint.h>

void GOMP_parallel(void);
void GOMP_parallel(void)
{
}

void spawn(void) __asm__("_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE");
void spawn(void)
{
}

uintptr_t address_in_copy(void);
uintptr_t address_in_copy(void)
{
    return (uintptr_t)address_in_copy;
}
