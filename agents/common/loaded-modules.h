/* The modules of the process, read so that a dlclose in another thread does no harm. Normal context.
 *
 * Two locks of the dynamic linker matter here. dlopen, dlsym, dlclose and dladdr take the first one,
 * which a thread also holds while it runs the constructors of a library. So a function of the program
 * that waits for another thread in a constructor hangs if that thread, in a wrapper of an agent, calls
 * one of these. dl_iterate_phdr takes only the second one, which is held for short times. While it is
 * held no module is unmapped. */
#ifndef AGENTS_LOADED_MODULES_H
#define AGENTS_LOADED_MODULES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct code_range {
    uint64_t start, end;
};

static inline bool is_in_range(uint64_t address, struct code_range range)
{
    return address >= range.start && address < range.end;
}

/* ---- while the module stays: in a callback of dl_iterate_phdr, or while it is pinned ---- */

struct code_range module_range(const struct dl_phdr_info *info);

/* The dynamic section of a module; NULL: none. */
const ElfW(Dyn) * module_dynamic(const struct dl_phdr_info *info);

/* Address in an entry of a dynamic section; 0: there is no such entry. glibc relocates some entries,
 * but not DT_VERDEF. */
uint64_t dynamic_entry(const ElfW(Dyn) * dynamic, uint64_t bias, int64_t tag);

/* A symbol that the module defines and exports, found by its GNU hash table; NULL: none. */
const ElfW(Sym) * dynamic_symbol(const ElfW(Dyn) * dynamic, uint64_t bias, const char *name);

/* ---- at any time ---- */

/* Whether the main program itself is linked to a library whose name begins so. */
bool program_needs(const char *library);

/* Whether an address is in the main program, whose address range is returned. Found once: costs a
 * caller in a library no search. */
bool is_in_program(uint64_t address, struct code_range *range);

/* The only module that defines `symbol`, but for the one with the address `except`; false: there is
 * none, there are several, or `user` is an address in another module, which is not linked to it
 * directly. */
bool only_definition(const char *symbol, uint64_t except, uint64_t user, struct code_range *range);

/* A module that stays loaded until it is unpinned. Takes the first lock: so it waits until another
 * thread has loaded the module completely. If the program closes the module in the meantime, its
 * destructors run in module_unpin. */
struct pinned_module {
    void *library; /* for dlsym */
    const struct link_map *map;
    struct code_range range;
};

/* The module that begins at an address and has this path; with path NULL, the one that has the address.
 * False: there is none, it is not in the main namespace, or the process ends. A module that has been closed and opened
 * again may have the address elsewhere in it. */
bool module_pin(uint64_t address, const char *path, struct pinned_module *module);
void module_unpin(const struct pinned_module *module);

#endif
