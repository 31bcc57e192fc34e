/* Files of lines: the index of a set of runs, the list of processes of a measurement, and names of the kernel. */
#include "tests/fuzz/fuzz-target.h"

#include "lib/alloc.h"
#include "lib/kernel-symbols.h"
#include "lib/process-list.h"
#include "lib/run-set.h"

#include <stdlib.h>
#include <string.h>

/* ---- the index of a set ---- */

static void run_set_index(const uint8_t *data, size_t size)
{
    struct run_set set = {0};
    char *cause = NULL;
    const char *folder = input_folder(RUN_SET_INDEX, data, size);
    bool is_read = run_set_read(&set, folder, &cause);
    PROMISE(is_read == (cause == NULL));
    if (is_read)
        PROMISE(set.command);
    for (size_t i = 0; i < set.runs.n; i++) {
        const struct set_run *run = &set.runs.at[i];
        PROMISE(run->directory[0] != '.' && !strchr(run->directory, '/'));
        PROMISE(run->repeat != WORK_SPAN_REPEAT || run->workers);
        PROMISE(run_set_find(&set, run->workers, run->repeat) == run);
    }
    free(cause);
    run_set_free(&set);
}

const struct fuzz_target set_index_target = {"set-index", run_set_index, 1 << 16, 64};

/* ---- the list of processes ---- */

static void run_process_list(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct process_list list;
    process_list_read(&list, text, size);
    for (size_t i = 0; i < list.n; i++) {
        const struct process_image *image = &list.images[i];
        PROMISE(image->program_length == 0 ||
                (image->program >= text && image->program + image->program_length <= text + size));
    }
    process_list_free(&list);
}

/* An image of 400 bytes for the shortest line. */
const struct fuzz_target process_list_target = {"process-list", run_process_list, 1 << 16, 400};

/* ---- names of the kernel's procedures ---- */

static void check_symbol(void *data, const struct kernel_symbol *symbol)
{
    const char *text = data;
    PROMISE(symbol->begin < symbol->end && symbol->length > 0 && symbol->name > text);
    PROMISE(!memchr(symbol->name, '\n', symbol->length));
}

static void run_kernel_symbols(const uint8_t *data, size_t size)
{
    char *text = mem_alloc(size + 1);
    if (size)
        memcpy(text, data, size);
    kernel_symbols_visit(text, size, 0x4d, check_symbol, text);
    free(text);
}

const struct fuzz_target kernel_symbols_target = {"kernel-symbols", run_kernel_symbols, 1 << 16, 2};
