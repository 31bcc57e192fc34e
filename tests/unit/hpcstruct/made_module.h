/* A handmade module: code at CODE_AT, read-only data at DATA_AT, and the symbols, frame description
 * entries, stubs and relocations that a test adds. */
#ifndef TESTS_UNIT_HPCSTRUCT_MADE_MODULE_H
#define TESTS_UNIT_HPCSTRUCT_MADE_MODULE_H

#include "hpcstruct/code/module-code.h"

#define CODE_AT   0x1000u
#define CODE_SIZE 0x1000u
#define DATA_AT   0x8000u
#define DATA_SIZE 0x400u

struct made_module {
    struct module_code module;
    struct elf_image image;
    uint8_t code[CODE_SIZE]; /* initially int3, which is padding */
    uint8_t data[DATA_SIZE];
    struct decoder decoder;
    uint64_t at; /* address of the next code */
};

/* Frees the one before. */
struct made_module *made_module_new(void);

/* ---- contents, before made_module_map ---- */

/* A function symbol; a label if size is 0. */
void made_symbol(struct made_module *made, uint64_t address, uint64_t size, const char *name);
void made_frame(struct made_module *made, uint64_t begin, uint64_t end, bool begins_mid_function);
void made_stub(struct made_module *made, uint64_t begin, const char *name);
void made_pointer(struct made_module *made, uint64_t address, uint64_t value);

/* Puts bytes at made->at and moves that past them. */
#define made_code(made, ...)                                                                       \
    made_bytes(made, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
void made_bytes(struct made_module *made, const uint8_t *bytes, size_t size);

/* Instructions. */
void made_jump(struct made_module *made, uint64_t target);
void made_branch(struct made_module *made, uint64_t target); /* if equal */
void made_call(struct made_module *made, uint64_t target);
void made_return(struct made_module *made);
void made_work(struct made_module *made, unsigned count);

/* A 32-bit or 64-bit number in the data. */
void made_u32(struct made_module *made, uint64_t address, uint32_t value);
void made_u64(struct made_module *made, uint64_t address, uint64_t value);

/* ---- results ---- */

/* Builds the code map and decodes the code. `called` as in struct code_sources. */
void made_module_map(struct made_module *made, const uint64_t *called, size_t called_count);

/* Finds the procedures. */
void made_module_procedures(struct made_module *made, const struct code_link *links, size_t count);

/* The entry of the procedure that contains an address; 0: none. */
uint64_t made_entry_of(const struct made_module *made, uint64_t address);

#endif
