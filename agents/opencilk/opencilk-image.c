#include "agents/opencilk/opencilk-image.h"

#include "agents/common/linked-runtime.h"
#include "agents/common/loaded-modules.h"
#include "lib/binary-search.h"

#include <string.h>

static const ElfW(Phdr) * header_of(const struct image *image, uint32_t type)
{
    for (size_t i = 0; i < image->header_count; i++)
        if (image->headers[i].p_type == type)
            return &image->headers[i];
    return NULL;
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

static int read_headers(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct image *image = data;
    if (info->dlpi_addr != image->bias || !is_in_range(image->start, module_range(info)))
        return 0;
    image->headers = info->dlpi_phdr;
    image->header_count = info->dlpi_phnum;
    image->tls_module = info->dlpi_tls_modid;
    return 1;
}

static struct image_relocations relocations_at(const ElfW(Dyn) * dynamic, uint64_t bias,
                                               int64_t table, int64_t size)
{
    struct image_relocations found = {(const void *)dynamic_entry(dynamic, bias, table), 0};
    for (; found.at && dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == size)
            found.count = dynamic->d_un.d_val / sizeof(ElfW(Rela));
    return found;
}

bool image_of(const struct agent_module *module, struct image *image)
{
    *image = (struct image){.bias = module->bias, .start = module->start};
    if (!dl_iterate_phdr(read_headers, image))
        return false;
    const ElfW(Phdr) *dynamic = header_of(image, PT_DYNAMIC);
    if (!dynamic)
        return false;
    image->dynamic = (const void *)(image->bias + dynamic->p_vaddr);
    image->symbols = (const void *)dynamic_entry(image->dynamic, image->bias, DT_SYMTAB);
    image->names = (const char *)dynamic_entry(image->dynamic, image->bias, DT_STRTAB);
    image->relocations[0] = relocations_at(image->dynamic, image->bias, DT_RELA, DT_RELASZ);
    image->relocations[1] = relocations_at(image->dynamic, image->bias, DT_JMPREL, DT_PLTRELSZ);
    if (!module->path[0])
        symbols_visit("", add_linked, image);
    return image->symbols && image->names;
}

const ElfW(Sym) * image_symbol(const struct image *image, const char *name)
{
    const ElfW(Sym) *symbol = dynamic_symbol(image->dynamic, image->bias, name);
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
