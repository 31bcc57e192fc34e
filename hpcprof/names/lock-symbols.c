#include "hpcprof/names/lock-symbols.h"

#include "hpcprof/modules/code-bytes.h"
#include "hpcprof/modules/measured-binary.h"

#include "lib/path.h"

#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* "critical(NAME)": compilers name the mutex of such a section of OpenMP .gomp_critical_user_NAME, clang with ".var" after
 * it. NULL: it is no such mutex. */
static char *section_of(const char *symbol)
{
    static const char prefix[] = ".gomp_critical_user_", suffix[] = ".var";
    if (strncmp(symbol, prefix, strlen(prefix)) != 0)
        return NULL;
    symbol += strlen(prefix);
    size_t length = strlen(symbol), behind = strlen(suffix);
    if (length >= behind && strcmp(symbol + length - behind, suffix) == 0)
        length -= behind;
    return mem_printf(length ? "critical(%.*s)" : "critical", (int)length, symbol);
}

/* A lock at the begin of a small object is named like it: a struct that begins with its mutex. */
static char *name_of(const char *symbol, uint64_t offset)
{
    autofree char *section = section_of(symbol);
    autofree char *demangled = cplus_demangle(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    const char *name = section ? section : demangled ? demangled : symbol;
    char *result = offset ? mem_printf("<lock %s + %llu>", name, (unsigned long long)offset)
                          : mem_printf("<lock %s>", name);
    return result;
}

/* The name by one symbol table; NULL if no object in it contains the address. */
static char *find_in_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t address)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
            address < symbol.st_value || address - symbol.st_value >= symbol.st_size)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name && *name)
            return name_of(name, address - symbol.st_value);
    }
    return NULL;
}

static char *find_symbol(Elf *elf, uint64_t address)
{
    char *name = NULL;
    for (Elf_Scn *section = NULL; !name && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            name = find_in_section(elf, section, &header, address);
    }
    return name;
}

char *lock_symbol_name(const struct load_module *module, uint64_t address)
{
    char *cause = NULL, *name = NULL;
    if (binary_compare(module->path, module, &cause) == BINARY_MATCHES) {
        struct code_bytes file = code_bytes_open(module->path, false);
        if (file.elf && elf_kind(file.elf) == ELF_K_ELF)
            name = find_symbol(file.elf, address);
        code_bytes_close(&file);
    }
    free(cause);
    return name ? name
                : mem_printf("<lock at 0x%llx in %s>", (unsigned long long)address,
                             path_base(module->path));
}
