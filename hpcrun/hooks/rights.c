/* Hooks on functions that change the process's user, its groups or its root. Afterwards it may have no
 * right to write to the measurement directory, which is its user's alone: it opens its files before.
 * Programs that it then executes get no descriptor, since another user could write to the
 * measurement through it: they are not measured, and counted (hooks/exec.c). The same holds for a program that restricts
 * what files it may open (Landlock, by libc's `syscall`, as xz 5.6 does): hooks/bare-calls.c. */
#include "hpcrun/hooks/rights.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/hooks/fork.h"
#include "hpcrun/life/process-life.h"

#include <grp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <unistd.h>

void rights_change(void)
{
    if (fork_is_measured())
        process_before_change_of_rights();
}

#define RIGHTS_HOOK(name, parameters, arguments)                                                   \
    REAL_FUNCTION(name)                                                                            \
    HOOK int name parameters                                                                       \
    {                                                                                              \
        rights_change();                                                                           \
        return REAL(name) arguments;                                                               \
    }

RIGHTS_HOOK(setuid, (uid_t user), (user))
RIGHTS_HOOK(seteuid, (uid_t user), (user))
RIGHTS_HOOK(setreuid, (uid_t real, uid_t effective), (real, effective))
RIGHTS_HOOK(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
RIGHTS_HOOK(setfsuid, (uid_t user), (user))
RIGHTS_HOOK(setgid, (gid_t group), (group))
RIGHTS_HOOK(setegid, (gid_t group), (group))
RIGHTS_HOOK(setregid, (gid_t real, gid_t effective), (real, effective))
RIGHTS_HOOK(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
RIGHTS_HOOK(setfsgid, (gid_t group), (group))
RIGHTS_HOOK(setgroups, (size_t count, const gid_t *groups), (count, groups))
RIGHTS_HOOK(initgroups, (const char *user, gid_t group), (user, group))
RIGHTS_HOOK(chroot, (const char *root), (root))
RIGHTS_HOOK(setns, (int namespace, int kind), (namespace, kind))
