/* ELF files, and the frame descriptions and exception tables in them. */
#include "tests/fuzz/fuzz-target.h"

#include "hpcstruct/elf/dynamic-linking.h"
#include "hpcstruct/elf/eh-frame.h"

#include "lib/bytes.h"
#include "lib/elf-notes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static void look_at_bytes(struct elf_bytes bytes)
{
    const volatile uint8_t *at = bytes.at;
    for (size_t i = 0; i < bytes.size; i += 16)
        (void)at[i];
    if (bytes.size)
        (void)at[bytes.size - 1];
}

static void check_frames(const struct elf_image *image)
{
    struct frame_entries frames = {0};
    struct landing_pads pads = {0};
    frame_entries_read(&frames, image);
    for (size_t i = 0; i < frames.entries.n; i++) {
        const struct frame_entry *entry = &frames.entries.at[i];
        PROMISE(i == 0 || entry[-1].begin <= entry->begin);
        PROMISE(elf_code_at(image, entry->begin));
        landing_pads_read(&pads, image, entry);
    }
    for (size_t i = 0; i < pads.all.n; i++)
        PROMISE(elf_code_at(image, pads.all.at[i].address));
    frame_entries_free(&frames);
    vec_free(&pads.all);
}

static void check_links(const struct elf_image *image)
{
    struct symbol_table symbols = {0};
    struct relocations relocations = {0};
    struct plt_stubs stubs = {0};
    uint64_t value;
    symbols_add(&symbols, image, image);
    symbols_sort(&symbols);
    relocations_read(&relocations, image);
    plt_read(&stubs, image, &relocations, &symbols);
    for (size_t i = 0; i < symbols.symbols.n; i++)
        look_at_text(symbols.symbols.at[i].name);
    for (size_t i = 0; i < relocations.pointers.n; i++)
        relocations_pointer(&relocations, image, relocations.pointers.at[i].address, &value);
    for (size_t i = 0; i < stubs.all.n; i++)
        PROMISE(stubs.all.at[i].begin <= stubs.all.at[i].end);
    plt_free(&stubs);
    relocations_free(&relocations);
    symbols_free(&symbols);
}

static void check_sections(const struct elf_image *image)
{
    for (size_t i = 0; i < image->sections.n; i++) {
        char *cause;
        struct elf_section *section = &image->sections.at[i];
        look_at_text(section->name);
        look_at_bytes(section->stored);
        look_at_bytes(elf_section_data(image, section, &cause));
        free(cause);
    }
    for (size_t i = 0; i < image->code.n; i++) {
        const struct elf_code *code = &image->code.at[i];
        PROMISE(code->begin < code->end && (i == 0 || code[-1].end <= code->begin));
        look_at_bytes((struct elf_bytes){code->bytes, code->end - code->begin});
    }
    look_at_bytes(image->build_id);
}

static void run_elf(const uint8_t *data, size_t size)
{
    char *cause = NULL;
    struct elf_image *image = elf_open(input_file(data, size), &cause);
    PROMISE(!image == (cause != NULL));
    free(cause);
    if (!image)
        return;
    check_sections(image);
    check_links(image);
    check_frames(image);
    elf_close(image);
}

/* All sections are unpacked to at most 16 MiB (lib/safe-input.h). */
const struct fuzz_target elf_target = {"elf", run_elf, 18 << 20, 8192};

/* ---- notes of loaded modules ---- */

static void run_elf_notes(const uint8_t *data, size_t size)
{
    for (size_t align = 4; align <= 8; align *= 2) {
        size_t bytes = 0;
        const uint8_t *found = elf_note_find(data, size, align, "GNU", &bytes);
        if (found)
            PROMISE(found >= data && found <= data + size &&
                    bytes <= (size_t)(data + size - found));
    }
}

const struct fuzz_target elf_notes_target = {"elf-notes", run_elf_notes, 1 << 12, 0};

/* ---- frame descriptions ---- */

static void add_section(struct elf_image *image, const char *name, uint64_t address,
                        struct elf_bytes bytes)
{
    const struct elf_section section = {.name = name,
                                        .type = SHT_PROGBITS,
                                        .flags = SHF_ALLOC,
                                        .address = address,
                                        .size = bytes.size,
                                        .stored = bytes};
    vec_push(&image->sections, section);
}

/* The input: addresses of .eh_frame, of .gcc_except_table and of the code, and the size of
 * .eh_frame (32 bits each); the contents of .eh_frame and of .gcc_except_table. */
static void run_eh_frame(const uint8_t *data, size_t size)
{
    static const uint8_t code_bytes[1 << 16];
    struct elf_image image = {0};
    if (size < 16)
        return;
    uint32_t code_at = get_u32(data + 8), frames = get_u32(data + 12);
    const struct elf_code code = {code_at, code_at + (uint64_t)sizeof code_bytes, code_bytes};
    if (frames > size - 16)
        frames = (uint32_t)size - 16;
    add_section(&image, ".eh_frame", get_u32(data), (struct elf_bytes){data + 16, frames});
    add_section(&image, ".gcc_except_table", get_u32(data + 4),
                (struct elf_bytes){data + 16 + frames, size - 16 - frames});
    vec_push(&image.code, code);
    check_frames(&image);
    vec_free(&image.code);
    vec_free(&image.sections);
}

/* Many entries can share one exception table, whose pads are then listed for each. */
const struct fuzz_target eh_frame_target = {"eh-frame", run_eh_frame, 1 << 20, 256};
