#include "hpcrun/code/module-list.h"

#include "hpcrun/base/sys.h"

#include <link.h>
#include <string.h>

/* Room for some hundred modules. Twice as much is tried until the list fits. */
#define FIRST_BYTES (64u << 10)
#define MOST_BYTES  (16u << 20)

#define MOST_NOTE_BYTES (64u << 10)

/* A list under construction. Modules grow from its begin, copies from its end. */
struct listing {
    struct module_list *list;
    char *copies;
    bool is_full;
};

static int read_changes(struct dl_phdr_info *info, size_t size, void *changes)
{
    (void)size;
    *(unsigned long long *)changes = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

unsigned long long module_list_changes(void)
{
    unsigned long long changes = 0;
    dl_iterate_phdr(read_changes, &changes);
    return changes;
}

/* A copy below those that were made before; NULL and is_full if there is no room. */
static void *copy(struct listing *listing, const void *from, size_t bytes)
{
    const struct module_list *list = listing->list;
    size_t room = (size_t)(listing->copies - (char *)(list->at + list->count));
    if (listing->is_full || room < bytes) {
        listing->is_full = true;
        return NULL;
    }
    listing->copies -= bytes;
    return memcpy(listing->copies, from, bytes);
}

/* The readable segment of the file that has an address; NULL: none. */
static const ElfW(Phdr) * segment_with(const struct dl_phdr_info *info, uint64_t address)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R &&
            address - (info->dlpi_addr + segment->p_vaddr) < segment->p_filesz)
            return segment;
    }
    return NULL;
}

static struct listed_notes copy_notes(struct listing *listing, const struct dl_phdr_info *info,
                                      const ElfW(Phdr) * notes)
{
    uint64_t address = info->dlpi_addr + notes->p_vaddr;
    const ElfW(Phdr) *segment = segment_with(info, address);
    if (!segment || notes->p_memsz > MOST_NOTE_BYTES ||
        notes->p_vaddr + notes->p_memsz > segment->p_vaddr + segment->p_filesz)
        return (struct listed_notes){0};
    const void *bytes = copy(listing, (const void *)address, notes->p_memsz);
    return (struct listed_notes){address, bytes, bytes ? notes->p_memsz : 0,
                                 notes->p_align == 8 ? 8 : 4};
}

static void add_segments(struct listing *listing, struct listed_module *module,
                         const struct dl_phdr_info *info)
{
    unsigned notes = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type == PT_LOAD) {
            module->start = start < module->start ? start : module->start;
            module->end = end > module->end ? end : module->end;
        } else if (segment->p_type == PT_NOTE && notes < LISTED_NOTES) {
            module->notes[notes++] = copy_notes(listing, info, segment);
        }
    }
}

/* Callback of dl_iterate_phdr, which holds the loader's lock. */
static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct listing *listing = data;
    struct module_list *list = listing->list;
    struct listed_module module = {.start = UINT64_MAX, .bias = info->dlpi_addr};
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    list->changes = info->dlpi_adds + info->dlpi_subs;
    if (listing->copies - (char *)(list->at + list->count) < (ptrdiff_t)sizeof module) {
        listing->is_full = true;
        return 1;
    }
    struct listed_module *added = &list->at[list->count++];
    module.path = copy(listing, path, strlen(path) + 1);
    add_segments(listing, &module, info);
    *added = module;
    return listing->is_full;
}

bool module_list_make(struct module_list *list)
{
    for (size_t bytes = FIRST_BYTES; bytes <= MOST_BYTES; bytes *= 2) {
        char *memory = sys_pages(bytes);
        *list = (struct module_list){.at = (struct listed_module *)memory, .bytes = bytes};
        struct listing listing = {list, memory + bytes, false};
        if (!memory)
            break;
        dl_iterate_phdr(add_module, &listing);
        if (!listing.is_full)
            return true;
        module_list_free(list);
    }
    *list = (struct module_list){0};
    return false;
}

void module_list_free(struct module_list *list)
{
    if (list->at)
        sys_pages_free(list->at, list->bytes);
    *list = (struct module_list){0};
}

bool module_is_same(const struct listed_module *a, const struct listed_module *b)
{
    bool is_same = a->start == b->start && a->end == b->end && strcmp(a->path, b->path) == 0;
    for (unsigned i = 0; i < LISTED_NOTES && is_same; i++)
        is_same = a->notes[i].bytes == b->notes[i].bytes &&
                  (a->notes[i].bytes == 0 ||
                   memcmp(a->notes[i].copy, b->notes[i].copy, a->notes[i].bytes) == 0);
    return is_same;
}
