#include "agents/common/elf-symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in memory. */
struct image {
    const char *at;
    size_t size;
};

static bool map_file(const char *path, struct image *image)
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
    *image = (struct image){at, (size_t)status.st_size};
    return true;
}

static bool holds(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset;
}

/* The section headers; NULL when there are none within the file. */
static const Elf64_Shdr *sections(const struct image *image, unsigned *count)
{
    const Elf64_Ehdr *header = (const void *)image->at;
    if (!holds(image, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        !holds(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    *count = header->e_shnum;
    return (const void *)(image->at + header->e_shoff);
}

/* The symbol table, or NULL; *strings is its string table. */
static const Elf64_Shdr *symbol_table(const struct image *image, const Elf64_Shdr **strings)
{
    unsigned count = 0;
    const Elf64_Shdr *all = sections(image, &count), *found = NULL;
    for (unsigned i = 0; all && i < count; i++)
        if (all[i].sh_type == SHT_SYMTAB || (all[i].sh_type == SHT_DYNSYM && !found))
            found = &all[i];
    if (!found || found->sh_link >= count || found->sh_offset % _Alignof(Elf64_Sym) != 0)
        return NULL;
    *strings = &all[found->sh_link];
    bool fits = holds(image, found->sh_offset, found->sh_size) &&
                holds(image, (*strings)->sh_offset, (*strings)->sh_size);
    return fits ? found : NULL;
}

/* The name at an offset in a string table; NULL when it doesn't end there. */
static const char *name_at(const struct image *image, const Elf64_Shdr *strings, uint64_t offset)
{
    const char *name = image->at + strings->sh_offset + offset;
    if (offset >= strings->sh_size || !memchr(name, 0, strings->sh_size - offset))
        return NULL;
    return name;
}

/* Hidden ones are local in linked programs. */
static bool is_global(const Elf64_Sym *symbol)
{
    return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL ||
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN;
}

bool symbols_visit(const char *path, void (*visit)(const struct symbol *symbol, void *data),
                   void *data)
{
    struct image image;
    const Elf64_Shdr *strings = NULL;
    if (!map_file(path[0] ? path : "/proc/self/exe", &image))
        return false;
    const Elf64_Shdr *table = symbol_table(&image, &strings);
    const Elf64_Sym *symbols = table ? (const void *)(image.at + table->sh_offset) : NULL;
    for (size_t i = 0; table && i < table->sh_size / sizeof *symbols; i++) {
        const Elf64_Sym *it = &symbols[i];
        struct symbol symbol = {.name = name_at(&image, strings, it->st_name),
                                .address = it->st_value,
                                .size = it->st_size,
                                .is_function = ELF64_ST_TYPE(it->st_info) == STT_FUNC,
                                .is_global = is_global(it)};
        if (symbol.name && it->st_shndx != SHN_UNDEF)
            visit(&symbol, data);
    }
    munmap((void *)image.at, image.size);
    return table != NULL;
}
