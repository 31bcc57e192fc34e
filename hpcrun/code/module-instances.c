#include "hpcrun/code/module-instances.h"

#include "hpcrun/base/sys.h"
#include "lib/arena-format.h"

#include <assert.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

/* Most instances. LIMITED_INSTANCES applies if RLIMIT_AS is set: the address space is the
 * program's. */
#define MAX_INSTANCES     (1u << 17)
#define LIMITED_INSTANCES (1u << 11)
#define LIVE_SLOTS        (1u << 15) /* distinct start addresses, at most half full */

enum { FILLING, PUBLISHED };

/* Instances lie in segments that never move and are mapped when needed. The first segment has 64,
 * which is enough for most processes; each further one has as many as all before it. */
#define SEGMENT_BITS 6
#define SEGMENTS     12

_Static_assert(1u << SEGMENT_BITS << (SEGMENTS - 1) == MAX_INSTANCES, "segments for all");

struct segment {
    struct module_instance *at;
    _Atomic uint8_t *state;
    uint32_t first, count;
};

/* Paths lie in pages of their own. */
#define PATHS_BYTES (1u << 15)

struct paths {
    _Atomic uint32_t used;
    char text[PATHS_BYTES - sizeof(uint32_t)];
};

_Static_assert(sizeof(((struct paths *)0)->text) > PATH_MAX, "room for any path");

static struct {
    uint32_t room;
    _Atomic(struct segment *) segments[SEGMENTS]; /* NULL: not mapped yet */
    _Atomic uint32_t end;
    _Atomic(struct paths *) paths; /* the last one, which may have room */
    /* Hash table by start address, open addressing. A slot is (start >> 12) << 24 | live instance;
     * the instance is 0 once it is retired. A used slot keeps its start, so that each start has
     * exactly one slot. */
    _Atomic uint64_t live[LIVE_SLOTS];
    _Atomic uint32_t live_count;
    _Atomic uint32_t generation;
    _Atomic bool saw_code_outside, overflowed;
    uint64_t vdso_start, libc_start, libc_end, own_start;
    uint64_t kernel_start; /* 0: hidden */
    uint32_t kernel;       /* instance; 0: none */
    char main_path[PATH_MAX];
} modules;

static struct module_range module_with(uint64_t address)
{
    struct module_range range;
    return module_range_find(address, &range) ? range : (struct module_range){0};
}

static uint32_t room_for_instances(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    sys4(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? MAX_INSTANCES : LIMITED_INSTANCES;
}

static unsigned segment_number(uint32_t id)
{
    uint32_t rest = id >> SEGMENT_BITS;
    return rest == 0 ? 0 : 32 - (unsigned)__builtin_clz(rest);
}

static size_t segment_bytes(uint32_t count)
{
    return sizeof(struct segment) + count * (sizeof(struct module_instance) + 1);
}

static struct segment *new_segment(unsigned number)
{
    uint32_t first = number == 0 ? 0 : 1u << SEGMENT_BITS << (number - 1);
    uint32_t count = number == 0 ? 1u << SEGMENT_BITS : first;
    struct segment *segment = sys_pages(segment_bytes(count));
    if (!segment)
        return NULL;
    segment->first = first;
    segment->count = count;
    segment->at = (struct module_instance *)(segment + 1);
    segment->state = (_Atomic uint8_t *)(segment->at + count);
    return segment;
}

/* NULL if the segment is not mapped yet. */
static struct segment *segment_of(uint32_t id)
{
    return atomic_load_explicit(&modules.segments[segment_number(id)], memory_order_acquire);
}

/* The segment, mapped if necessary; NULL without memory. */
static struct segment *need_segment(uint32_t id)
{
    struct segment *there = segment_of(id), *made;
    if (there || !(made = new_segment(segment_number(id))))
        return there;
    if (atomic_compare_exchange_strong(&modules.segments[segment_number(id)], &there, made))
        return made;
    sys_pages_free(made, segment_bytes(made->count)); /* another thread was quicker */
    return there;
}

/* The successor of `full`; NULL without memory. */
static struct paths *next_paths(struct paths *full)
{
    struct paths *made = sys_pages(sizeof *made);
    if (!made || atomic_compare_exchange_strong(&modules.paths, &full, made))
        return made;
    sys_pages_free(made, sizeof *made); /* another thread was quicker */
    return full;
}

void modules_know(const struct known_code *known)
{
    const struct module_range libc = module_with(known->libc);
    modules.vdso_start = known->vdso;
    modules.libc_start = libc.start;
    modules.libc_end = libc.end;
    modules.own_start = module_with(known->own).start;
}

bool modules_init(const char *main_path, const struct known_code *known)
{
    assert(modules.room == 0);
    strncpy(modules.main_path, main_path, sizeof modules.main_path - 1);
    modules_know(known);
    atomic_store(&modules.end, INSTANCE_FIRST);
    if (!need_segment(INSTANCE_FIRST) || !next_paths(NULL))
        return false;
    modules.room = room_for_instances();
    return true;
}

bool modules_in_libc(uint64_t address)
{
    return address >= modules.libc_start && address < modules.libc_end;
}

bool modules_is_own(const struct module_range *range)
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
    struct paths *paths = atomic_load(&modules.paths);
    for (; paths; paths = next_paths(paths)) {
        uint32_t at = atomic_fetch_add(&paths->used, (uint32_t)size);
        if (at + size <= sizeof paths->text)
            return memcpy(paths->text + at, text, size - 1);
    }
    return "";
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

/* Reads the build-id and the hash of the headers, if the mapping begins with an ELF header. */
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

static void describe(struct module_instance *m, const struct module_range *range)
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

static struct module_instance *instance(struct segment *segment, uint32_t id)
{
    return &segment->at[id - segment->first];
}

static void set_state(struct segment *segment, uint32_t id, uint8_t state)
{
    atomic_store_explicit(&segment->state[id - segment->first], state, memory_order_release);
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

static uint32_t overflow(void)
{
    atomic_store_explicit(&modules.overflowed, true, memory_order_relaxed);
    return INSTANCE_NO_MODULE;
}

/* Adds an instance. If two threads add the same module at once, one instance is used, the other id
 * is left unused. */
static uint32_t add_instance(const struct module_range *range, _Atomic uint64_t *slot,
                             uint64_t seen)
{
    if (is_full(seen == 0))
        return overflow();
    uint32_t id = atomic_fetch_add(&modules.end, 1);
    struct segment *segment = id < modules.room ? need_segment(id) : NULL;
    if (!segment)
        return overflow();
    describe(instance(segment, id), range);
    bool new_start = seen == 0;
    uint64_t filled = range->start >> 12 << 24 | id;
    /* Published before it can be found: if the process forks in between, the child must not find an
     * instance that nobody will publish. */
    set_state(segment, id, PUBLISHED);
    if (atomic_compare_exchange_strong(slot, &seen, filled)) {
        atomic_fetch_add(&modules.live_count, new_start);
        return id;
    }
    set_state(segment, id, FILLING);
    return seen >> 24 == range->start >> 12 ? slot_instance(seen) : INSTANCE_NO_MODULE;
}

uint64_t modules_ip_outside(uint64_t address)
{
    if (!atomic_load_explicit(&modules.saw_code_outside, memory_order_relaxed))
        atomic_store_explicit(&modules.saw_code_outside, true, memory_order_relaxed);
    return IP_NO_MODULE | (address & (((uint64_t)1 << 47) - 1));
}

bool modules_overflowed(void)
{
    return atomic_load(&modules.overflowed);
}

bool modules_saw_code_outside(void)
{
    return atomic_load(&modules.saw_code_outside);
}

uint64_t modules_ip(uint64_t address, const struct module_range *range)
{
    if (modules.room == 0)
        return modules_ip_outside(address);
    _Atomic uint64_t *slot = find_slot(range->start);
    uint64_t seen = atomic_load_explicit(slot, memory_order_acquire);
    uint32_t id = slot_instance(seen);
    if (id == 0)
        id = add_instance(range, slot, seen);
    uint64_t offset = address - range->bias;
    if (id == INSTANCE_NO_MODULE || offset >> IP_OFFSET_BITS)
        return modules_ip_outside(address);
    return (uint64_t)id << IP_OFFSET_BITS | offset;
}

void modules_add_kernel(uint64_t start, uint64_t boot)
{
    if (modules.room == 0)
        return;
    uint32_t id = atomic_fetch_add(&modules.end, 1);
    struct segment *segment = segment_of(id);
    *instance(segment, id) =
        (struct module_instance){.hash = boot, .flags = MODULE_KERNEL, .path = KERNEL_MODULE};
    set_state(segment, id, PUBLISHED);
    modules.kernel_start = start;
    modules.kernel = id;
}

uint64_t modules_kernel_ip(uint64_t address)
{
    uint64_t offset = address - modules.kernel_start;
    bool is_known = modules.kernel_start && !(offset >> IP_OFFSET_BITS);
    return (uint64_t)modules.kernel << IP_OFFSET_BITS | (is_known ? offset : 0);
}

void modules_unload_begin(void)
{
    atomic_fetch_add(&modules.generation, 1);
}

static bool still_loaded(const struct module_instance *m)
{
    uint64_t start, end;
    return module_range_bounds(m->start, &start, &end) && start == m->start && end == m->end;
}

void modules_unload_end(void)
{
    module_ranges_refresh();
    for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
        uint64_t slot = atomic_load(&modules.live[i]);
        uint32_t id = slot_instance(slot);
        if (id != 0 && !still_loaded(instance(segment_of(id), id)))
            atomic_compare_exchange_strong(&modules.live[i], &slot, slot & ~(uint64_t)0xffffff);
    }
    atomic_fetch_add(&modules.generation, 1);
}

uint32_t modules_end(void)
{
    uint32_t end = atomic_load(&modules.end);
    return end < modules.room ? end : modules.room;
}

const struct module_instance *modules_get(uint32_t id)
{
    struct segment *segment = segment_of(id);
    if (!segment || atomic_load_explicit(&segment->state[id - segment->first],
                                         memory_order_acquire) != PUBLISHED)
        return NULL;
    return instance(segment, id);
}
