/* deny-perf [-k NUMBER | -n NUMBER] COMMAND...: runs the command where perf_event_open is refused with EACCES, as
 * on stock Debian for ordinary users and in most containers; children too. With -k, the system call of
 * that number ends the process that makes it; with -n, it fails with EOPNOTSUPP. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    bool kills = count > 2 && strcmp(arguments[1], "-k") == 0;
    bool refuses = count > 2 && strcmp(arguments[1], "-n") == 0;
    int first = kills || refuses ? 3 : 1;
    unsigned other = first == 3 ? (unsigned)atoi(arguments[2]) : SYS_perf_event_open;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K,
                 kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    /* Root may filter without PR_SET_NO_NEW_PRIVS, which would make set-user-ID programs plain. */
    if (first >= count || (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 &&
                           (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0))) {
        fprintf(stderr, "deny-perf: %s\n", strerror(errno));
        return 125;
    }
    execvp(arguments[first], arguments + first);
    fprintf(stderr, "deny-perf: %s: %s\n", arguments[first], strerror(errno));
    return 127;
}
