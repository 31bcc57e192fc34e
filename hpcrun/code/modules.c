#include "hpcrun/code/modules.h"

#include "hpcrun/base/sys.h"
#include "lib/measurement-format.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

/* Instances that there is room for; fewer where the process's address space is limited: it is the
 * program's. */
#define MAX_INSTANCES     (1u << 17)
#define LIMITED_INSTANCES (1u << 11)
#define PATH_BYTES        256        /* per instance, on average */
#define LIVE_SLOTS        (1u << 15) /* distinct start addresses, at most half full */

enum { FILLING, PUBLISHED };

static struct {
    uint32_t room;
    struct module_instance *at; /* room, reserved, touched as they come; NULL without memory */
    _Atomic uint8_t *state;
    _Atomic uint32_t end;
    char *paths; /* room * PATH_BYTES */
    _Atomic uint32_t paths_used;
    /* Open addressing by start address. A slot is (start >> 12) << 24 | live instance, instance 0
     * after a retirement; a slot once taken keeps its start, so that a start has one slot. */
    _Atomic uint64_t live[LIVE_SLOTS];
    _Atomic uint32_t live_count;
    _Atomic uint32_t generation;
    _Atomic bool met_code_outside, met_too_many;
    uint64_t vdso_start, libc_start, own_start;
    char main_path[PATH_MAX];
} modules;

static uint64_t start_of_module_with(const void *address)
{
    struct code_range range;
    return code_map_find((uint64_t)(uintptr_t)address, &range) ? range.start : 0;
}

static uint32_t room_for_instances(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    sys4(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? MAX_INSTANCES : LIMITED_INSTANCES;
}

static void reserve(uint32_t room)
{
    size_t instances = room * sizeof *modules.at, paths = (size_t)room * PATH_BYTES;
    char *block = sys_pages(instances + paths + room);
    if (!block)
        return;
    modules.at = (struct module_instance *)(void *)block;
    modules.paths = block + instances;
    modules.state = (_Atomic uint8_t *)(block + instances + paths);
    modules.room = room;
}

bool modules_init(const char *main_path, const void *own_code)
{
    strncpy(modules.main_path, main_path, sizeof modules.main_path - 1);
    modules.vdso_start = getauxval(AT_SYSINFO_EHDR);
    modules.libc_start = start_of_module_with((const void *)(uintptr_t)getauxval);
    modules.own_start = start_of_module_with(own_code);
    reserve(room_for_instances());
    atomic_store(&modules.end, INSTANCE_FIRST);
    return modules.at;
}

bool modules_is_own(const struct code_range *range)
{
    return range->start == modules.own_start;
}

uint32_t modules_generation(void)
{
    return atomic_load_explicit(&modules.generation, memory_order_acquire);
}

static const char *copy_path(const char *text)
{
    size_t size = strnlen(text, PATH_MAX) + 1;
    uint32_t at = atomic_fetch_add(&modules.paths_used, (uint32_t)size);
    if (at + size > (uint64_t)modules.room * PATH_BYTES)
        return "";
    memcpy(modules.paths + at, text, size - 1);
    return modules.paths + at;
}

static void read_build_id(struct module_instance *m, const uint8_t *note, uint64_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
        uint64_t name_size = (header->n_namesz + 3) & ~(uint64_t)3;
        uint64_t data_size = (header->n_descsz + 3) & ~(uint64_t)3;
        uint64_t total = sizeof *header + name_size + data_size;
        if (total > size)
            return;
        const uint8_t *name = note + sizeof *header;
        if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
            memcmp(name, "GNU", 4) == 0 && header->n_descsz <= sizeof m->build_id) {
            memcpy(m->build_id, name + name_size, header->n_descsz);
            m->build_id_size = (uint8_t)header->n_descsz;
            return;
        }
        note += total;
        size -= total;
    }
}

static uint64_t fnv1a(uint64_t hash, const uint8_t *data, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3u;
    return hash;
}

/* The build-id and the hash of the headers, when the mapping begins with an ELF header. */
static void read_headers(struct module_instance *m)
{
    const uint8_t *image = (const uint8_t *)(uintptr_t)m->start;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)image;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phnum > 128 ||
        header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff > 4096)
        return;
    uint64_t table_size = header->e_phnum * sizeof(ElfW(Phdr));
    m->hash = fnv1a(0xcbf29ce484222325u, image, sizeof *header);
    m->hash = fnv1a(m->hash, image + header->e_phoff, table_size);
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(image + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum && m->build_id_size == 0; i++)
        if (segment[i].p_type == PT_NOTE && segment[i].p_memsz < 65536)
            read_build_id(m, (const uint8_t *)(uintptr_t)(m->bias + segment[i].p_vaddr),
                          segment[i].p_memsz);
}

static void describe(struct module_instance *m, const struct code_range *range)
{
    m->start = range->start;
    m->end = range->end;
    m->bias = range->bias;
    m->generation = modules_generation();
    bool is_main = !range->name || range->name[0] == '\0';
    if (range->start == modules.vdso_start) {
        m->flags = MODULE_VDSO;
        m->path = "[vdso]";
    } else {
        m->flags = (uint8_t)((is_main ? MODULE_MAIN : 0) |
                             (range->start == modules.libc_start ? MODULE_LIBC : 0) |
                             (range->start == modules.own_start ? MODULE_HPCRUN : 0));
        m->path = is_main ? modules.main_path : copy_path(range->name);
    }
    read_headers(m);
}

/* The slot of a start address, or the empty slot where it belongs. */
static _Atomic uint64_t *find_slot(uint64_t start)
{
    uint64_t page = start >> 12;
    uint32_t i = (uint32_t)(page * 0x9e3779b97f4a7c15u >> 40) % LIVE_SLOTS;
    for (;; i = (i + 1) % LIVE_SLOTS) {
        uint64_t slot = atomic_load_explicit(&modules.live[i], memory_order_acquire);
        if (slot == 0 || slot >> 24 == page)
            return &modules.live[i];
    }
}

static uint32_t slot_instance(uint64_t slot)
{
    return (uint32_t)(slot & 0xffffff);
}

static bool is_full(bool new_start)
{
    return atomic_load(&modules.end) >= modules.room ||
           (new_start && atomic_load(&modules.live_count) >= LIVE_SLOTS / 2);
}

static uint32_t too_many(void)
{
    atomic_store_explicit(&modules.met_too_many, true, memory_order_relaxed);
    return INSTANCE_NO_MODULE;
}

/* Learns a module; a race between two threads ends with one instance, the other is given up. */
static uint32_t learn(const struct code_range *range, _Atomic uint64_t *slot, uint64_t seen)
{
    if (is_full(seen == 0))
        return too_many();
    uint32_t id = atomic_fetch_add(&modules.end, 1);
    if (id >= modules.room)
        return too_many();
    describe(&modules.at[id], range);
    bool new_start = seen == 0;
    uint64_t filled = range->start >> 12 << 24 | id;
    /* Published before it can be found: a fork may come in between, and its child goes on with what
     * it finds. */
    atomic_store_explicit(&modules.state[id], PUBLISHED, memory_order_release);
    if (atomic_compare_exchange_strong(slot, &seen, filled)) {
        atomic_fetch_add(&modules.live_count, new_start);
        return id;
    }
    atomic_store_explicit(&modules.state[id], FILLING, memory_order_relaxed);
    return seen >> 24 == range->start >> 12 ? slot_instance(seen) : INSTANCE_NO_MODULE;
}

uint64_t modules_ip_outside(uint64_t address)
{
    if (!atomic_load_explicit(&modules.met_code_outside, memory_order_relaxed))
        atomic_store_explicit(&modules.met_code_outside, true, memory_order_relaxed);
    return IP_NO_MODULE | (address & (((uint64_t)1 << 47) - 1));
}

bool modules_met_too_many(void)
{
    return atomic_load(&modules.met_too_many);
}

bool modules_met_code_outside(void)
{
    return atomic_load(&modules.met_code_outside);
}

uint64_t modules_ip(uint64_t address, const struct code_range *range)
{
    if (!modules.at)
        return modules_ip_outside(address);
    _Atomic uint64_t *slot = find_slot(range->start);
    uint64_t seen = atomic_load_explicit(slot, memory_order_acquire);
    uint32_t id = slot_instance(seen);
    if (id == 0)
        id = learn(range, slot, seen);
    uint64_t offset = address - range->bias;
    if (id == INSTANCE_NO_MODULE || offset >> IP_OFFSET_BITS)
        return modules_ip_outside(address);
    return (uint64_t)id << IP_OFFSET_BITS | offset;
}

void modules_unload_begin(void)
{
    atomic_fetch_add(&modules.generation, 1);
}

static bool still_loaded(const struct module_instance *m)
{
    struct code_range range;
    return code_map_find(m->start, &range) && range.start == m->start && range.end == m->end &&
           range.bias == m->bias;
}

void modules_unload_end(void)
{
    for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
        uint64_t slot = atomic_load(&modules.live[i]);
        uint32_t id = slot_instance(slot);
        if (id != 0 && !still_loaded(&modules.at[id]))
            atomic_compare_exchange_strong(&modules.live[i], &slot, slot & ~(uint64_t)0xffffff);
    }
    code_map_refresh();
    atomic_fetch_add(&modules.generation, 1);
}

uint32_t modules_end(void)
{
    uint32_t end = atomic_load(&modules.end);
    return end < modules.room ? end : modules.room;
}

const struct module_instance *modules_get(uint32_t id)
{
    if (atomic_load_explicit(&modules.state[id], memory_order_acquire) != PUBLISHED)
        return NULL;
    return &modules.at[id];
}
