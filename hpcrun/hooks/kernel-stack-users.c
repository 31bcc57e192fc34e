#include "hpcrun/hooks/kernel-stack-users.h"

#include "hpcrun/code/module-ranges.h"
#include "lib/elf-notes.h"

#define OWNER "Go"

static bool has_note(const Elf64_Phdr *header, uint64_t bias)
{
    size_t bytes;
    const uint8_t *notes = (const uint8_t *)(uintptr_t)(bias + header->p_vaddr);
    return header->p_type == PT_NOTE &&
           elf_note_find(notes, header->p_memsz, header->p_align == 8 ? 8 : 4, OWNER, &bytes);
}

bool uses_kernel_stack(const void *handler)
{
    struct module_range module;
    if (!module_range_find((uint64_t)(uintptr_t)handler, &module))
        return false;
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)(uintptr_t)module.start;
    const Elf64_Phdr *headers = (const Elf64_Phdr *)(uintptr_t)(module.start + elf->e_phoff);
    for (unsigned i = 0; i < elf->e_phnum; i++)
        if (has_note(&headers[i], module.bias))
            return true;
    return false;
}
