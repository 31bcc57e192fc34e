#include "hpcrun/process/output-directory.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In a user namespace the owner's id differs from HPCRUN_OWNER; it is the caller's own id there. If
 * the program has forbidden geteuid (seccomp), the owner can't be checked. */
static bool is_the_users(const struct stat *status)
{
    long user = sys0(SYS_geteuid);
    return status->st_uid == process.config.owner || user < 0 || status->st_uid == (uid_t)user;
}

int output_directory_open(int *directory)
{
    struct stat status;
    *directory = AT_FDCWD;
    long fd = sys4(SYS_openat, AT_FDCWD, process.config.directory,
                   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd == -EMFILE || fd == -ENFILE)
        return 0;
    if (fd < 0)
        return (int)fd;
    bool is_ours = sys2(SYS_fstat, fd, &status) == 0 && is_the_users(&status);
    if (is_ours && !fds_are_scarce()) {
        *directory = (int)fd;
        return 0;
    }
    sys1(SYS_close, fd); /* the file may need this last descriptor */
    return is_ours ? 0 : -EPERM;
}

void output_directory_close(int directory)
{
    if (directory >= 0)
        sys1(SYS_close, directory);
}

bool output_directory_may_be_lost(void)
{
    return process.rights_changed ||
           (process.config.owner != UINT_MAX && sys0(SYS_geteuid) != (long)process.config.owner);
}

/* Whether a user who does not own the directory may write there, as far as its mode says: a process may
 * still have capabilities that it loses with an exec. */
static bool mode_lets_others_write(int directory)
{
    struct stat status;
    return sys2(SYS_fstat, directory, &status) != 0 || status.st_uid == (uid_t)sys0(SYS_geteuid) ||
           sys0(SYS_geteuid) == 0 || (status.st_mode & (S_IWGRP | S_IWOTH));
}

/* What the process may open (Landlock) does not count for faccessat2. File systems without files that have no name: 0. */
static long create_unnamed(int directory)
{
    long fd = sys4(SYS_openat, directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return fd == -EOPNOTSUPP || fd == -EISDIR || fd == -ENOENT ? 0 : fd;
    return sys1(SYS_close, fd);
}

/* Kernels before 5.8 have no faccessat2. */
bool output_directory_is_lost(void)
{
    int directory;
    if (!output_directory_may_be_lost() || process_is_restricted())
        return false;
    if (output_directory_open(&directory) != 0)
        return true;
    if (directory == AT_FDCWD)
        return false; /* there are no descriptors to find out */
    long error = sys4(SYS_faccessat2, directory, ".", W_OK | X_OK, AT_EACCESS);
    if (error == 0)
        error = create_unnamed(directory);
    bool is_lost = error == -EACCES || error == -EROFS || !mode_lets_others_write(directory);
    output_directory_close(directory);
    return is_lost;
}

const char *output_directory_name(int directory, const char *path)
{
    return directory == AT_FDCWD ? path : path + strlen(process.config.directory) + strlen("/");
}

int output_file_mode(void)
{
    return process.config.shared ? 0666 : 0600;
}
