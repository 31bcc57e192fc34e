#include "hpcrun/hooks/exec-target.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SCRIPT_DEPTH 4
#define PRELOAD          "LD_PRELOAD="
#define LIBRARY          "libhpcrun.so"

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
    return sys4(SYS_pread64, fd, to, size, at) == (long)size;
}

/* Reads up to size - 1 bytes and ends them with 0. */
static void read_text(int fd, char *to, size_t size, uint64_t at)
{
    long length = sys4(SYS_pread64, fd, to, size - 1, at);
    to[length > 0 ? length : 0] = '\0';
}

static bool elf_loads_us(int fd, const Elf64_Ehdr *header)
{
    char loader[256];
    Elf64_Phdr segment;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
        return false;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (!read_at(fd, &segment, sizeof segment, header->e_phoff + i * sizeof segment))
            return true;
        if (segment.p_type == PT_INTERP) {
            read_text(fd, loader, sizeof loader, segment.p_offset);
            return strstr(loader, "ld-linux") != NULL;
        }
    }
    return true;
}

static bool loads_us(int fd, unsigned depth);

static bool opened_loads_us(int directory, const char *path, unsigned depth)
{
    int fd = (int)sys4(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    bool result = fd < 0 || loads_us(fd, depth);
    if (fd >= 0)
        sys1(SYS_close, fd);
    return result;
}

static bool script_loads_us(int fd, unsigned depth)
{
    char line[256]; /* what the kernel looks at */
    read_text(fd, line, sizeof line, 2);
    char *interpreter = line + strspn(line, " \t");
    interpreter[strcspn(interpreter, " \t\n")] = '\0';
    return depth == MAX_SCRIPT_DEPTH || opened_loads_us(AT_FDCWD, interpreter, depth + 1);
}

static bool loads_us(int fd, unsigned depth)
{
    Elf64_Ehdr header = {0};
    sys4(SYS_pread64, fd, &header, sizeof header, 0);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) == 0)
        return elf_loads_us(fd, &header);
    return memcmp(header.e_ident, "#!", 2) != 0 || script_loads_us(fd, depth);
}

bool exec_target_loads_us(int fd)
{
    return loads_us(fd, 0);
}

bool exec_target_at_loads_us(int directory, const char *path)
{
    return opened_loads_us(directory, path, 0);
}

bool exec_command_loads_us(const char *command)
{
    char path[PATH_MAX];
    const char *at = getenv("PATH");
    if (strchr(command, '/') || !at)
        return exec_target_at_loads_us(AT_FDCWD, command);
    for (size_t length; *at; at += length + (at[length] == ':')) {
        length = strcspn(at, ":");
        if (length + 1 + strlen(command) >= sizeof path)
            continue;
        memcpy(path, at, length);
        path[length] = '/';
        strcpy(path + length + (length > 0), command);
        if (sys3(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
            return exec_target_at_loads_us(AT_FDCWD, path);
    }
    return true;
}

struct environment_size environment_size(char *const *environment)
{
    struct environment_size size = {.entries = 1};
    for (; environment && *environment; environment++) {
        size.entries++;
        if (strncmp(*environment, PRELOAD, strlen(PRELOAD)) == 0)
            size.bytes = strlen(*environment) + 1;
    }
    return size;
}

static bool is_our_library(const char *path, size_t length)
{
    size_t name = strlen(LIBRARY);
    return length >= name && memcmp(path + length - name, LIBRARY, name) == 0;
}

static bool can_be_opened(const char *start, size_t length)
{
    char path[PATH_MAX];
    if (length >= sizeof path)
        return false;
    *(char *)mempcpy(path, start, length) = '\0';
    int fd = (int)sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0)
        sys1(SYS_close, fd);
    return fd >= 0 || fd == -EMFILE || fd == -ENFILE;
}

bool environment_reaches_us(char *const *environment)
{
    for (; environment && *environment; environment++) {
        const char *at = text_after(*environment, PRELOAD);
        for (size_t length; at && *at; at += length + (at[length] != '\0')) {
            length = strcspn(at, ": ");
            if (is_our_library(at, length) && !can_be_opened(at, length))
                return false;
        }
    }
    return true;
}

/* The list of libraries, between colons or spaces, without ours. False when nothing is left. */
static bool without_our_library(const char *entry, char *text)
{
    char *to = stpcpy(text, PRELOAD);
    bool any = false;
    for (const char *at = entry + strlen(PRELOAD); *at;) {
        size_t length = strcspn(at, ": ");
        if (length > 0 && !is_our_library(at, length)) {
            if (any)
                *to++ = ':';
            to = mempcpy(to, at, length);
            any = true;
        }
        at += length + (at[length] != '\0');
    }
    *to = '\0';
    return any;
}

void environment_without_us(char *const *environment, char **copy, char *text)
{
    for (; environment && *environment; environment++) {
        bool preloads = strncmp(*environment, PRELOAD, strlen(PRELOAD)) == 0;
        if (!preloads)
            *copy++ = *environment;
        else if (without_our_library(*environment, text))
            *copy++ = text;
    }
    *copy = NULL;
}
