#include "agents/common/loaded-modules.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- while the module stays ---- */

struct code_range module_range(const struct dl_phdr_info *info)
{
    struct code_range range = {UINT64_MAX, 0};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        range.start = start < range.start ? start : range.start;
        range.end = start + header->p_memsz > range.end ? start + header->p_memsz : range.end;
    }
    return range;
}

const ElfW(Dyn) * module_dynamic(const struct dl_phdr_info *info)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

uint64_t dynamic_entry(const ElfW(Dyn) * dynamic, uint64_t bias, int64_t tag)
{
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_ptr + (entry->d_un.d_ptr < bias ? bias : 0);
    return 0;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    while (*name)
        hash = hash * 33 + (uint8_t)*name++;
    return hash;
}

const ElfW(Sym) * dynamic_symbol(const ElfW(Dyn) * dynamic, uint64_t bias, const char *name)
{
    const uint32_t *table = (const void *)dynamic_entry(dynamic, bias, DT_GNU_HASH);
    const ElfW(Sym) *symbols = (const void *)dynamic_entry(dynamic, bias, DT_SYMTAB);
    const char *names = (const char *)dynamic_entry(dynamic, bias, DT_STRTAB);
    if (!table || table[0] == 0 || !symbols || !names)
        return NULL;
    uint32_t bucket_count = table[0], first = table[1], hash = hash_of(name);
    const uint32_t *buckets = table + 4 + (size_t)table[2] * 2;
    const uint32_t *chain = buckets + bucket_count;
    for (uint32_t i = buckets[hash % bucket_count]; i >= first; i++) {
        uint32_t other = chain[i - first];
        if ((other | 1) == (hash | 1) && symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(names + symbols[i].st_name, name) == 0)
            return &symbols[i];
        if (other & 1)
            break;
    }
    return NULL;
}

/* Whether the module is linked to a library whose name begins so. */
static bool needs(const struct dl_phdr_info *info, const char *library)
{
    const ElfW(Dyn) *dynamic = module_dynamic(info);
    const char *names = (const char *)dynamic_entry(dynamic, info->dlpi_addr, DT_STRTAB);
    size_t length = strlen(library);
    for (const ElfW(Dyn) *entry = dynamic; names && entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strncmp(names + entry->d_un.d_val, library, length) == 0)
            return true;
    return false;
}

/* ---- the main program, which dl_iterate_phdr lists first ---- */

struct need {
    const char *library;
    bool is_there;
};

static int ask_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct need *need = data;
    need->is_there = needs(info, need->library);
    return 1;
}

bool program_needs(const char *library)
{
    struct need need = {library, false};
    dl_iterate_phdr(ask_program, &need);
    return need.is_there;
}

static struct code_range program;
static pthread_once_t program_once = PTHREAD_ONCE_INIT;

static int take_first(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(struct code_range *)data = module_range(info);
    return 1;
}

static void find_program(void)
{
    dl_iterate_phdr(take_first, &program);
}

bool is_in_program(uint64_t address, struct code_range *range)
{
    pthread_once(&program_once, find_program);
    *range = program;
    return is_in_range(address, program);
}

/* ---- the only module that defines a symbol ---- */

struct definitions {
    const char *symbol;
    uint64_t except, user;
    unsigned count;
    struct code_range range; /* of the last module that defines it */
    char name[NAME_MAX + 1]; /* its DT_SONAME; "": none */
    bool is_users;           /* `user` is in that module, or in one that is linked to it */
};

static int find_definitions(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct definitions *found = data;
    const ElfW(Dyn) *dynamic = module_dynamic(info);
    struct code_range range = module_range(info);
    if (is_in_range(found->except, range) ||
        !dynamic_symbol(dynamic, info->dlpi_addr, found->symbol))
        return 0;
    found->count++;
    found->range = range;
    found->name[0] = '\0';
    const char *names = (const char *)dynamic_entry(dynamic, info->dlpi_addr, DT_STRTAB);
    for (; dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == DT_SONAME)
            strncpy(found->name, names + dynamic->d_un.d_val, sizeof found->name - 1);
    return 0;
}

static int ask_user(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct definitions *found = data;
    struct code_range range = module_range(info);
    if (!is_in_range(found->user, range))
        return 0;
    found->is_users =
        range.start == found->range.start || (found->name[0] && needs(info, found->name));
    return 1;
}

bool only_definition(const char *symbol, uint64_t except, uint64_t user, struct code_range *range)
{
    struct definitions found = {.symbol = symbol, .except = except, .user = user};
    dl_iterate_phdr(find_definitions, &found);
    if (found.count == 1)
        dl_iterate_phdr(ask_user, &found);
    *range = found.range;
    return found.is_users;
}

/* ---- pinned modules ---- */

struct place {
    uint64_t address, bias;
    const char *wanted;      /* path of the module that begins at the address; NULL: any that has it */
    struct code_range range; /* end 0: no module has the address */
    char path[PATH_MAX];
};

static int find_place(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct place *place = data;
    struct code_range range = module_range(info);
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    if (!is_in_range(place->address, range) || strlen(path) >= sizeof place->path ||
        (place->wanted && (range.start != place->address || strcmp(path, place->wanted) != 0)))
        return 0;
    place->bias = info->dlpi_addr;
    place->range = range;
    strcpy(place->path, path);
    return 1;
}

/* The process ends: destructors of libraries run. To open a library that others have brought would run its constructors
 * again. Of an agent that is preloaded, this runs first (hpcrun/logical/agent-loader.c); others open nothing then. */
static atomic_bool are_libraries_ending;

__attribute__((destructor)) static void libraries_end(void)
{
    atomic_store(&are_libraries_ending, true);
}

/* Once the module is open, its address says whether it is the one that was found: that one may have
 * been closed in between. */
bool module_pin(uint64_t address, const char *path, struct pinned_module *module)
{
    struct place place = {.address = address, .wanted = path};
    struct link_map *map = NULL;
    *module = (struct pinned_module){0};
    if (atomic_load(&are_libraries_ending))
        return false;
    dl_iterate_phdr(find_place, &place);
    void *library = place.range.end ? dlopen(place.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!library)
        return false;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map->l_addr != place.bias) {
        dlclose(library);
        return false;
    }
    *module = (struct pinned_module){library, map, place.range};
    return true;
}

void module_unpin(const struct pinned_module *module)
{
    dlclose(module->library);
}
