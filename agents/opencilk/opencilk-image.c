#include "agents/opencilk/opencilk-image.h"

#include "agents/common/linked-runtime.h"
#include "lib/binary-search.h"

#include <string.h>

struct image_search {
    const struct agent_module *module;
    struct image *image;
};

static int match(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct image_search *search = data;
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    (void)size;
    if (info->dlpi_addr != search->module->bias || strcmp(path, search->module->path) != 0)
        return 0;
    *search->image = (struct image){.bias = info->dlpi_addr,
                                    .headers = info->dlpi_phdr,
                                    .header_count = info->dlpi_phnum,
                                    .tls_module = info->dlpi_tls_modid};
    return 1;
}

static const ElfW(Phdr) * header_of(const struct image *image, uint32_t type)
{
    for (size_t i = 0; i < image->header_count; i++)
        if (image->headers[i].p_type == type)
            return &image->headers[i];
    return NULL;
}

static void read_dynamic(struct image *image, const ElfW(Dyn) * at)
{
    for (; at->d_tag != DT_NULL; at++) {
        const void *pointer = (const void *)at->d_un.d_ptr;
        size_t entries = at->d_un.d_val / sizeof(ElfW(Rela));
        switch (at->d_tag) {
        case DT_SYMTAB: image->symbols = pointer; break;
        case DT_STRTAB: image->names = pointer; break;
        case DT_GNU_HASH: image->hash = pointer; break;
        case DT_RELA: image->relocations[0].at = pointer; break;
        case DT_RELASZ: image->relocations[0].count = entries; break;
        case DT_JMPREL: image->relocations[1].at = pointer; break;
        case DT_PLTRELSZ: image->relocations[1].count = entries; break;
        default: break;
        }
    }
}

/* Symbols of the runtime that the agent uses. */
static const char *const linked_names[IMAGE_LINKED] = {
    "__cilkrts_tls_worker",        "__cilkrts_current_fh",   "__cilkrts_need_to_cilkify",
    "hpctoolkit_opencilk_working", "Cilk_exception_handler", "__cilkrts_sync"};

static void add_linked(const struct symbol *symbol, void *data)
{
    struct image *image = data;
    for (unsigned i = 0; i < IMAGE_LINKED; i++)
        if (symbol->is_global && strcmp(symbol->name, linked_names[i]) == 0)
            image->linked[i] = (struct image_linked){
                linked_names[i], {.st_value = symbol->address, .st_size = symbol->size}};
}

bool image_of(const struct agent_module *module, struct image *image)
{
    struct image_search search = {module, image};
    if (!dl_iterate_phdr(match, &search))
        return false;
    const ElfW(Phdr) *dynamic = header_of(image, PT_DYNAMIC);
    /* The loader relocates the pointers in the dynamic section if the section is writable. */
    if (!dynamic || !(dynamic->p_flags & PF_W))
        return false;
    read_dynamic(image, (const void *)(image->bias + dynamic->p_vaddr));
    if (!module->path[0])
        symbols_visit("", add_linked, image);
    return image->symbols && image->names;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    while (*name)
        hash = hash * 33 + (uint8_t)*name++;
    return hash;
}

static const ElfW(Sym) * exported_symbol(const struct image *image, const char *name)
{
    if (!image->hash || image->hash[0] == 0)
        return NULL;
    uint32_t bucket_count = image->hash[0], first = image->hash[1], hash = hash_of(name);
    const uint32_t *buckets = image->hash + 4 + (size_t)image->hash[2] * 2;
    const uint32_t *chain = buckets + bucket_count;
    for (uint32_t i = buckets[hash % bucket_count]; i >= first; i++) {
        uint32_t other = chain[i - first];
        const ElfW(Sym) *symbol = &image->symbols[i];
        if ((other | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            strcmp(image->names + symbol->st_name, name) == 0)
            return symbol;
        if (other & 1)
            break;
    }
    return NULL;
}

const ElfW(Sym) * image_symbol(const struct image *image, const char *name)
{
    const ElfW(Sym) *symbol = exported_symbol(image, name);
    for (unsigned i = 0; i < IMAGE_LINKED && !symbol; i++)
        if (image->linked[i].name && strcmp(image->linked[i].name, name) == 0)
            symbol = &image->linked[i].symbol;
    return symbol;
}

uint64_t image_slot(const struct image *image, const char *name)
{
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *at = image->relocations[table].at;
        for (size_t i = 0; at && i < image->relocations[table].count; i++) {
            uint64_t type = ELF64_R_TYPE(at[i].r_info);
            if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
                strcmp(image->names + image->symbols[ELF64_R_SYM(at[i].r_info)].st_name, name) == 0)
                return image->bias + at[i].r_offset;
        }
    }
    return 0;
}

uint64_t image_tls_template(const struct image *image)
{
    const ElfW(Phdr) *header = header_of(image, PT_TLS);
    return header ? image->bias + header->p_vaddr : 0;
}

/* -------- the unwind table: .eh_frame_hdr in the form that linkers write -------- */

enum { VERSION, FRAMES_ENCODING, COUNT_ENCODING, TABLE_ENCODING, COUNT = 8, ENTRIES = 12 };

#define ENCODING_UDATA4         0x03
#define ENCODING_SDATA4_DATAREL 0x3b

struct table_entry {
    int32_t function, description; /* relative to the table */
};

bool image_function(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end)
{
    const ElfW(Phdr) *header = header_of(image, PT_GNU_EH_FRAME);
    if (!header)
        return false;
    uint64_t base = image->bias + header->p_vaddr;
    const uint8_t *table = (const void *)base;
    if (table[VERSION] != 1 || table[COUNT_ENCODING] != ENCODING_UDATA4 ||
        table[TABLE_ENCODING] != ENCODING_SDATA4_DATAREL)
        return false;
    const struct table_entry *entries = (const void *)(table + ENTRIES);
    size_t n = partition_point(i, *(const uint32_t *)(table + COUNT),
                               base + (uint64_t)(int64_t)entries[i].function <= address);
    if (n == 0)
        return false;
    const struct table_entry *entry = &entries[n - 1];
    *start = base + (uint64_t)(int64_t)entry->function;
    /* The FDE: length, CIE, function, size, 32 bits each; the function is relative to its field.
     * With another encoding the function would differ from the table's. */
    uint64_t description = base + (uint64_t)(int64_t)entry->description;
    int32_t field[4];
    memcpy(field, (const void *)description, sizeof field);
    *end = *start + (uint32_t)field[3];
    return description + 8 + (uint64_t)(int64_t)field[2] == *start && address < *end;
}
