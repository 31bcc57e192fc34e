/* Whether hpcrun's own system calls get through a filter that a program is about to put on itself.
 *
 * The filter, a program for the kernel's classic BPF machine, is run for each of them. What it
 * makes of their arguments is not followed: a filter that looks at these is taken for one that
 * forbids. */
#ifndef HPCRUN_HOOKS_SECCOMP_FILTER_H
#define HPCRUN_HOOKS_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

bool seccomp_lets_us_work(const struct sock_fprog *filter);

#endif
