/* Structure files. */
#include "tests/fuzz/fuzz-target.h"
#include "tests/fuzz/reader-checks.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

static void run_structure(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size), *cause = NULL;
    struct structure *s = structure_read_text(text, &cause);
    PROMISE(!s == (cause != NULL));
    if (s)
        check_structure(s);
    else
        PROMISE(!strchr(cause, '\n'));
    structure_free(s);
    free(cause);
    free(text);
}

const struct fuzz_target structure_target = {"structure", run_structure, 1 << 20, 400};
