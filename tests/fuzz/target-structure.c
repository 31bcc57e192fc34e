/* Structure files and their images. */
#include "tests/fuzz/fuzz-target.h"
#include "tests/fuzz/reader-checks.h"

#include "hpcprof/modules/structure-image.h"
#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

static void run_structure(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size), *cause = NULL;
    struct structure *s = structure_read(fmemopen(text, strlen(text), "r"), &cause);
    PROMISE(!s == (cause != NULL));
    if (s)
        check_structure(s);
    else
        PROMISE(!strchr(cause, '\n'));
    structure_free(s);
    free(cause);
    free(text);
}

/* An image of the key 0; then the same of some procedures only. */
static void run_structure_image(const uint8_t *data, size_t size)
{
    static const struct image_key key;
    static uint64_t addresses[] = {4096, 4128, 1 << 20};
    const struct address_set set = {{addresses, 3, 3}}, *const only[] = {NULL, &set};
    uint8_t *bytes = mem_alloc(size + 1);
    if (size)
        memcpy(bytes, data, size);
    for (size_t i = 0; i < 2; i++) {
        struct structure *s = structure_image_read(bytes, size, &key, only[i]);
        if (s)
            check_structure(s);
        structure_free(s);
    }
    free(bytes);
}

const struct fuzz_target structure_image_target = {"structure-image", run_structure_image, 1 << 20,
                                                   400};
const struct fuzz_target structure_target = {"structure", run_structure, 1 << 20, 400};
