/* Images of structures. */
#include "tests/fuzz/fuzz-target.h"
#include "tests/fuzz/reader-checks.h"

#include "hpcprof/modules/structure.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

/* An image; then the same of some procedures only. */
static void run_structure(const uint8_t *data, size_t size)
{
    static uint64_t addresses[] = {4096, 4128, 1 << 20};
    const struct address_set set = {{addresses, 3, 3}}, *const only[] = {NULL, &set};
    uint8_t *bytes = mem_alloc(size + 1);
    if (size)
        memcpy(bytes, data, size);
    for (size_t i = 0; i < 2; i++) {
        struct structure *s = structure_read(bytes, size, only[i]);
        if (s)
            check_structure(s);
        structure_free(s);
    }
    free(bytes);
}

const struct fuzz_target structure_target = {"structure", run_structure, 1 << 20, 400};
