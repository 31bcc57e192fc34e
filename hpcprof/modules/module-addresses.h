/* Addresses in load modules, such as those that call paths go through. */
#ifndef HPCPROF_MODULE_ADDRESSES_H
#define HPCPROF_MODULE_ADDRESSES_H

#include "lib/alloc.h"

#include <stdint.h>

struct address_set {
    VEC(uint64_t) all; /* sorted, each once */
};

struct module_addresses {
    struct address_set *of_module;
    size_t n;
};

/* Adds the addresses of another set. */
void address_set_add(struct address_set *set, const struct address_set *added);

/* Sorts the addresses of a set, and drops repeated ones. */
void address_set_finish(struct address_set *set);

/* Writes the addresses to a new file without a name, as `hpcstruct --only -` reads them. Returns its
 * descriptor, at its beginning; -1 if that fails. */
int address_set_file(const struct address_set *set);

void module_addresses_free(struct module_addresses *addresses);

#endif
