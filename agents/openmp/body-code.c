#include "agents/openmp/body-code.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

/* ---- code ---- */

struct search {
    uint64_t address;
    bool is_found;
};

static int look_in(struct dl_phdr_info *module, size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
        uint64_t begin = module->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && search->address >= begin &&
            search->address < begin + segment->p_memsz)
            search->is_found = true;
    }
    return search->is_found;
}

static is_runtime_code *_Atomic is_runtime;

void body_code_begin(is_runtime_code *answer)
{
    atomic_store(&is_runtime, answer);
}

enum kind { NO_CODE, PROGRAM_CODE, RUNTIME_CODE };

static enum kind find_kind(uint64_t address)
{
    struct search search = {.address = address};
    if (atomic_load(&is_runtime)((const void *)address))
        return RUNTIME_CODE;
    dl_iterate_phdr(look_in, &search);
    return search.is_found ? PROGRAM_CODE : NO_CODE;
}

/* Kinds of addresses that were asked for, by a hash of the address: the address << 2 | its kind. 0:
 * none. To find a kind takes some hundred nanoseconds. */
#define KNOWN 256

static _Atomic uint64_t known[KNOWN];

_Static_assert(KNOWN == 1 << 8, "8 bits of the hash choose the place");

static enum kind kind_of(const void *address)
{
    uint64_t question = (uint64_t)address << 2;
    _Atomic uint64_t *place = &known[question * 0x9e3779b97f4a7c15u >> 56];
    uint64_t answer = atomic_load_explicit(place, memory_order_relaxed);
    if (!address || !atomic_load_explicit(&is_runtime, memory_order_relaxed))
        return NO_CODE;
    if ((answer & ~(uint64_t)3) != question) {
        answer = question | find_kind((uint64_t)address);
        atomic_store_explicit(place, answer, memory_order_relaxed);
    }
    return answer & 3;
}

void body_code_forget(void)
{
    for (int i = 0; i < KNOWN; i++)
        atomic_store_explicit(&known[i], 0, memory_order_relaxed);
}

/* ---- regions ----
 *
 * In libomp's structure of a team (kmp_base_team), these stand before the data of the region:
 *
 *     word  -4  the address of the arguments, which are in the same structure
 *           -3  their number (4 bytes) and that of the threads (4 bytes)
 *           -2  the body
 *           -1  libomp's function that calls it; 0 in a team of one thread
 *            0  the data of the region
 *
 * So it is in libomp 14, 15, 16 and 19. In gcc's programs the function at -2 is libomp's, and calls
 * the body, its first argument. A region that the program runs itself (`if(0)`) has no body there, nor
 * has one of gcc's programs in a team of one thread. */

#define TEAM_BYTES 4096

/* The first of the arguments; NULL: there are none. */
static const void *first_argument(const void *const *words)
{
    uint64_t distance = (uint64_t)words[-4] - (uint64_t)words;
    uint32_t count = (uint32_t)(uint64_t)words[-3];
    bool is_there = count > 0 && distance < TEAM_BYTES && distance % sizeof *words == 0;
    return is_there ? words[distance / sizeof *words] : NULL;
}

const void *body_code_of_region(const ompt_data_t *parallel)
{
    const void *const *words = (const void *const *)parallel;
    const void *body = words[-2], *caller = words[-1];
    if (caller && kind_of(caller) != RUNTIME_CODE)
        return NULL;
    if (caller && kind_of(body) == RUNTIME_CODE)
        body = first_argument(words);
    return kind_of(body) == PROGRAM_CODE ? body : NULL;
}

/* ---- tasks ----
 *
 * Behind libomp's data of a task (kmp_taskdata) lies what the compiler knows of it (kmp_task), whose
 * second word is the address of the body. It is the first address of code behind the task's data. How
 * far behind depends on the version: 72 bytes in libomp 14. */

#define FARTHEST 256
#define PAGE     4096

static uint64_t find_body(const ompt_data_t *task)
{
    uint64_t begin = (uint64_t)task, page_end = (begin | (PAGE - 1)) + 1;
    uint64_t end = begin + FARTHEST < page_end ? begin + FARTHEST : page_end;
    for (uint64_t at = begin + sizeof *task; at + sizeof at <= end; at += sizeof at) {
        const void *word = *(const void *const *)at;
        if (kind_of(word) != NO_CODE)
            return at - begin;
    }
    return 0;
}

const void *body_code_of_task(const ompt_data_t *task)
{
    static _Atomic uint64_t distance; /* of the address from the task's data; 0: not known yet */
    uint64_t bytes = atomic_load_explicit(&distance, memory_order_relaxed);
    if (!bytes) {
        bytes = find_body(task);
        atomic_store(&distance, bytes);
    }
    const void *body = bytes ? *(const void *const *)((const char *)task + bytes) : NULL;
    return kind_of(body) != NO_CODE ? body : NULL;
}
