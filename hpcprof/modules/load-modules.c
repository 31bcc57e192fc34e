#include "hpcprof/modules/load-modules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

char *hexadecimal(const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char *text = mem_alloc(2 * size + 1);
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return text;
}

static char *module_key(const struct measurement_module *instance, const char *build_id)
{
    if (build_id[0] != '\0')
        return mem_strdup(build_id);
    return mem_printf("%s %llu %llx", instance->path, (unsigned long long)instance->file_size,
                      (unsigned long long)instance->header_hash);
}

static void add_path(struct load_modules *modules, uint32_t index, const char *path)
{
    uint32_t name = strtab_id(&modules->path_names, path);
    if (idmap_get(&modules->paths, index, name) != IDMAP_NONE)
        return;
    idmap_put(&modules->paths, index, name, 0);
    vec_push(&modules->all.at[index].paths, mem_strdup(path));
}

uint32_t load_modules_add(struct load_modules *modules, const struct measurement_module *instance)
{
    char *build_id = hexadecimal(instance->build_id, instance->build_id_size);
    autofree char *key = module_key(instance, build_id);
    uint32_t index = strtab_id(&modules->keys, key);
    if (index == modules->all.n) {
        const struct load_module new = {
            .build_id = build_id,
            .header_hash = instance->header_hash,
            .file_size = instance->file_size,
            .modified = instance->modified,
        };
        vec_push(&modules->all, new);
    } else {
        free(build_id);
    }
    add_path(modules, index, instance->path);
    struct load_module *module = &modules->all.at[index];
    module->is_used |= instance->used;
    module->is_replaced |= (instance->flags & MODULE_REPLACED) != 0;
    module->is_vdso |= (instance->flags & MODULE_VDSO) != 0;
    module->is_kernel |= (instance->flags & MODULE_KERNEL) != 0;
    return index;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void load_modules_sort_paths(struct load_modules *modules)
{
    for (size_t i = 0; i < modules->all.n; i++) {
        struct load_module *module = &modules->all.at[i];
        assert(module->paths.n > 0);
        qsort(module->paths.at, module->paths.n, sizeof *module->paths.at, by_text);
        module->path = module->paths.at[0];
    }
}

void load_modules_free(struct load_modules *modules)
{
    for (size_t i = 0; i < modules->all.n; i++) {
        struct load_module *module = &modules->all.at[i];
        for (size_t k = 0; k < module->paths.n; k++)
            free(module->paths.at[k]);
        vec_free(&module->paths);
        free(module->build_id);
    }
    vec_free(&modules->all);
    strtab_free(&modules->keys);
    strtab_free(&modules->path_names);
    idmap_free(&modules->paths);
}
