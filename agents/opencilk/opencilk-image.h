/* A load module as it lies in memory: what of it the dynamic loader uses; and of the program, which
 * the runtime may be linked into, the runtime's symbols that its file has. Normal context only. It
 * trusts what the loader has accepted. */
#ifndef AGENTS_OPENCILK_OPENCILK_IMAGE_H
#define AGENTS_OPENCILK_OPENCILK_IMAGE_H

#include "agents/agent.h"

#include <link.h>

#define IMAGE_LINKED 6

struct image {
    uint64_t bias;
    const ElfW(Phdr) * headers;
    size_t header_count;
    size_t tls_module; /* number of its thread-local storage; 0: it has none */
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hash; /* the GNU hash table */
    struct {
        const ElfW(Rela) * at;
        size_t count;
    } relocations[2];
    struct image_linked {
        const char *name;
        ElfW(Sym) symbol; /* its name and binding are not set */
    } linked[IMAGE_LINKED];
};

/* False when it is not loaded, or lacks a dynamic section. */
bool image_of(const struct agent_module *module, struct image *image);

/* A symbol that the module defines and exports, or one of these of the program: a variable or
 * function that its agent uses (image.c). NULL without one. */
const ElfW(Sym) * image_symbol(const struct image *image, const char *name);

/* The address of the pointer through which the module calls a function of another; 0 if it does
 * not. */
uint64_t image_slot(const struct image *image, const char *name);

/* The address of the initial value of the module's thread-local storage. */
uint64_t image_tls_template(const struct image *image);

/* The function around an address, by the module's unwind table; false without one. */
bool image_function(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end);

#endif
