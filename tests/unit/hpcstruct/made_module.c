#include "tests/unit/hpcstruct/made_module.h"

#include "hpcstruct/code/jump-table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static void made_module_free(struct made_module *made)
{
    module_code_free(&made->module);
    decoder_free(&made->decoder);
    vec_free(&made->image.code);
    vec_free(&made->image.sections);
    free(made);
}

struct made_module *made_module_new(void)
{
    static struct made_module *made;
    if (made)
        made_module_free(made);
    made = mem_alloc(sizeof *made);
    memset(made->code, 0xcc, sizeof made->code);
    const struct elf_code code = {CODE_AT, CODE_AT + CODE_SIZE, made->code};
    vec_push(&made->image.code, code);
    const struct elf_section data = {
        .name = ".rodata",
        .type = SHT_PROGBITS,
        .flags = SHF_ALLOC,
        .address = DATA_AT,
        .size = DATA_SIZE,
        .stored = {made->data, DATA_SIZE},
    };
    vec_push(&made->image.sections, data);
    made->module.image = &made->image;
    made->at = CODE_AT;
    decoder_init(&made->decoder);
    return made;
}

/* ---- contents ---- */

void made_symbol(struct made_module *made, uint64_t address, uint64_t size, const char *name)
{
    const struct symbol symbol = {
        .address = address, .size = size, .name = name, .function = size != 0};
    vec_push(&made->module.symbols.symbols, symbol);
}

void made_frame(struct made_module *made, uint64_t begin, uint64_t end, bool begins_mid_function)
{
    const struct frame_entry entry = {begin, end, 0, begins_mid_function};
    vec_push(&made->module.frames.entries, entry);
}

void made_stub(struct made_module *made, uint64_t begin, const char *name)
{
    const struct plt_stub stub = {begin, begin + 16, mem_strdup(name)};
    vec_push(&made->module.stubs.all, stub);
}

void made_pointer(struct made_module *made, uint64_t address, uint64_t value)
{
    const struct pointer_relocation pointer = {address, value};
    vec_push(&made->module.relocations.pointers, pointer);
}

void made_bytes(struct made_module *made, const uint8_t *bytes, size_t size)
{
    memcpy(made->code + (made->at - CODE_AT), bytes, size);
    made->at += size;
}

/* An instruction that ends with the 32-bit distance to the target. */
static void relative(struct made_module *made, const uint8_t *opcode, size_t size, uint64_t target)
{
    made_bytes(made, opcode, size);
    int32_t distance = (int32_t)(target - (made->at + 4));
    made_bytes(made, (const uint8_t *)&distance, sizeof distance);
}

void made_jump(struct made_module *made, uint64_t target)
{
    relative(made, (const uint8_t[]){0xe9}, 1, target);
}

void made_branch(struct made_module *made, uint64_t target)
{
    relative(made, (const uint8_t[]){0x0f, 0x84}, 2, target);
}

void made_call(struct made_module *made, uint64_t target)
{
    relative(made, (const uint8_t[]){0xe8}, 1, target);
}

void made_return(struct made_module *made)
{
    made_code(made, 0xc3);
}

void made_work(struct made_module *made, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        made_code(made, 0x48, 0x01, 0xd8); /* add %rbx, %rax: no padding */
}

void made_u32(struct made_module *made, uint64_t address, uint32_t value)
{
    memcpy(made->data + (address - DATA_AT), &value, sizeof value);
}

void made_u64(struct made_module *made, uint64_t address, uint64_t value)
{
    memcpy(made->data + (address - DATA_AT), &value, sizeof value);
}

/* ---- results ---- */

void made_module_map(struct made_module *made, const uint64_t *called, size_t called_count)
{
    struct module_code *module = &made->module;
    const struct code_sources sources = {
        .image = &made->image,
        .symbols = &module->symbols,
        .frames = &module->frames,
        .stubs = &module->stubs,
        .called = called,
        .called_count = called_count,
    };
    symbols_sort(&module->symbols);
    code_map_build(&module->map, &sources, 3);
    size_t count = module->map.fragments.n;
    module->flows = mem_alloc(count * sizeof *module->flows);
    const struct decode_context context = {&module->map, &made->image, &module->relocations};
    for (size_t i = 0; i < count; i++) {
        const struct code_fragment *fragment = &module->map.fragments.at[i];
        decode_fragment(&made->decoder, &context, fragment, &module->flows[i]);
        jump_tables_resolve(&made->decoder, &context, fragment, &module->flows[i]);
    }
    jump_tables_finish(module->flows, count, 1);
}

void made_module_procedures(struct made_module *made, const struct code_link *links, size_t count)
{
    const struct flow_sources sources = {&made->module.map, made->module.flows, &made->image,
                                         &made->module.frames};
    cross_jumps_find(&made->module.cross_jumps, &sources, 3);
    module_code_join(&made->module, links, count);
}

uint64_t made_entry_of(const struct made_module *made, uint64_t address)
{
    const struct module_code *module = &made->module;
    uint32_t number = procedures_find(&module->procedures, &module->map, address);
    return number == UINT32_MAX ? 0 : module->procedures.all.at[number].entry;
}
