#include "hpcrun/launch/target.h"

#include "lib/diag.h"
#include "lib/mem.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND      127
#define MAX_SCRIPT_DEPTH      4

static void give_up(const char *file, const char *why, int status)
{
    diag_error(file, "%s", why);
    exit(status);
}

static bool is_executable_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static char *find_in_path(const char *command)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
        size_t length = strcspn(at, ":");
        char *candidate =
            mem_printf("%.*s/%s", length ? (int)length : 1, length ? at : ".", command);
        if (is_executable_file(candidate))
            return candidate;
        free(candidate);
        at += length + (at[length] == ':');
    }
    return NULL;
}

char *target_find(const char *command)
{
    struct stat status;
    if (!strchr(command, '/')) {
        char *found = *command ? find_in_path(command) : NULL;
        if (!found)
            give_up(command, "command not found", STATUS_NOT_FOUND);
        return found;
    }
    if (stat(command, &status) != 0)
        give_up(command, strerror(errno),
                errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
    if (S_ISDIR(status.st_mode))
        give_up(command, "is a directory", STATUS_NOT_EXECUTABLE);
    if (access(command, X_OK) != 0)
        give_up(command, strerror(errno), STATUS_NOT_EXECUTABLE);
    return mem_strdup(command);
}

/* The beginning of a file: all that is asked of it is there. */
struct head {
    unsigned char bytes[65536];
    size_t size;
};

static struct head *read_head(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL; /* an executable that may not be read can still be run, and judged by nobody */
    struct head *head = mem_alloc(sizeof *head);
    ssize_t size = read(fd, head->bytes, sizeof head->bytes);
    head->size = size > 0 ? (size_t)size : 0;
    close(fd);
    return head;
}

/* The program interpreter's path within the head, or NULL. */
static const char *interpreter(const struct head *head, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        uint64_t at = header->e_phoff + i * sizeof segment;
        if (at > head->size - sizeof segment)
            return NULL;
        memcpy(&segment, head->bytes + at, sizeof segment);
        if (segment.p_type == PT_INTERP && segment.p_offset < head->size &&
            memchr(head->bytes + segment.p_offset, 0, head->size - segment.p_offset))
            return (const char *)head->bytes + segment.p_offset;
    }
    return NULL;
}

static void check_elf(const char *path, const struct head *head)
{
    Elf64_Ehdr header;
    memcpy(&header, head->bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
        give_up(path, "not an x86-64 program: the profiler can't be loaded into it",
                STATUS_NOT_EXECUTABLE);
    const char *loader = interpreter(head, &header);
    if (!loader)
        give_up(path, "statically linked: the profiler can't be loaded into it",
                STATUS_NOT_EXECUTABLE);
    if (!strstr(loader, "ld-linux"))
        give_up(path, "not linked with glibc: the profiler can't be loaded into it",
                STATUS_NOT_EXECUTABLE);
}

/* The loader ignores LD_PRELOAD where a program gains rights. */
static void check_rights(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return;
    bool other_user = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
    bool other_group = (status.st_mode & S_ISGID) && status.st_gid != getegid();
    if (other_user || other_group)
        give_up(path,
                other_user ? "setuid: the profiler can't be loaded into it"
                           : "setgid: the profiler can't be loaded into it",
                STATUS_NOT_EXECUTABLE);
}

/* The interpreter of a script that begins with "#!"; owned by the caller. */
static char *script_interpreter(const struct head *head)
{
    const char *at = (const char *)head->bytes + 2;
    const char *end = memchr(at, '\n', head->size - 2);
    if (!end)
        return NULL;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    size_t length = strcspn(at, " \t\n");
    return length ? mem_strndup(at, length) : NULL;
}

static void check(const char *path, unsigned depth)
{
    check_rights(path);
    struct head *head = read_head(path);
    if (!head)
        return;
    if (head->size >= sizeof(Elf64_Ehdr) && memcmp(head->bytes, ELFMAG, SELFMAG) == 0) {
        check_elf(path, head);
    } else if (head->size > 2 && memcmp(head->bytes, "#!", 2) == 0 && depth < MAX_SCRIPT_DEPTH) {
        char *interpreter_path = script_interpreter(head);
        if (interpreter_path)
            check(interpreter_path, depth + 1);
        free(interpreter_path);
    }
    free(head);
}

void target_check(const char *path)
{
    check(path, 0);
}
