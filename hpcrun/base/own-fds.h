/* Signal handler: everything here may be used there.
 *
 * Our file descriptors. They are moved to high numbers, so that the program's descriptors have the
 * same numbers as without us: above its limit (RLIMIT_NOFILE), which then leaves it as many as without
 * us, or, where the hard limit is no higher, in the last quarter of the table. They are close-on-exec;
 * and they are recorded here, so that the program's close, dup2 and relatives do not touch them
 * (hooks/fd-hooks.c). */
#ifndef HPCRUN_BASE_OWN_FDS_H
#define HPCRUN_BASE_OWN_FDS_H

#include <stdbool.h>

/* Computes the first high number from RLIMIT_NOFILE. Once per process image, before the rest. */
void fds_init(void);

/* In the child of a fork, before the rest: another thread of the parent may have raised the limit for a moment. */
void fds_after_fork(void);

/* Whether RLIMIT_NOFILE is so low that descriptors are used for the measurement only. */
bool fds_are_scarce(void);

/* Whether the program's table has so few that a descriptor for each thread and event is too much. */
bool fds_are_few(void);

/* Reserves a descriptor; fds_open uses it when the program has taken all others. */
void fds_reserve(void);

/* Opens a file, as openat, with a descriptor that is ours, close-on-exec. A negative errno on
 * failure. */
int fds_open(int directory, const char *name, int flags, int mode);

/* Moves a descriptor that was just opened up high and makes it ours. Closes `fd`; returns the new
 * number or a negative errno, never a low one. */
int fds_adopt(int fd);

/* Makes one of ours the reserve if there is none; otherwise closes it. */
void fds_close_or_reserve(int fd);

void fds_release_reserve(void);

/* Closes one of ours; does nothing if `fd` is negative. */
void fds_close(int fd);

/* Whether the descriptor is ours. */
bool fds_is_ours(int fd);

/* Our lowest descriptor at or above `from`, or -1. */
int fds_next(int from);

#endif
