#include "hpcrun/hooks/kernel-stack-users.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/memory.h"
#include "lib/elf-notes.h"

#include <sys/auxv.h>

#define OWNER "Go"

#define MOST_NOTES 512 /* bytes of a segment that are looked at; Go's note has about 100 */

/* A tool that has changed the file may have moved headers out of what is mapped: the kernel reads. */
static bool read_memory(void *to, uint64_t from, size_t size)
{
    return guard_copy(to, from, size, false);
}

static bool has_note(const Elf64_Phdr *header, uint64_t bias)
{
    uint8_t notes[MOST_NOTES];
    size_t size = header->p_memsz < sizeof notes ? header->p_memsz : sizeof notes, bytes;
    return header->p_type == PT_NOTE && read_memory(notes, bias + header->p_vaddr, size) &&
           elf_note_find(notes, size, header->p_align == 8 ? 8 : 4, OWNER, &bytes);
}

/* Where the program headers of a module are; returns their number. The program's text may be a mapping
 * of its own, without them. */
static unsigned find_headers(const struct module_range *module, uint64_t *at)
{
    Elf64_Ehdr elf;
    if (!module->name || !module->name[0]) {
        *at = getauxval(AT_PHDR);
        return (unsigned)getauxval(AT_PHNUM);
    }
    if (!read_memory(&elf, module->start, sizeof elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
        return 0;
    *at = module->start + elf.e_phoff;
    return elf.e_phnum;
}

static bool has_note_of_owner(const struct module_range *module)
{
    Elf64_Phdr header;
    uint64_t at = 0;
    for (unsigned n = find_headers(module, &at); n > 0; n--, at += sizeof header)
        if (read_memory(&header, at, sizeof header) && has_note(&header, module->bias))
            return true;
    return false;
}

/* The module of the last handler, and its answer. A program may set its actions again and again: gnuplot
 * sets one for each value of a function. With 15 reads for each it took nine times its CPU time. */
static struct {
    uint64_t start, end;
    uint32_t generation; /* modules_generation() before the module was read */
    bool is_user;
} last;

bool uses_kernel_stack(const void *handler)
{
    uint64_t address = (uint64_t)(uintptr_t)handler;
    uint32_t generation = modules_generation();
    struct module_range module;
    if (address >= last.start && address < last.end && last.generation == generation)
        return last.is_user;
    if (!module_range_find(address, &module))
        return false;
    last.start = module.start;
    last.end = module.end;
    last.generation = generation;
    return last.is_user = has_note_of_owner(&module);
}
