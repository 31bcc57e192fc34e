#include "hpcstruct/elf/code-symbols.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static struct elf_bytes section_bytes(const struct elf_image *image, uint32_t index)
{
    if (index >= image->sections.n || image->sections.at[index].coding != ELF_PLAIN)
        return (struct elf_bytes){0};
    return image->sections.at[index].stored;
}

static bool is_code_symbol(const Elf64_Sym *symbol, const struct elf_image *code)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
           elf_code_at(code, symbol->st_value) != NULL;
}

/* Linkers append the version to names in .symtab. */
static const char *without_version(struct symbol_table *table, const char *name)
{
    const char *at = strchr(name, '@');
    if (!at || at == name)
        return name;
    char *copy = mem_strndup(name, (size_t)(at - name));
    vec_push(&table->owned, copy);
    return copy;
}

static void add_section(struct symbol_table *table, const struct elf_section *section,
                        const struct elf_image *from, const struct elf_image *code)
{
    struct elf_bytes symbols = section->stored;
    struct elf_bytes strings = section_bytes(from, section->link);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, symbols.at + at, sizeof symbol);
        const char *name = elf_string(strings, symbol.st_name);
        if (name[0] == '\0' || !is_code_symbol(&symbol, code))
            continue;
        const struct symbol new = {
            .address = symbol.st_value,
            .size = symbol.st_size,
            .name = without_version(table, name),
            .local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL,
            .function = ELF64_ST_TYPE(symbol.st_info) != STT_NOTYPE,
        };
        vec_push(&table->symbols, new);
    }
}

void symbols_add(struct symbol_table *table, const struct elf_image *from,
                 const struct elf_image *code)
{
    for (size_t i = 0; i < from->sections.n; i++) {
        const struct elf_section *section = &from->sections.at[i];
        if ((section->type == SHT_SYMTAB || section->type == SHT_DYNSYM) &&
            section->coding == ELF_PLAIN)
            add_section(table, section, from, code);
    }
}

/* Leading underscores mark internal names, except in mangled C++ names. */
static unsigned underscores(const char *name)
{
    if (strncmp(name, "_Z", 2) == 0)
        return 0;
    return (unsigned)strspn(name, "_");
}

/* Orders two names of one address: the better-known name first. */
static int by_name_quality(const struct symbol *x, const struct symbol *y)
{
    if (x->function != y->function)
        return x->function ? -1 : 1;
    if (x->local != y->local)
        return x->local ? 1 : -1;
    unsigned x_underscores = underscores(x->name), y_underscores = underscores(y->name);
    if (x_underscores != y_underscores)
        return x_underscores < y_underscores ? -1 : 1;
    size_t x_length = strlen(x->name), y_length = strlen(y->name);
    if (x_length != y_length)
        return x_length < y_length ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    int quality = by_name_quality(x, y);
    if (quality)
        return quality;
    return (x->size < y->size) - (x->size > y->size);
}

void symbols_sort(struct symbol_table *table)
{
    if (table->symbols.n == 0)
        return;
    struct symbol *all = table->symbols.at;
    qsort(all, table->symbols.n, sizeof *all, by_address);
    size_t kept = 1;
    for (size_t i = 1; i < table->symbols.n; i++) {
        const struct symbol *last = &all[kept - 1];
        if (all[i].address != last->address || strcmp(all[i].name, last->name) != 0)
            all[kept++] = all[i];
    }
    table->symbols.n = kept;
}

void symbols_free(struct symbol_table *table)
{
    for (size_t i = 0; i < table->owned.n; i++)
        free(table->owned.at[i]);
    vec_free(&table->owned);
    vec_free(&table->symbols);
}

size_t symbols_lower_bound(const struct symbol_table *table, uint64_t address)
{
    return sorted_below(&table->symbols, address, address);
}

const char *symbols_dynamic_name(const struct elf_image *image, uint64_t index)
{
    for (size_t i = 0; i < image->sections.n; i++) {
        const struct elf_section *section = &image->sections.at[i];
        if (section->type != SHT_DYNSYM || section->coding != ELF_PLAIN)
            continue;
        Elf64_Sym symbol;
        if (index >= section->stored.size / sizeof symbol)
            return NULL;
        memcpy(&symbol, section->stored.at + index * sizeof symbol, sizeof symbol);
        const char *name = elf_string(section_bytes(image, section->link), symbol.st_name);
        return name[0] ? name : NULL;
    }
    return NULL;
}
