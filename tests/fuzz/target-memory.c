/* Targets for the test of the fuzzer itself. */
#include "tests/fuzz/fuzz-target.h"

#include <stdlib.h>

/* Holds 64 blocks of 1 KiB at once, whatever the input. */
static void run_memory_test(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    void *blocks[64];
    for (size_t i = 0; i < 64; i++)
        blocks[i] = malloc(1024);
    for (size_t i = 0; i < 64; i++)
        free(blocks[i]);
}

const struct fuzz_target memory_test_target = {"memory-test", run_memory_test, 1 << 14, 1};
