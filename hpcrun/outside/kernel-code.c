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
#include <string.h>

static struct {
    uint64_t start, boot;
    struct kernel_procedures procedures;
    VEC(uint64_t) offsets;
} kernel;

void kernel_code_init(void)
{
    kernel.start = kernel_text_start();
    kernel.boot = kernel_boot();
    if (kernel.start)
        kernel_procedures_read(&kernel.procedures, kernel.start);
}

void kernel_code_begin(void)
{
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

static long save(const char *path)
{
    int directory;
    size_t size;
    long error = output_directory_open(&directory);
    if (error != 0)
        return error;
    char *bytes = kernel_symbols_packed(&kernel.procedures, kernel.boot, kernel.offsets.at, kernel.offsets.n, &size);
    error = kernel_names_append(directory, output_directory_name(directory, path), output_file_mode(), bytes, size);
    output_directory_close(directory);
    free(bytes);
    return error;
}

void kernel_code_save(void)
{
    char path[sizeof process.config.directory + sizeof process.host + sizeof KERNEL_SYMBOLS_SUFFIX];
    if (kernel.offsets.n == 0)
        return;
    qsort(kernel.offsets.at, kernel.offsets.n, sizeof *kernel.offsets.at, by_value);
    snprintf(path, sizeof path, "%s/%s" KERNEL_SYMBOLS_SUFFIX, process.config.directory, process.host);
    long error = save(path);
    if (error)
        diag_error(path, "%s: the kernel's code is shown without names", strerror((int)-error));
}
