/* Signal handler: everything here may be used there.
 *
 * Pages of a file that outlive the process: shared mappings of the arena file (lib/arena-format.h).
 *
 * The file is mapped in windows, at addresses with a fixed distance to their offsets, away from the
 * program's mappings (as own-pages.c does). Blocks of the disk are allocated before a window is
 * used, since a store to a page without a block raises SIGBUS on a full disk. A window is not
 * mapped in the child of a fork, which must not change its parent's data.
 *
 * Pages are refused, so that the caller takes private ones, when the file system supports none of
 * this, when little of it is free, and after shared_pages_freeze. */
#ifndef HPCRUN_BASE_SHARED_PAGES_H
#define HPCRUN_BASE_SHARED_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes over a new, empty file, a descriptor that is ours. Returns 0, or a negative errno if it
 * can't be mapped; the descriptor stays the caller's then. */
int shared_pages_open(int fd);

/* Zeroed pages; NULL if there are none. */
void *shared_pages(size_t size);

/* The caller will use these bytes of a block: maps their pages at once, if the kernel can (since Linux 5.14). */
void shared_pages_touch(void *block, size_t size);

/* Gives pages back, for a later call with the same size. Normal context. */
void shared_pages_free(void *block, size_t size);

/* The offset of a block in the file. */
uint64_t shared_pages_offset(const void *block);

/* The program restricts its system calls: the file gets no more pages. */
void shared_pages_freeze(void);

/* The file gets no more pages. Those that are mapped stay. */
void shared_pages_close(void);

/* In the child of a fork: forgets the parent's pages, which are not mapped here. */
void shared_pages_after_fork(void);

/* For the fault handler: puts an empty private page at an address whose page of the file is gone
 * (another process has truncated the file, or the disk failed). False if the address is not in a
 * mapping of the file. */
bool shared_pages_fix_up(uint64_t address);

/* Does the same for all pages of a file that was truncated; needed before code that uses them with
 * SIGBUS blocked. */
void shared_pages_check(void);

/* Whether pages were replaced in this way: the data in the file is lost. */
bool shared_pages_are_lost(void);

#endif
