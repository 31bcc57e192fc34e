/* The section headers of an ELF file in memory, checked against its size, without libelf: for
 * agents and libhpcrun.so, which link to libc only. Safe in a signal handler. */
#ifndef LIB_ELF_SECTIONS_H
#define LIB_ELF_SECTIONS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct elf_file {
    const char *at; /* aligned as mmap does; NULL: no file */
    size_t size;    /* in bytes */
};

static inline bool elf_file_holds(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

/* The section headers, *count of them; NULL if there are none or they are malformed. */
static inline const Elf64_Shdr *elf_file_sections(const struct elf_file *file, unsigned *count)
{
    const Elf64_Ehdr *header = (const void *)file->at;
    if (!elf_file_holds(file, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        !elf_file_holds(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    *count = header->e_shnum;
    return (const void *)(file->at + header->e_shoff);
}

#endif
