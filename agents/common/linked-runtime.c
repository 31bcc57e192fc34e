#include "agents/common/linked-runtime.h"

#include "lib/elf-sections.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------- symbols -------- */

static bool map_file(const char *path, struct elf_file *file)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    void *at = MAP_FAILED;
    if (fstat(fd, &status) == 0 && status.st_size > 0)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return false;
    *file = (struct elf_file){at, (size_t)status.st_size};
    return true;
}

/* The symbol table, or NULL; *strings is its string table. */
static const Elf64_Shdr *symbol_table(const struct elf_file *file, const Elf64_Shdr **strings)
{
    unsigned count = 0;
    const Elf64_Shdr *all = elf_file_sections(file, &count), *found = NULL;
    for (unsigned i = 0; all && i < count; i++)
        if (all[i].sh_type == SHT_SYMTAB || (all[i].sh_type == SHT_DYNSYM && !found))
            found = &all[i];
    if (!found || found->sh_link >= count || found->sh_offset % _Alignof(Elf64_Sym) != 0)
        return NULL;
    *strings = &all[found->sh_link];
    bool fits = elf_file_holds(file, found->sh_offset, found->sh_size) &&
                elf_file_holds(file, (*strings)->sh_offset, (*strings)->sh_size);
    return fits ? found : NULL;
}

/* The name at an offset in a string table; NULL if it is not terminated there. */
static const char *name_at(const struct elf_file *file, const Elf64_Shdr *strings, uint64_t offset)
{
    const char *name = file->at + strings->sh_offset + offset;
    if (offset >= strings->sh_size || !memchr(name, 0, strings->sh_size - offset))
        return NULL;
    return name;
}

/* Linkers make hidden symbols local, but keep their visibility. */
static bool is_global(const Elf64_Sym *symbol)
{
    return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL ||
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN;
}

bool symbols_visit(const char *path, void (*visit)(const struct symbol *symbol, void *data),
                   void *data)
{
    struct elf_file file;
    const Elf64_Shdr *strings = NULL;
    if (!map_file(path[0] ? path : "/proc/self/exe", &file))
        return false;
    const Elf64_Shdr *table = symbol_table(&file, &strings);
    const Elf64_Sym *symbols = table ? (const void *)(file.at + table->sh_offset) : NULL;
    for (size_t i = 0; table && i < table->sh_size / sizeof *symbols; i++) {
        const Elf64_Sym *it = &symbols[i];
        struct symbol symbol = {.name = name_at(&file, strings, it->st_name),
                                .address = it->st_value,
                                .size = it->st_size,
                                .is_function = ELF64_ST_TYPE(it->st_info) == STT_FUNC,
                                .is_global = is_global(it)};
        if (symbol.name && it->st_shndx != SHN_UNDEF)
            visit(&symbol, data);
    }
    munmap((void *)file.at, file.size);
    return table != NULL;
}

/* -------- the runtime's code -------- */

/* A function of the program that is visible outside its source file. */
struct function {
    uint64_t start, end;
    bool is_runtimes;
};

struct function_list {
    const char *const *names;
    struct function *at;
    size_t count, room;
    bool is_out_of_memory;
};

static bool is_listed(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

static void add_function(const struct symbol *symbol, void *data)
{
    struct function_list *list = data;
    if (!symbol->is_function || !symbol->is_global || list->is_out_of_memory)
        return;
    if (list->count == list->room) {
        list->room = list->room * 2 + 256;
        struct function *more = realloc(list->at, list->room * sizeof *more);
        list->is_out_of_memory = !more;
        if (!more)
            return;
        list->at = more;
    }
    list->at[list->count++] =
        (struct function){symbol->address, symbol->address + symbol->size,
                          symbol->size > 0 && is_listed(list->names, symbol->name)};
}

/* By address; among aliases of a function the runtime's name comes last. */
static int compare(const void *a, const void *b)
{
    const struct function *first = a, *second = b;
    if (first->start != second->start)
        return (first->start > second->start) - (first->start < second->start);
    return first->is_runtimes - second->is_runtimes;
}

/* Keeps the last one of the aliases of a function; returns the number of functions. */
static size_t drop_aliases(struct function *at, size_t count)
{
    size_t functions = 0;
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || at[i + 1].start != at[i].start)
            at[functions++] = at[i];
    return functions;
}

/* Joins consecutive functions of the runtime into ranges, in place; returns their number. */
static size_t join_ranges(struct function *at, size_t count)
{
    size_t ranges = 0;
    for (size_t i = 0; i < count; i++) {
        if (!at[i].is_runtimes)
            continue;
        if (i > 0 && at[i - 1].is_runtimes)
            at[ranges - 1].end = at[i].end;
        else
            at[ranges++] = at[i];
    }
    return ranges;
}

struct agent_claim *linked_runtime(const struct agent_module *module, const char *const *functions,
                                   uint32_t tag, size_t *count)
{
    struct function_list list = {.names = functions};
    struct agent_claim *claims = NULL;
    if (symbols_visit(module->path, add_function, &list) && !list.is_out_of_memory &&
        list.count > 0) {
        qsort(list.at, list.count, sizeof *list.at, compare);
        *count = join_ranges(list.at, drop_aliases(list.at, list.count));
        claims = *count ? malloc(*count * sizeof *claims) : NULL;
    }
    for (size_t i = 0; claims && i < *count; i++)
        claims[i] = (struct agent_claim){module->bias + list.at[i].start,
                                         module->bias + list.at[i].end, tag};
    free(list.at);
    return claims;
}
