/* Signal handler: modules_ip runs in the sampling handler; lock-free.
 *
 * Module instances: one per mapping of a load module, from its load to its unload, never reused
 * (MODULES in doc/FORMAT-hpcrun.md). An instance is added at the first look-up of an address in it.
 * dlclose retires the instances of unloaded modules, so that another module at the same address
 * gets an instance of its own.
 *
 * An instruction pointer in the tree, an *ip*, is one 64-bit word: a module instance and an ELF
 * virtual address in it, or an absolute address in no module, or a placeholder. L-notes may also have a
 * name table and a key of it, or a position in a procedure that has such a name. */
#ifndef HPCRUN_CODE_MODULE_INSTANCES_H
#define HPCRUN_CODE_MODULE_INSTANCES_H

#include "hpcrun/code/module-ranges.h"
#include "lib/arena-format.h"

/* The ip of a placeholder of lib/measurement-format.h. */
static inline uint64_t ip_placeholder(uint64_t which)
{
    return (uint64_t)1 << IP_OFFSET_BITS | which;
}

struct module_instance {
    uint64_t start, end, bias, hash;
    uint32_t generation; /* modules_generation() when it was added */
    uint8_t flags;       /* enum module_flag */
    uint8_t build_id_size;
    uint8_t build_id[32];
    const char *path; /* a copy, absolute if known */
};

/* Addresses in code that is treated in a special way; 0: the process does not have it. */
struct known_code {
    uint64_t vdso, libc, own; /* `own`: hpcrun's library */
};

/* Once, in normal context, before any other function here. Returns false without memory: then every ip
 * is without a module. */
bool modules_init(const char *main_path, const struct known_code *known);

/* In normal context, when more is known than at modules_init. */
void modules_know(const struct known_code *known);

/* The ip of `address`, which `range` covers; adds the instance if it is new. Reads the module's
 * headers: call it in a guarded region. Maps memory when its arrays are full: at the 64th instance,
 * then each time that their number doubles, and for each 32 KiB of paths. */
uint64_t modules_ip(uint64_t address, const struct module_range *range);

/* The ip of an address that is in no module. */
uint64_t modules_ip_outside(uint64_t address);

/* In normal context: from now on, the kernel's code is a module, which begins at `start` (base/kernel-text.h; 0: the
 * kernel hides its addresses, so none is recorded). Addresses of its loadable modules are those of one `boot`. */
void modules_add_kernel(uint64_t start, uint64_t boot);

/* The ip of an address in the kernel, after modules_add_kernel. */
uint64_t modules_kernel_ip(uint64_t address);

/* Whether modules_ip_outside was ever called. */
bool modules_saw_code_outside(void);

/* Whether the limit of instances was exceeded: 131,072, or 2048 if the address space is limited
 * (RLIMIT_AS), or fewer without memory. Code of further instances counts as code in no module. */
bool modules_overflowed(void);

/* Signal handler: whether an address lies in libc. */
bool modules_in_libc(uint64_t address);

/* Whether the module that starts at `range->start` is hpcrun's own library. */
bool modules_is_own(const struct module_range *range);

/* Number of unloads begun or finished so far. Cached data of another generation is invalid. */
uint32_t modules_generation(void);

/* Normal context: around an unload. modules_unload_end retires the instances of unloaded modules.
 */
void modules_unload_begin(void);
void modules_unload_end(void);

/* The end of the ids in use, which begin at INSTANCE_FIRST. */
uint32_t modules_end(void);

/* The instance, never freed. NULL for an id that is unused (two threads added a module at once, or
 * there was no memory) or still being filled in. */
const struct module_instance *modules_get(uint32_t id);

#endif
