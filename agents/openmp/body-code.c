#include "agents/openmp/body-code.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

/* ---- code of modules ---- */

struct search {
    uint64_t address;
    bool is_code;
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
            search->is_code = true;
    }
    return search->is_code;
}

static bool is_code(uint64_t address)
{
    struct search search = {.address = address};
    if (address)
        dl_iterate_phdr(look_in, &search);
    return search.is_code;
}

/* ---- regions ----
 *
 * In libomp's structure of a team (kmp_base_team), these stand before the data of the region:
 *
 *     word  -2  the body
 *           -1  libomp's function that calls it; 0 in a team of one thread
 *            0  the data of the region
 *
 * So it is in libomp 14, 15, 16 and 19. A region that the program runs itself
 * (`if(0)`) has no body there. */

const void *body_code_of_region(const ompt_data_t *parallel, is_runtime_code *is_runtime)
{
    static _Atomic(const void *) last; /* that was found to be code */
    const void *const *words = (const void *const *)parallel;
    const void *body = words[-2], *caller = words[-1];
    if (!body || is_runtime(body) || (caller && !is_runtime(caller)))
        return NULL;
    if (body != atomic_load(&last) && !is_code((uint64_t)body))
        return NULL;
    atomic_store(&last, body);
    return body;
}

/* ---- tasks ----
 *
 * Behind libomp's data of a task (kmp_taskdata) lies what the compiler knows of it (kmp_task), whose
 * second word is the address of the body. It is the first address of code behind the task's data. How far behind depends on the version: 72 bytes in libomp 14. */

#define FARTHEST 256
#define PAGE     4096

static uint64_t find_body(const ompt_data_t *task)
{
    uint64_t begin = (uint64_t)task, page_end = (begin | (PAGE - 1)) + 1;
    uint64_t end = begin + FARTHEST < page_end ? begin + FARTHEST : page_end;
    for (uint64_t at = begin + sizeof *task; at + sizeof at <= end; at += sizeof at) {
        uint64_t word = *(const uint64_t *)at;
        if (is_code(word))
            return at - begin;
    }
    return 0;
}

const void *body_code_of_task(const ompt_data_t *task)
{
    static _Atomic uint64_t distance; /* of the address from the task's data; 0: not known yet */
    uint64_t known = atomic_load_explicit(&distance, memory_order_relaxed);
    if (!known) {
        known = find_body(task);
        atomic_store(&distance, known);
    }
    return known ? *(const void *const *)((const char *)task + known) : NULL;
}
