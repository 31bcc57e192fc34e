#include "agents/common/dynamic-entries.h"

#include <dlfcn.h>
#include <string.h>

uint64_t dynamic_entry(const struct link_map *map, int64_t tag)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_ptr + (entry->d_un.d_ptr < map->l_addr ? map->l_addr : 0);
    return 0;
}

bool program_needs(const char *library)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    struct link_map *map = NULL;
    bool found = false;
    if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return false;
    const char *names = (const char *)dynamic_entry(map, DT_STRTAB);
    size_t length = strlen(library);
    for (const ElfW(Dyn) *entry = map->l_ld; names && entry && entry->d_tag != DT_NULL; entry++)
        found |=
            entry->d_tag == DT_NEEDED && strncmp(names + entry->d_un.d_val, library, length) == 0;
    dlclose(program);
    return found;
}
