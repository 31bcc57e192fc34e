/* The decoded code of a module: its fragments, their control flow, and the procedures that they
 * make up. Input of the analyses of single procedures, which do not change it. */
#ifndef HPCSTRUCT_MODULE_CODE_H
#define HPCSTRUCT_MODULE_CODE_H

#include "hpcstruct/code/procedures.h"
#include "hpcstruct/elf/eh-frame.h"
#include "hpcstruct/elf/go-program.h"

struct module_code {
    const struct elf_image *image;
    struct symbol_table symbols;
    struct relocations relocations;
    struct go_program go;
    struct plt_stubs stubs;
    struct frame_entries frames;
    struct code_map map;
    struct decoder *decoders; /* per worker; their transfers are those of the flows */
    unsigned decoder_count;
    struct fragment_flow *flows; /* per fragment of the map */
    struct cross_jumps cross_jumps; /* until module_code_join */
    struct procedures procedures;
};

/* Reads the code of a binary, all but its procedures. `debug` is its separate debug file (for symbols), or
 * NULL. Both images must stay open until module_code_free. */
void module_code_read(struct module_code *code, const struct elf_image *image,
                      const struct elf_image *debug, unsigned workers);

/* Finds the procedures. The links come from debug information (procedures.h). */
void module_code_join(struct module_code *code, const struct code_link *links, size_t link_count);

void module_code_free(struct module_code *code);

/* Appends the landing pads of a procedure, in the order of its code. */
void module_code_landing_pads(const struct module_code *code, const struct procedure *procedure,
                              struct landing_pads *pads);

#endif
