/* A loaded module: the tables that the dynamic loader uses, which are trusted since the loader has
 * accepted them; and for the program, into which the runtime may be linked, the runtime's symbols
 * in its file. Normal context only. */
#ifndef AGENTS_OPENCILK_OPENCILK_IMAGE_H
#define AGENTS_OPENCILK_OPENCILK_IMAGE_H

#include "agents/agent.h"

#include <link.h>

#define IMAGE_LINKED 6

struct image {
    uint64_t start, bias;
    const ElfW(Phdr) * headers;
    size_t header_count;
    size_t tls_module; /* number of its thread-local storage; 0: none */
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Dyn) * dynamic;
    struct image_relocations {
        const ElfW(Rela) * at;
        size_t count;
    } relocations[2];
    struct image_linked {
        const char *name;
        ElfW(Sym) symbol; /* its name and binding are not set */
    } linked[IMAGE_LINKED];
};

/* The module must stay loaded as long as the image is used (common/loaded-modules.h). False if it is
 * not loaded or lacks a dynamic section. */
bool image_of(const struct agent_module *module, struct image *image);

/* A symbol that the module exports, or one of linked_names (opencilk-image.c) that the program
 * defines; NULL if there is none. */
const ElfW(Sym) * image_symbol(const struct image *image, const char *name);

/* The address of the pointer through which the module calls a function of another module; 0:
 * none. */
uint64_t image_slot(const struct image *image, const char *name);

/* The address of the initial value of the module's thread-local storage. */
uint64_t image_tls_template(const struct image *image);

/* The function around an address, from the module's unwind table; false if there is none. */
bool image_function(const struct image *image, uint64_t address, uint64_t *start, uint64_t *end);

#endif
