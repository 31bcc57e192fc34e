#include "hpcrun/outside/kernel-code.h"

#include "hpcrun/base/kernel-text.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"
#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/diag.h"
#include "lib/kernel-symbols.h"
#include "lib/safe-input.h"
#include "lib/safe-output.h"
#include "lib/structure-cache.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Of the code that was seen. Of more, the rest has no names. */
#define MAX_OFFSETS 65536 /* a power of two; the table is at most half full */

static struct {
    uint64_t start, boot;
    _Atomic uint64_t *offsets; /* a hash table that all workers share; 0: free */
} kernel;

void kernel_code_init(void)
{
    kernel.start = kernel_text_start();
    kernel.boot = kernel_boot();
    if (!kernel.start || kernel.offsets)
        return;
    void *table = mmap(NULL, MAX_OFFSETS * sizeof *kernel.offsets, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    kernel.offsets = table == MAP_FAILED ? NULL : table;
}

void kernel_code_begin(void)
{
    if (perf_events_see_kernel())
        modules_add_kernel(kernel.start, kernel.boot);
    else
        kernel.offsets = NULL; /* no node is in its code */
}

static void add(uint64_t offset)
{
    uint64_t at = offset * 0x9e3779b97f4a7c15u >> 48;
    for (unsigned tries = 0; tries < MAX_OFFSETS / 2; tries++, at++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&kernel.offsets[at % MAX_OFFSETS], &there, offset) || there == offset)
            return;
    }
}

void kernel_code_add(const struct cct *cct)
{
    if (!kernel.offsets)
        return;
    const uint32_t instance = ip_instance(modules_kernel_ip(0));
    for (uint32_t id = 1; id < cct_end(cct); id++) {
        uint64_t ip = cct_node(cct, id)->ip;
        if (ip_instance(ip) == instance && ip_offset(ip) != 0)
            add(ip_offset(ip));
    }
}

static int by_value(const void *a, const void *b)
{
    return compare_unsigned(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The kernel takes 0.2 us to write a line of /proc/kallsyms, which has 100,000 and more. So its names are kept with the
 * cached structures, for other runs in this boot. */
#define CACHE "kernel-names"

/* NULL: there is no directory for it, or the boot is unknown. The caller frees. */
static char *cache_path(void)
{
    if (!kernel.boot)
        return NULL;
    autofree char *cause = NULL, *directory = structure_cache_directory(&cause);
    return directory ? mem_printf("%s/" CACHE, directory) : NULL;
}

static void write_cache(const char *cache, const struct kernel_procedures *procedures)
{
    struct atomic_file file;
    size_t size;
    autofree char *cause = NULL, *list = kernel_symbols_listed(procedures, kernel.boot, &size);
    if (!atomic_file_begin(&file, cache, &cause))
        return;
    fwrite(list, 1, size, file.out);
    atomic_file_commit(&file, &cause);
}

/* As kernel_symbols_packed. */
static char *take_names(const uint64_t *offsets, size_t count, size_t *size)
{
    struct kernel_procedures procedures = {0};
    struct stat status;
    autofree char *cause = NULL, *cache = cache_path();
    const char *list = cache ? (const char *)input_map(cache, &status, &cause) : NULL;
    size_t list_size = list ? (size_t)status.st_size : 0;
    char *bytes = kernel_symbols_found(list, list_size, kernel.boot, offsets, count, size);
    if (bytes)
        return bytes;
    kernel_procedures_read(&procedures, kernel.start);
    if (cache && !kernel_symbols_are_of(list, list_size, kernel.boot))
        write_cache(cache, &procedures);
    bytes = kernel_symbols_packed(&procedures, kernel.boot, offsets, count, size);
    kernel_procedures_free(&procedures);
    return bytes;
}

static long save(const char *path, const uint64_t *offsets, size_t count)
{
    int directory;
    size_t size;
    long error = output_directory_open(&directory);
    if (error != 0)
        return error;
    autofree char *bytes = take_names(offsets, count, &size);
    error = kernel_names_append(directory, output_directory_name(directory, path), output_file_mode(), bytes, size);
    output_directory_close(directory);
    return error;
}

void kernel_code_save(void)
{
    char path[sizeof process.config.directory + sizeof process.host + sizeof KERNEL_SYMBOLS_SUFFIX];
    VEC(uint64_t) offsets = {0};
    for (size_t i = 0; kernel.offsets && i < MAX_OFFSETS; i++)
        if (kernel.offsets[i])
            vec_push(&offsets, kernel.offsets[i]);
    if (offsets.n == 0)
        return;
    identify_host();
    qsort(offsets.at, offsets.n, sizeof *offsets.at, by_value);
    snprintf(path, sizeof path, "%s/%s" KERNEL_SYMBOLS_SUFFIX, process.config.directory, process.host);
    long error = save(path, offsets.at, offsets.n);
    vec_free(&offsets);
    if (error)
        diag_error(path, "%s: the kernel's code is shown without names", strerror((int)-error));
}
