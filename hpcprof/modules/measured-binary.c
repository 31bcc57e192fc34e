#include "hpcprof/modules/measured-binary.h"

#include "hpcprof/base/output-file.h"

#include "lib/alloc.h"
#include "lib/safe-input.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- identity of an ELF file ---- */

struct identity {
    char *build_id; /* in hexadecimal; empty: none */
    uint64_t header_hash;
};

static uint64_t fnv1a(uint64_t hash, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Finds the build-id among the notes; NULL if there is none. The caller frees. */
static char *build_id_in(const uint8_t *notes, size_t size)
{
    while (size >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr head;
        memcpy(&head, notes, sizeof head);
        size_t name_at = sizeof head,
               data_at = name_at + ((head.n_namesz + (size_t)3) & ~(size_t)3);
        if (data_at + head.n_descsz > size)
            return NULL;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(notes + name_at, "GNU", 4) == 0)
            return hexadecimal(notes + data_at, head.n_descsz);
        size_t next = data_at + ((head.n_descsz + (size_t)3) & ~(size_t)3);
        if (next > size)
            return NULL;
        notes += next;
        size -= next;
    }
    return NULL;
}

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
    return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Bytes of a note segment that are searched: notes are small, and the build-id comes early. */
#define MAX_NOTES (1 << 16)

static char *read_build_id(int fd, const Elf64_Phdr *segments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type != PT_NOTE)
            continue;
        size_t size = segments[i].p_filesz < MAX_NOTES ? segments[i].p_filesz : MAX_NOTES;
        autofree uint8_t *notes = mem_alloc(size);
        char *found =
            read_at(fd, notes, size, segments[i].p_offset) ? build_id_in(notes, size) : NULL;
        if (found)
            return found;
    }
    return mem_strdup("");
}

/* Returns false if the file is not an ELF file of this machine. */
static bool identify(int fd, struct identity *identity)
{
    Elf64_Ehdr header;
    if (!read_at(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    size_t size = header.e_phnum * sizeof(Elf64_Phdr);
    autofree Elf64_Phdr *segments = mem_alloc(size);
    bool whole = read_at(fd, segments, size, header.e_phoff);
    if (whole) {
        uint64_t hash = fnv1a(0xcbf29ce484222325u, (const uint8_t *)&header, sizeof header);
        identity->header_hash = fnv1a(hash, (const uint8_t *)segments, size);
        identity->build_id = read_build_id(fd, segments, header.e_phnum);
    }
    return whole;
}

/* ---- comparison ---- */

static uint64_t modification_time(const struct stat *status)
{
    return (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
}

static bool is_same(const struct load_module *module, const struct identity *identity,
                    const struct stat *status)
{
    if (module->build_id[0] != '\0')
        return strcmp(module->build_id, identity->build_id) == 0;
    return !module->is_replaced &&
           (!module->header_hash || module->header_hash == identity->header_hash) &&
           (!module->file_size || module->file_size == (uint64_t)status->st_size) &&
           (!module->modified || module->modified == modification_time(status));
}

static enum binary_match compare_open(int fd, const struct stat *status,
                                      const struct load_module *module, char **cause)
{
    struct identity identity = {0};
    if (!identify(fd, &identity)) {
        *cause = mem_strdup("not an x86-64 ELF file");
        return BINARY_UNUSABLE;
    }
    bool same = is_same(module, &identity, status);
    free(identity.build_id);
    if (!same)
        *cause = mem_strdup("it has changed since the run");
    return same ? BINARY_MATCHES : BINARY_CHANGED;
}

enum binary_match binary_compare(const char *path, const struct load_module *module, char **cause)
{
    struct stat status;
    int fd = input_open(path, &status, cause);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? BINARY_MISSING : BINARY_UNUSABLE;
    enum binary_match match = compare_open(fd, &status, module, cause);
    close(fd);
    return match;
}

/* ---- vdso ---- */

/* The kernel maps the vdso as a complete ELF image, section headers included. */
static size_t vdso_size(const uint8_t *image)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(image + header->e_phoff);
    size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    for (size_t i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset + segments[i].p_filesz > size)
            size = segments[i].p_offset + segments[i].p_filesz;
    return size;
}

bool binary_write_vdso(const struct load_module *module, const char *path)
{
    const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    if (!image || module->build_id[0] == '\0')
        return false;
    int fd = output_create(path);
    if (fd < 0)
        return false;
    size_t size = vdso_size(image);
    struct identity identity = {0};
    bool same = write(fd, image, size) == (ssize_t)size && identify(fd, &identity) &&
                strcmp(identity.build_id, module->build_id) == 0;
    free(identity.build_id);
    close(fd);
    return same;
}
