#include "hpcstruct/elf/elf-image.h"

#include "hpcstruct/elf/decompress.h"
#include "hpcstruct/elf/names.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/safe-input.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the file ---- */

/* A part of the file; none unless all of it lies in the file. */
static struct elf_bytes part_of_file(const struct elf_image *image, uint64_t offset, uint64_t size)
{
    if (offset > image->file.size || size > image->file.size - offset)
        return (struct elf_bytes){0};
    return (struct elf_bytes){image->file.at + offset, size};
}

static void record_damage(struct elf_image *image, char *text)
{
    if (image->damage)
        free(text);
    else
        image->damage = xml_safe_text(text);
}

/* Why the file is rejected; NULL: it is accepted. */
static const char *refuse(const struct elf_image *image, Elf64_Ehdr *header)
{
    if (image->file.size < EI_NIDENT || memcmp(image->file.at, ELFMAG, SELFMAG) != 0)
        return "not an ELF file";
    if (image->file.at[EI_CLASS] != ELFCLASS64)
        return "not a 64-bit ELF file";
    if (image->file.at[EI_DATA] != ELFDATA2LSB)
        return "not a little-endian ELF file";
    if (image->file.size < sizeof *header)
        return "truncated ELF header";
    memcpy(header, image->file.at, sizeof *header);
    if (header->e_machine != EM_X86_64)
        return "not an x86-64 ELF file";
    if (header->e_type == ET_CORE)
        return "core dump";
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN && header->e_type != ET_REL)
        return "ELF file of unknown type";
    return NULL;
}

const char *elf_string(struct elf_bytes table, uint64_t offset)
{
    if (offset >= table.size || !memchr(table.at + offset, '\0', table.size - offset))
        return "";
    return (const char *)table.at + offset;
}

/* ---- sections ---- */

static struct elf_section make_section(struct elf_image *image, const Elf64_Shdr *header,
                                       struct elf_bytes names)
{
    struct elf_section section = {
        .name = elf_string(names, header->sh_name),
        .type = header->sh_type,
        .link = header->sh_link,
        .info = header->sh_info,
        .flags = header->sh_flags,
        .address = header->sh_addr,
        .size = header->sh_size,
        .entry_size = header->sh_entsize,
    };
    if (header->sh_type != SHT_NOBITS && header->sh_type != SHT_NULL && header->sh_size) {
        section.stored = part_of_file(image, header->sh_offset, header->sh_size);
        if (!section.stored.at)
            record_damage(image, mem_printf("section %zu (%s) lies beyond the end of the file",
                                            image->sections.n, section.name));
    }
    if (header->sh_flags & SHF_COMPRESSED) {
        section.coding = ELF_COMPRESSED;
    } else if (strncmp(section.name, ".zdebug_", 8) == 0) {
        section.coding = ELF_COMPRESSED_GNU;
    }
    return section;
}

static void read_sections(struct elf_image *image, const Elf64_Ehdr *header)
{
    if (header->e_shoff == 0)
        return;
    struct elf_bytes first = part_of_file(image, header->e_shoff, sizeof(Elf64_Shdr));
    if (!first.at || header->e_shentsize != sizeof(Elf64_Shdr)) {
        record_damage(image, mem_strdup("its section headers cannot be read"));
        return;
    }
    /* Counts that do not fit the ELF header are in the null section. */
    Elf64_Shdr null_section;
    memcpy(&null_section, first.at, sizeof null_section);
    uint64_t count = header->e_shnum ? header->e_shnum : null_section.sh_size;
    uint64_t names_index =
        header->e_shstrndx == SHN_XINDEX ? null_section.sh_link : header->e_shstrndx;
    struct elf_bytes table = {0};
    if (count <= image->file.size / sizeof(Elf64_Shdr))
        table = part_of_file(image, header->e_shoff, count * sizeof(Elf64_Shdr));
    if (!table.at) {
        record_damage(image, mem_strdup("its section headers lie beyond the end of the file"));
        return;
    }
    struct elf_bytes names = {0};
    if (names_index < count) {
        Elf64_Shdr names_header;
        memcpy(&names_header, table.at + names_index * sizeof names_header, sizeof names_header);
        names = part_of_file(image, names_header.sh_offset, names_header.sh_size);
    }
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Shdr section;
        memcpy(&section, table.at + i * sizeof section, sizeof section);
        vec_push(&image->sections, make_section(image, &section, names));
    }
}

struct elf_section *elf_section(const struct elf_image *image, const char *name)
{
    for (size_t i = 0; i < image->sections.n; i++) {
        struct elf_section *section = &image->sections.at[i];
        if (strcmp(section->name, name) == 0)
            return section;
        if (section->coding == ELF_COMPRESSED_GNU && strncmp(name, ".debug_", 7) == 0 &&
            strcmp(section->name + 2, name + 1) == 0)
            return section;
    }
    return NULL;
}

/* Bytes that a further section of the file may be unpacked to. */
static size_t most_unpacked(const struct elf_image *image)
{
    size_t most = input_most_unpacked(image->file.size);
    for (size_t i = 0; i < image->sections.n; i++)
        if (image->sections.at[i].decompressed)
            most -= image->sections.at[i].size;
    return most;
}

struct elf_bytes elf_section_data(const struct elf_image *image, struct elf_section *section,
                                  char **cause)
{
    *cause = NULL;
    if (section->decompressed)
        return (struct elf_bytes){section->decompressed, section->size};
    if (section->coding == ELF_PLAIN || !section->stored.at)
        return section->stored;
    size_t size, most = most_unpacked(image);
    section->decompressed =
        section->coding == ELF_COMPRESSED
            ? decompress_elf(section->stored.at, section->stored.size, most, &size, cause)
            : decompress_gnu(section->stored.at, section->stored.size, most, &size, cause);
    if (!section->decompressed)
        return (struct elf_bytes){0};
    section->size = size;
    return (struct elf_bytes){section->decompressed, size};
}

void elf_release_bytes(const struct elf_image *image, const uint8_t *begin, const uint8_t *end)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), file = (uintptr_t)image->file.at;
    uintptr_t first = ((uintptr_t)begin + page - 1) & ~(page - 1);
    uintptr_t last = (uintptr_t)end & ~(page - 1);
    if (first >= file && last <= file + image->file.size && first < last)
        madvise((void *)first, last - first, MADV_DONTNEED);
}

void elf_release_debug_sections(const struct elf_image *image)
{
    for (size_t i = 0; i < image->sections.n; i++) {
        struct elf_section *section = &image->sections.at[i];
        if (strncmp(section->name, ".debug_", 7) != 0 && section->coding == ELF_PLAIN)
            continue;
        free(section->decompressed);
        section->decompressed = NULL;
        if (section->stored.at)
            elf_release_bytes(image, section->stored.at, section->stored.at + section->stored.size);
    }
}

/* ---- segments and code ---- */

static void read_segments(struct elf_image *image, const Elf64_Ehdr *header)
{
    if (header->e_phoff == 0 || header->e_phnum == 0)
        return;
    struct elf_bytes table =
        part_of_file(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr));
    if (!table.at || header->e_phentsize != sizeof(Elf64_Phdr)) {
        record_damage(image, mem_strdup("its program headers cannot be read"));
        return;
    }
    for (size_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr from;
        memcpy(&from, table.at + i * sizeof from, sizeof from);
        const struct elf_segment segment = {
            .type = from.p_type,
            .flags = from.p_flags,
            .address = from.p_vaddr,
            .stored = part_of_file(image, from.p_offset, from.p_filesz),
        };
        vec_push(&image->segments, segment);
    }
}

static void add_code(struct elf_image *image, uint64_t address, struct elf_bytes bytes)
{
    if (bytes.at && bytes.size && address + bytes.size > address) {
        const struct elf_code code = {address, address + bytes.size, bytes.at};
        vec_push(&image->code, code);
    }
}

static int code_by_address(const void *a, const void *b)
{
    const struct elf_code *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Sorts the code and removes overlaps: the range that starts first keeps its addresses. */
static void sort_code(struct elf_image *image)
{
    if (image->code.n == 0)
        return;
    qsort(image->code.at, image->code.n, sizeof *image->code.at, code_by_address);
    size_t kept = 0;
    uint64_t covered = 0;
    for (size_t i = 0; i < image->code.n; i++) {
        struct elf_code code = image->code.at[i];
        if (code.end <= covered)
            continue;
        if (code.begin < covered) {
            code.bytes += covered - code.begin;
            code.begin = covered;
        }
        covered = code.end;
        image->code.at[kept++] = code;
    }
    image->code.n = kept;
}

static void find_code(struct elf_image *image)
{
    const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
    for (size_t i = 0; i < image->sections.n; i++) {
        const struct elf_section *section = &image->sections.at[i];
        if ((section->flags & wanted) == wanted && section->coding == ELF_PLAIN)
            add_code(image, section->address, section->stored);
    }
    for (size_t i = 0; i < image->segments.n && image->sections.n == 0; i++) {
        const struct elf_segment *segment = &image->segments.at[i];
        if (segment->type == PT_LOAD && (segment->flags & PF_X))
            add_code(image, segment->address, segment->stored);
    }
    sort_code(image);
}

const struct elf_code *elf_code_at(const struct elf_image *image, uint64_t address)
{
    size_t after = sorted_up_to(&image->code, begin, address);
    if (after == 0 || address >= image->code.at[after - 1].end)
        return NULL;
    return &image->code.at[after - 1];
}

static struct elf_bytes bytes_from(struct elf_bytes bytes, uint64_t begin, uint64_t address)
{
    if (!bytes.at || address < begin || address - begin >= bytes.size)
        return (struct elf_bytes){0};
    return (struct elf_bytes){bytes.at + (address - begin), bytes.size - (address - begin)};
}

struct elf_bytes elf_loaded(const struct elf_image *image, uint64_t address)
{
    struct elf_bytes found = {0};
    for (size_t i = 0; i < image->sections.n && !found.at; i++) {
        const struct elf_section *section = &image->sections.at[i];
        if ((section->flags & SHF_ALLOC) && section->coding == ELF_PLAIN)
            found = bytes_from(section->stored, section->address, address);
    }
    for (size_t i = 0; i < image->segments.n && image->sections.n == 0 && !found.at; i++) {
        const struct elf_segment *segment = &image->segments.at[i];
        if (segment->type == PT_LOAD)
            found = bytes_from(segment->stored, segment->address, address);
    }
    return found;
}

/* ---- build-id ---- */

/* Searches a sequence of notes for the build-id. */
static bool find_build_id(struct elf_image *image, struct elf_bytes notes)
{
    while (notes.size >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes.at, sizeof note);
        uint64_t name_at = sizeof note;
        uint64_t data_at = name_at + (((uint64_t)note.n_namesz + 3) & ~(uint64_t)3);
        uint64_t end = data_at + (((uint64_t)note.n_descsz + 3) & ~(uint64_t)3);
        if (data_at + note.n_descsz > notes.size)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(notes.at + name_at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 && note.n_descsz) {
            image->build_id = (struct elf_bytes){notes.at + data_at, note.n_descsz};
            return true;
        }
        if (end >= notes.size)
            return false;
        notes.at += end;
        notes.size -= end;
    }
    return false;
}

static void read_build_id(struct elf_image *image)
{
    for (size_t i = 0; i < image->sections.n; i++)
        if (image->sections.at[i].type == SHT_NOTE &&
            find_build_id(image, image->sections.at[i].stored))
            return;
    for (size_t i = 0; i < image->segments.n; i++)
        if (image->segments.at[i].type == PT_NOTE &&
            find_build_id(image, image->segments.at[i].stored))
            return;
}

bool elf_same_build_id(struct elf_bytes a, struct elf_bytes b)
{
    return a.size == b.size && a.size && memcmp(a.at, b.at, a.size) == 0;
}

char *elf_build_id_text(struct elf_bytes id)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = mem_alloc(2 * id.size + 1);
    for (size_t i = 0; i < id.size; i++) {
        hex[2 * i] = digits[id.at[i] >> 4];
        hex[2 * i + 1] = digits[id.at[i] & 15];
    }
    return hex;
}

/* ---- opening and closing ---- */

struct elf_image *elf_open(const char *path, char **cause)
{
    struct stat status;
    const uint8_t *file = input_map(path, &status, cause);
    if (!file)
        return NULL;
    struct elf_image *image = mem_alloc(sizeof *image);
    image->path = mem_strdup(path);
    image->status = status;
    image->file = (struct elf_bytes){file, (size_t)status.st_size};
    Elf64_Ehdr header;
    const char *refusal = refuse(image, &header);
    if (refusal) {
        *cause = mem_strdup(refusal);
        elf_close(image);
        return NULL;
    }
    image->is_linked = header.e_type != ET_REL;
    read_sections(image, &header);
    read_segments(image, &header);
    find_code(image);
    read_build_id(image);
    return image;
}

void elf_close(struct elf_image *image)
{
    if (!image)
        return;
    for (size_t i = 0; i < image->sections.n; i++)
        free(image->sections.at[i].decompressed);
    vec_free(&image->sections);
    vec_free(&image->segments);
    vec_free(&image->code);
    munmap((void *)image->file.at, image->file.size);
    free(image->path);
    free(image->damage);
    free(image);
}
