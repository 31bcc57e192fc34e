#include "hpcrun/outside/kernel-code.h"

#include "hpcrun/base/kernel-text.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"
#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/diag.h"
#include "lib/kernel-symbols.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    uint64_t start, boot;
    VEC(uint64_t) offsets;
} kernel;

void kernel_code_init(void)
{
    kernel.start = kernel_text_start();
    kernel.boot = kernel_boot();
    modules_add_kernel(kernel.start, kernel.boot);
}

void kernel_code_add(const struct cct *cct)
{
    const uint32_t instance = ip_instance(modules_kernel_ip(0));
    for (uint32_t id = 1; id < cct_end(cct); id++) {
        uint64_t ip = cct_node(cct, id)->ip;
        if (ip_instance(ip) == instance && ip_offset(ip) != 0)
            vec_push(&kernel.offsets, ip_offset(ip));
    }
}

static int by_value(const void *a, const void *b)
{
    return compare_unsigned(*(const uint64_t *)a, *(const uint64_t *)b);
}

static bool save(const char *name, const struct kernel_wanted *wanted)
{
    int directory;
    if (output_directory_open(&directory) != 0)
        return false;
    bool is_saved = directory != AT_FDCWD && kernel_symbols_save(directory, name, process.config.shared, wanted);
    output_directory_close(directory);
    return is_saved;
}

void kernel_code_save(void)
{
    char name[sizeof process.host + sizeof KERNEL_SYMBOLS_SUFFIX];
    if (kernel.offsets.n == 0)
        return;
    qsort(kernel.offsets.at, kernel.offsets.n, sizeof *kernel.offsets.at, by_value);
    const struct kernel_wanted wanted = {kernel.start, kernel.boot, kernel.offsets.at, kernel.offsets.n};
    snprintf(name, sizeof name, "%s" KERNEL_SYMBOLS_SUFFIX, process.host);
    if (!save(name, &wanted))
        diag_error(name, "can't be written: the kernel's code is shown without names");
}
