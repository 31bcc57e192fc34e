/* Normal context. The modules of the process, copied while the loader's lock is held.
 *
 * Another thread may unload a module at any time. Its headers, its name and all that the loader keeps
 * of it are then unmapped or freed. So a list holds copies: it stays valid, though the module may be
 * gone. The main program comes first, then the modules in the order in which they were loaded. */
#ifndef HPCRUN_CODE_MODULE_LIST_H
#define HPCRUN_CODE_MODULE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTED_NOTES 3

struct listed_module {
    uint64_t start, end; /* address range of its segments */
    uint64_t bias;       /* run-time address - ELF virtual address */
    const char *path;    /* as the loader has it; "" for the main program */
    struct listed_notes {
        uint64_t address;    /* in the module */
        const uint8_t *copy; /* of its PT_NOTE segment */
        size_t bytes, align; /* bytes 0: there is no such segment, or none that can be read */
    } notes[LISTED_NOTES];
};

struct module_list {
    unsigned long long changes; /* module_list_changes() when the list was made */
    size_t count;
    struct listed_module *at;
    size_t bytes; /* mapped for the list */
};

/* Number of modules that were loaded plus those that were unloaded, so far. */
unsigned long long module_list_changes(void);

/* Makes a list. Without memory it returns false, and the list is empty. */
bool module_list_make(struct module_list *list);
void module_list_free(struct module_list *list);

/* Whether both stand for the same file at the same place. A library that was loaded again after an
 * unload is the same, too, if it lies where it lay before. */
bool module_is_same(const struct listed_module *a, const struct listed_module *b);

#endif
