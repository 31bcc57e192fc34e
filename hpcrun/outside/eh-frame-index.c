#include "hpcrun/outside/eh-frame-index.h"

#include "lib/cfi-decode.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Most entries of a module. Chrome has 500,000. */
#define MAX_ENTRIES (1u << 22)

struct entry {
    uint64_t begin, fde;
};

struct entries {
    struct entry *at;
    size_t n, room;
};

static bool add(struct entries *entries, struct entry entry)
{
    if (entries->n == entries->room) {
        size_t room = entries->room ? 2 * entries->room : 1024;
        struct entry *grown =
            room > MAX_ENTRIES ? NULL : realloc(entries->at, room * sizeof *grown);
        if (!grown)
            return false;
        entries->at = grown;
        entries->room = room;
    }
    entries->at[entries->n++] = entry;
    return true;
}

/* Parses the FDE whose contents the cursor is at. Its id, at `id_at`, is the distance back to its CIE. */
static bool read_fde(struct cfi_cursor c, const uint8_t *section, const uint8_t *id_at,
                     uint64_t distance, struct entry *entry)
{
    struct cfi_cie cie;
    struct cfi_fde fde;
    if (distance > (uint64_t)(id_at - section))
        return false;
    struct cfi_cursor at_cie = {.at = id_at - distance, .end = c.end, .bias = c.bias};
    at_cie = cfi_entry(&at_cie);
    if (at_cie.bad || cfi_uint(&at_cie, 4) != 0 || !cfi_parse_cie(&at_cie, &cie) ||
        !cfi_parse_fde(&c, &cie, &fde))
        return false;
    entry->begin = fde.begin;
    return fde.range > 0;
}

static void read_entries(struct entries *entries, const struct eh_frame_copy *section)
{
    if (section->size == 0)
        return;
    uint64_t bias = section->address - (uint64_t)(uintptr_t)section->at;
    struct cfi_cursor all = {.at = section->at, .end = section->at + section->size, .bias = bias};
    while (!all.bad && all.end - all.at >= 8) {
        struct entry entry = {.fde = (uint64_t)(uintptr_t)all.at + bias};
        struct cfi_cursor c = cfi_entry(&all);
        const uint8_t *id_at = c.at;
        if (all.bad || c.bad || c.at == c.end)
            return; /* the section's end, or damage */
        uint64_t distance = cfi_uint(&c, 4);
        if (distance != 0 && read_fde(c, section->at, id_at, distance, &entry) && !add(entries, entry))
            return;
    }
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The index holds 32-bit distances: it must lie within 2 GB of the code. */
#define STEP  (16u << 20)
#define TRIES 64

uint8_t *map_near(uint64_t near, size_t size)
{
    for (uint64_t i = 1; i <= TRIES; i++) {
        void *wanted = (void *)(uintptr_t)((near + i * STEP) & ~(uint64_t)4095);
        void *at = mmap(wanted, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (at == wanted)
            return at;
        if (at != MAP_FAILED) /* a kernel older than 4.17 */
            munmap(at, size);
    }
    return NULL;
}

#define HEADER_BYTES 12

static bool write_index(uint8_t *to, const struct entries *entries)
{
    uint64_t base = (uint64_t)(uintptr_t)to;
    to[0] = 1;
    to[1] = PE_UDATA4;
    to[2] = PE_UDATA4;
    to[3] = PE_DATAREL | PE_SDATA4;
    put_u32(to + 4, 0); /* the address of .eh_frame, which is not used */
    put_u32(to + 8, (uint32_t)entries->n);
    for (size_t i = 0; i < entries->n; i++) {
        int64_t begin = (int64_t)(entries->at[i].begin - base);
        int64_t fde = (int64_t)(entries->at[i].fde - base);
        if (begin != (int32_t)begin || fde != (int32_t)fde)
            return false;
        put_u32(to + HEADER_BYTES + 8 * i, (uint32_t)begin);
        put_u32(to + HEADER_BYTES + 8 * i + 4, (uint32_t)fde);
    }
    return true;
}

const uint8_t *eh_frame_index(const struct eh_frame_copy *sections, unsigned count, uint64_t near,
                              size_t *bytes)
{
    struct entries entries = {0};
    for (unsigned i = 0; i < count; i++)
        read_entries(&entries, &sections[i]);
    *bytes = HEADER_BYTES + 8 * entries.n;
    uint8_t *index = entries.n ? map_near(near, *bytes) : NULL;
    if (index) {
        qsort(entries.at, entries.n, sizeof *entries.at, compare);
        if (!write_index(index, &entries)) {
            munmap(index, *bytes);
            index = NULL;
        }
    }
    free(entries.at);
    return index;
}
