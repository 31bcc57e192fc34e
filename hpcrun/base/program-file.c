#include "hpcrun/base/program-file.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"

#include <elf.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define MAX_SCRIPT_DEPTH 4
#define MOUNTED_NOSUID   2 /* ST_NOSUID in f_flags of statfs */

struct file_check {
    bool rights;    /* also check whether the file gives rights */
    unsigned depth; /* number of scripts so far whose interpreter is a script */
};

static enum unmeasured check_file(int fd, struct file_check check);

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

/* ---- rights ---- */

static bool may_gain_user(void)
{
    return sys6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) != 1;
}

/* Set-group-ID without execute permission for the group marks a file for mandatory locks. */
static enum unmeasured check_mode(const struct stat *status)
{
    const mode_t group = S_ISGID | S_IXGRP;
    if ((status->st_mode & S_ISUID) && status->st_uid != (uid_t)sys0(SYS_getuid))
        return UNMEASURED_SETUID;
    if ((status->st_mode & group) == group && status->st_gid != (gid_t)sys0(SYS_getgid))
        return UNMEASURED_SETGID;
    return UNMEASURED_NONE;
}

/* Whether the extended attribute gives capabilities, effective or permitted. */
static bool gives_capabilities(const struct vfs_cap_data *caps, long size)
{
    if (size < (long)XATTR_CAPS_SZ_1)
        return false;
    bool both = size >= (long)XATTR_CAPS_SZ_2;
    return (caps->magic_etc & VFS_CAP_FLAGS_EFFECTIVE) || caps->data[0].permitted ||
           (both && caps->data[1].permitted);
}

/* The file is at `path`; if that is NULL, it is open as `fd`. */
static enum unmeasured check_rights(int fd, const char *path)
{
    struct stat status;
    struct statfs mount = {0};
    union {
        struct vfs_cap_data caps;
        char room[64]; /* newer versions are longer */
    } attribute = {0};
    const char *name = "security.capability";
    if ((path ? sys2(SYS_stat, path, &status) : sys2(SYS_fstat, fd, &status)) != 0)
        return UNMEASURED_NONE;
    long size = 0;
    if (sys0(SYS_getuid) != 0)
        size = path ? sys4(SYS_getxattr, path, name, &attribute, sizeof attribute)
                    : sys4(SYS_fgetxattr, fd, name, &attribute, sizeof attribute);
    enum unmeasured mode = check_mode(&status);
    bool capable = gives_capabilities(&attribute.caps, size);
    if (mode == UNMEASURED_NONE && !capable)
        return UNMEASURED_NONE;
    if ((path ? sys2(SYS_statfs, path, &mount) : sys2(SYS_fstatfs, fd, &mount)) == 0 &&
        (mount.f_flags & MOUNTED_NOSUID))
        return UNMEASURED_NONE;
    if (mode != UNMEASURED_NONE && may_gain_user())
        return mode;
    return capable ? UNMEASURED_CAPABILITIES : UNMEASURED_NONE;
}

/* ---- content ---- */

/* A path that leads to the file of a descriptor. */
struct descriptor_path {
    char at[64];
};

static struct descriptor_path descriptor_path(int fd)
{
    struct descriptor_path path;
    struct text text = TEXT(path.at);
    text_add(&text, "/proc/self/fd/");
    text_add_number(&text, (uint64_t)fd);
    return path;
}

/* The dynamic loader itself has no PT_INTERP, like a static program. A user may run it with a
 * program as its argument. */
static bool is_loader(int fd)
{
    char path[512] = "";
    sys3(SYS_readlink, descriptor_path(fd).at, path, sizeof path - 1);
    const char *slash = strrchr(path, '/');
    return slash && (text_after(slash, "/ld-linux") || text_after(slash, "/ld-2."));
}

static enum unmeasured check_elf(int fd, const Elf64_Ehdr *header)
{
    char loader[256];
    Elf64_Phdr segment;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
        return UNMEASURED_OTHER_MACHINE;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (!read_at(fd, &segment, sizeof segment, header->e_phoff + i * sizeof segment))
            return UNMEASURED_NONE; /* the kernel will refuse to run it */
        if (segment.p_type == PT_INTERP) {
            read_text(fd, loader, sizeof loader, segment.p_offset);
            return strstr(loader, "ld-linux") ? UNMEASURED_NONE : UNMEASURED_OTHER_LIBC;
        }
    }
    return is_loader(fd) ? UNMEASURED_NONE : UNMEASURED_STATIC;
}

static enum unmeasured check_path(int directory, const char *path, struct file_check check)
{
    int fd = (int)sys4(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    bool by_path = directory == AT_FDCWD || *path == '/';
    if (fd < 0)
        return fd == -EACCES && by_path && check.rights ? check_rights(-1, path) : UNMEASURED_NONE;
    enum unmeasured result = check_file(fd, check);
    sys1(SYS_close, fd);
    return result;
}

static enum unmeasured check_script(int fd, struct file_check check)
{
    char line[256]; /* the kernel reads no more */
    read_text(fd, line, sizeof line, 2);
    char *interpreter = line + strspn(line, " \t");
    interpreter[strcspn(interpreter, " \t\n")] = '\0';
    return check.depth++ == MAX_SCRIPT_DEPTH ? UNMEASURED_NONE
                                             : check_path(AT_FDCWD, interpreter, check);
}

static enum unmeasured check_file(int fd, struct file_check check)
{
    Elf64_Ehdr header = {0};
    sys4(SYS_pread64, fd, &header, sizeof header, 0);
    if (memcmp(header.e_ident, "#!", 2) == 0)
        return check_script(fd, check);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return UNMEASURED_NONE;
    enum unmeasured content = check_elf(fd, &header), rights = UNMEASURED_NONE;
    if (check.rights && content != UNMEASURED_OTHER_MACHINE)
        rights = check_rights(fd, NULL);
    return rights != UNMEASURED_NONE ? rights : content;
}

/* A descriptor that was opened with O_PATH cannot be read. */
enum unmeasured program_file_check(int fd, bool rights)
{
    const struct file_check check = {.rights = rights};
    char byte;
    if (sys4(SYS_pread64, fd, &byte, sizeof byte, 0) == -EBADF)
        return check_path(AT_FDCWD, descriptor_path(fd).at, check);
    return check_file(fd, check);
}

enum unmeasured program_file_check_at(int directory, const char *path, bool rights)
{
    return check_path(directory, path, (struct file_check){.rights = rights});
}
