#include "hpcrun/code/module-ranges.h"

#include "hpcrun/base/lock.h"
#include "lib/binary-search.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>

/* Weak: absent from a glibc older than 2.35. */
#pragma weak _dl_find_object

#define MAX_MODULES 4096

/* Readers use the current table while the other one is filled. */
static struct table {
    unsigned count;
    struct module_range at[MAX_MODULES];
} tables[2];
static _Atomic(struct table *) current = &tables[0];
static bool own_table;

static bool find_in_table(uint64_t address, struct module_range *range)
{
    const struct table *table = atomic_load_explicit(&current, memory_order_acquire);
    size_t found = partition_point(i, table->count, table->at[i].end <= address);
    if (found == table->count || address < table->at[found].start)
        return false;
    *range = table->at[found];
    return true;
}

static bool loader_has_table(void)
{
    return _dl_find_object && !own_table;
}

bool module_range_find(uint64_t address, struct module_range *range)
{
    if (!loader_has_table())
        return find_in_table(address, range);
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)address, &found) != 0)
        return false;
    range->start = (uint64_t)(uintptr_t)found.dlfo_map_start;
    range->end = (uint64_t)(uintptr_t)found.dlfo_map_end;
    range->bias = found.dlfo_link_map->l_addr;
    range->name = found.dlfo_link_map->l_name;
    range->eh_frame_hdr = found.dlfo_eh_frame;
    return true;
}

bool module_range_bounds(uint64_t address, uint64_t *start, uint64_t *end)
{
    struct module_range range;
    struct dl_find_object found;
    if (loader_has_table()) {
        if (_dl_find_object((void *)(uintptr_t)address, &found) != 0)
            return false;
        range.start = (uint64_t)(uintptr_t)found.dlfo_map_start;
        range.end = (uint64_t)(uintptr_t)found.dlfo_map_end;
    } else if (!find_in_table(address, &range)) {
        return false;
    }
    *start = range.start;
    *end = range.end;
    return true;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct table *table = data;
    struct module_range range = {
        .start = UINT64_MAX, .bias = info->dlpi_addr, .name = info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_EH_FRAME)
            range.eh_frame_hdr = (const uint8_t *)(uintptr_t)start;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < range.start)
            range.start = start & ~(uint64_t)4095;
        if (start + segment->p_memsz > range.end)
            range.end = start + segment->p_memsz;
    }
    if (range.start >= range.end || table->count == MAX_MODULES)
        return 0;
    unsigned at = table->count++;
    for (; at > 0 && table->at[at - 1].start > range.start; at--)
        table->at[at] = table->at[at - 1];
    table->at[at] = range;
    return 0;
}

void module_ranges_refresh(void)
{
    if (loader_has_table())
        return;
    static struct lock refresh;
    lock_enter(&refresh);
    struct table *next = &tables[atomic_load(&current) == &tables[0]];
    next->count = 0;
    dl_iterate_phdr(add_module, next);
    atomic_store_explicit(&current, next, memory_order_release);
    lock_leave(&refresh);
}

void module_ranges_use_own_table(bool use)
{
    own_table = use;
    module_ranges_refresh();
}
