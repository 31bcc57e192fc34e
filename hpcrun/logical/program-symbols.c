#include "hpcrun/logical/program-symbols.h"

#include "hpcrun/base/sys.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

/* Larger tables are not searched: every process would start milliseconds later. */
#define MOST_BYTES_OF_NAMES (2u << 20)

struct file {
    const char *at;
    size_t size;
};

static struct file map_program(void)
{
    struct file file = {0};
    struct stat status;
    long fd = sys4(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return file;
    if (sys2(SYS_fstat, fd, &status) == 0 && status.st_size > 0) {
        long at = sys6(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at > 0)
            file = (struct file){(const char *)at, (size_t)status.st_size};
    }
    sys1(SYS_close, fd);
    return file;
}

static bool holds(const struct file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

/* The section headers; NULL when they are not within the file. */
static const Elf64_Shdr *sections(const struct file *file, unsigned *count)
{
    const Elf64_Ehdr *header = (const void *)file->at;
    if (!holds(file, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        !holds(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    *count = header->e_shnum;
    return (const void *)(file->at + header->e_shoff);
}

/* With the 0 at its end; a longer name that ends so is none of ours, but is found, too. */
static bool has_name(const struct file *file, const Elf64_Shdr *strings, const char *name)
{
    return strings->sh_size <= MOST_BYTES_OF_NAMES &&
           holds(file, strings->sh_offset, strings->sh_size) &&
           memmem(file->at + strings->sh_offset, strings->sh_size, name, strlen(name) + 1);
}

bool program_has_symbol(const char *name)
{
    struct file file = map_program();
    unsigned count = 0;
    const Elf64_Shdr *all = file.at ? sections(&file, &count) : NULL;
    bool found = false;
    for (unsigned i = 0; all && i < count && !found; i++)
        if ((all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM) &&
            all[i].sh_link < count)
            found = has_name(&file, &all[all[i].sh_link], name);
    sys_pages_free((void *)file.at, file.size);
    return found;
}
