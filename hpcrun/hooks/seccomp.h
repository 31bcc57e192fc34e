/* Normal context: before the system call seccomp. */
#ifndef HPCRUN_HOOKS_SECCOMP_H
#define HPCRUN_HOOKS_SECCOMP_H

struct sock_fprog;

void seccomp_before_call(unsigned operation, const struct sock_fprog *filter);

#endif
