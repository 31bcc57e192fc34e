#include "hpcrun/outside/foreign-modules.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/outside/linked-agents.h"
#include "hpcrun/process/process.h"
#include "lib/binary-search.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MODULES 4096

struct foreign_module {
    struct module_image image;
    uint64_t inode;
    unsigned major, minor;
};

static struct {
    struct foreign_module *at[MAX_MODULES]; /* in order of their addresses */
    unsigned count, missing;
    struct known_code known;
} modules;

static size_t first_ending_after(uint64_t address)
{
    return partition_point(i, modules.count, modules.at[i]->image.end <= address);
}

bool module_range_find(uint64_t address, struct module_range *range)
{
    size_t i = first_ending_after(address);
    if (i == modules.count || address < modules.at[i]->image.start)
        return false;
    const struct module_image *image = &modules.at[i]->image;
    bool is_main = strcmp(image->path, process.executable) == 0;
    *range = (struct module_range){.start = image->start,
                                   .end = image->end,
                                   .bias = image->bias,
                                   .name = is_main ? "" : image->path,
                                   .eh_frame_hdr = image->eh_frame_hdr};
    return true;
}

bool module_range_bounds(uint64_t address, uint64_t *start, uint64_t *end)
{
    struct module_range range;
    if (!module_range_find(address, &range))
        return false;
    *start = range.start;
    *end = range.end;
    return true;
}

void module_ranges_refresh(void)
{
}

/* ---- changes ---- */

static void remove_at(size_t i)
{
    linked_agents_remove(&modules.at[i]->image);
    module_image_remove(&modules.at[i]->image);
    free(modules.at[i]);
    modules.count--;
    memmove(&modules.at[i], &modules.at[i + 1], (modules.count - i) * sizeof *modules.at);
}

/* Whether the module is gone. Memory without a file may be a part of its .bss that the program has made executable: it
 * has replaced the module if it lies where bytes of the file were. */
static bool is_replaced(const struct module_image *image, const struct mapping *mapping)
{
    bool is_replaced = mapping_is_module(mapping);
    for (unsigned i = 0; i < image->segment_count; i++) {
        uint64_t at = image->segments[i].at;
        is_replaced |= at < image->end && at < mapping->end && mapping->start < at + image->segments[i].size;
    }
    return is_replaced;
}

static void remove_replaced(const struct mapping *mapping)
{
    size_t i = first_ending_after(mapping->start);
    while (i < modules.count && modules.at[i]->image.start < mapping->end) {
        if (!is_replaced(&modules.at[i]->image, mapping)) {
            i++;
            continue;
        }
        modules_unload_begin();
        remove_at(i);
        modules_unload_end();
    }
}

static void insert(struct foreign_module *module)
{
    size_t i = first_ending_after(module->image.start);
    memmove(&modules.at[i + 1], &modules.at[i], (modules.count - i) * sizeof *modules.at);
    modules.at[i] = module;
    modules.count++;
}

static bool is_file_of(const struct foreign_module *module, const struct mapping *mapping)
{
    return module->inode == mapping->inode && module->major == mapping->major && module->minor == mapping->minor;
}

/* Another mapping of a module that is there already. */
static bool is_known(const struct mapping *mapping)
{
    size_t i = first_ending_after(mapping->start);
    return i < modules.count && mapping->start >= modules.at[i]->image.start && is_file_of(modules.at[i], mapping);
}

/* Whether the file is a module elsewhere: libffi maps a page of its own file for each few functions that it makes. */
static bool is_file_known(const struct mapping *mapping)
{
    bool is_known = false;
    for (unsigned i = 0; i < modules.count && mapping->inode != 0; i++)
        is_known |= is_file_of(modules.at[i], mapping);
    return is_known;
}

static bool is_libc(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && (strncmp(slash, "/libc.so.", 9) == 0 || strncmp(slash, "/libc-2.", 8) == 0 ||
                     strncmp(slash, "/ld-musl-", 9) == 0);
}

static void know(const struct foreign_module *module, bool is_vdso)
{
    if (is_vdso)
        modules.known.vdso = module->image.start;
    else if (is_libc(module->image.path))
        modules.known.libc = module->image.start;
    else
        return;
    modules_know(&modules.known);
}

static bool is_vdso_path(const char *path)
{
    return strcmp(path, "[vdso]") == 0;
}

/* Memory without a file has inode 0, and the path "//anon" in perf's records. */
bool mapping_is_module(const struct mapping *mapping)
{
    return (mapping->path[0] == '/' && mapping->inode != 0) || is_vdso_path(mapping->path);
}

/* Memory that can be shared: a file only to the kernel, often with code that the process has made itself. */
static bool is_memory(const char *path)
{
    static const char *const kinds[] = {"/memfd:", "/dev/zero", "/SYSV"};
    bool is_kind = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        is_kind |= strncmp(path, kinds[i], strlen(kinds[i])) == 0;
    return is_kind;
}

void foreign_modules_add(const struct mapping *mapping)
{
    bool is_vdso = is_vdso_path(mapping->path), is_module = mapping_is_module(mapping);
    if (is_module && is_known(mapping))
        return;
    remove_replaced(mapping);
    if (!is_module)
        return;
    struct foreign_module *module = calloc(1, sizeof *module);
    if (!module || modules.count == MAX_MODULES ||
        module_image_place(&module->image, mapping) != IMAGE_PLACED) {
        modules.missing += !is_vdso && !is_memory(mapping->path) && !is_file_known(mapping);
        free(module);
        return;
    }
    module->inode = mapping->inode;
    module->major = mapping->major;
    module->minor = mapping->minor;
    insert(module);
    linked_agents_add(&module->image);
    know(module, is_vdso);
}

void foreign_modules_visit(void (*visit)(const struct module_image *image))
{
    for (unsigned i = 0; i < modules.count; i++)
        visit(&modules.at[i]->image);
}

unsigned foreign_modules_missing(void)
{
    return modules.missing;
}
