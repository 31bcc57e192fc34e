/* Signal handler: modules_ip runs in the sampling handler; lock-free.
 *
 * Module instances: one per mapping of a load module, from its load to its unload, never reused
 * (doc/FORMAT-hpcrun.md, MODULES). An instance is learned when the first address in it is asked
 * for; dlclose retires those that are gone, so that another module at the same address gets its
 * own.
 *
 * An instruction pointer in the tree, an *ip*, is one 64-bit word: a module instance and an ELF
 * virtual address in it, or an absolute address in no module, or a placeholder. */
#ifndef HPCRUN_CODE_MODULE_INSTANCES_H
#define HPCRUN_CODE_MODULE_INSTANCES_H

#include "hpcrun/code/module-ranges.h"

#define IP_OFFSET_BITS 40
#define IP_NO_MODULE   ((uint64_t)1 << 63) /* with it, the low 47 bits are an address */

/* The ip of a placeholder of lib/measurement-format.h. */
static inline uint64_t ip_placeholder(unsigned which)
{
    return (uint64_t)1 << IP_OFFSET_BITS | which;
}

/* Splits an ip into the instance and offset of the measurement file. */
static inline uint32_t ip_instance(uint64_t ip)
{
    return ip & IP_NO_MODULE ? 0 : (uint32_t)(ip >> IP_OFFSET_BITS);
}

static inline uint64_t ip_offset(uint64_t ip)
{
    return ip & IP_NO_MODULE ? ip & ~IP_NO_MODULE : ip & (((uint64_t)1 << IP_OFFSET_BITS) - 1);
}

struct module_instance {
    uint64_t start, end, bias, hash;
    uint32_t generation; /* unloads that were finished when it was learned */
    uint8_t flags;       /* enum module_flag */
    uint8_t build_id_size;
    uint8_t build_id[32];
    const char *path; /* copied, absolute where known */
};

/* Called once in normal context before any other function here. Returns false when there is no
 * memory: then every ip is without a module. `own_code` is an address in hpcrun's own library. */
bool modules_init(const char *main_path, const void *own_code);

/* The ip of `address`, which `range` covers; learns the instance at first sight. Reads the module's
 * headers: call it in a guarded region. Maps memory where what there is for instances is full: at
 * the 64th, then as many times as their number doubles, and for each 32 KiB of paths. */
uint64_t modules_ip(uint64_t address, const struct code_range *range);

/* The ip of an address that is in no module. */
uint64_t modules_ip_outside(uint64_t address);

/* Whether the ip of any such address was asked for. */
bool modules_met_code_outside(void);

/* Whether there were more instances than there is room for: 131,072, or 2048 where the address
 * space is limited, or as many as there was memory for. The code of later ones counts as code in no
 * module. */
bool modules_met_too_many(void);

/* Signal handler: whether an address is libc's. */
bool modules_in_libc(uint64_t address);

/* Whether the module that starts at `range->start` is hpcrun's own library. */
bool modules_is_own(const struct code_range *range);

/* Number of unloads begun or finished so far; a rule learned under another generation is void. */
uint32_t modules_generation(void);

/* Normal context: around an unload. modules_unload_end retires the instances that are gone. */
void modules_unload_begin(void);
void modules_unload_end(void);

/* Instances have ids from INSTANCE_FIRST; the first id not yet given. */
uint32_t modules_end(void);

/* The instance, or NULL for an id that was given up (two threads learned a module at once, or there
 * was no memory) or is still being filled in. Valid for good. */
const struct module_instance *modules_get(uint32_t id);

#endif
