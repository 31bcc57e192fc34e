/* Signal handler: everything here may be used there.
 *
 * Our file descriptors: kept high, close-on-exec, and known, so that the program's close, dup2 and
 * friends leave them alone (hooks/fd-hooks.c) and its own descriptors have the numbers that they
 * would have without us. */
#ifndef HPCRUN_BASE_OWN_FDS_H
#define HPCRUN_BASE_OWN_FDS_H

#include <stdbool.h>

/* Finds out where "high" begins. Once per process image before the rest. */
void fds_init(void);

/* Whether there are so few that none is taken but for the measurement. */
bool fds_are_scarce(void);

/* Keeps a descriptor for a time when there is none left for fds_open. */
void fds_reserve(void);

/* Opens a file, as openat, with a descriptor that is ours, close-on-exec. A negative errno on
 * failure. */
int fds_open(int directory, const char *name, int flags, int mode);

/* Moves a descriptor that was just opened up high and makes it ours. Closes `fd`; returns the new
 * number or a negative errno, never a low one. */
int fds_adopt(int fd);

/* Keeps one of ours instead of closing it, where nothing is kept. */
void fds_close_or_reserve(int fd);

void fds_give_up_reserve(void);

/* Closes one of ours; nothing for a negative one. */
void fds_close(int fd);

/* Whether the descriptor is ours. */
bool fds_is_ours(int fd);

/* Our lowest descriptor at or above `from`, or -1. */
int fds_next(int from);

#endif
