#include "hpcprof/modules/code-bytes.h"

#include "lib/alloc.h"
#include "lib/safe-input.h"

#include <gelf.h>
#include <unistd.h>

struct code_bytes code_bytes_open(const char *path, bool for_others)
{
    struct stat status;
    autofree char *cause = NULL;
    struct code_bytes code = {.fd = input_open(path, &status, &cause)};
    bool is_readable = code.fd >= 0 && (!for_others || status.st_mode & S_IROTH);
    if (is_readable && elf_version(EV_CURRENT) != EV_NONE)
        code.elf = elf_begin(code.fd, ELF_C_READ_MMAP, NULL);
    return code;
}

const uint8_t *code_bytes_at(const struct code_bytes *code, uint64_t address, size_t size)
{
    size_t n = 0;
    if (!code->elf || elf_kind(code->elf) != ELF_K_ELF || elf_getphdrnum(code->elf, &n) != 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(code->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz ||
            size > segment.p_filesz - (address - segment.p_vaddr))
            continue;
        int64_t at = (int64_t)(segment.p_offset + (address - segment.p_vaddr));
        const Elf_Data *data = elf_getdata_rawchunk(code->elf, at, size, ELF_T_BYTE);
        return data ? data->d_buf : NULL;
    }
    return NULL;
}

void code_bytes_close(struct code_bytes *code)
{
    if (code->elf)
        elf_end(code->elf);
    if (code->fd >= 0)
        close(code->fd);
}
