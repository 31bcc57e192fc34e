/* Which procedures are code that the reader can change, and what libc's procedures do.
 *
 * System code is in modules below /lib or /usr/lib (except for the program itself), or inlined from
 * headers below /usr. All other code is user code, also code made at run time that has a name. */
#ifndef VIEWER_USER_CODE_H
#define VIEWER_USER_CODE_H

#include "viewer-tui/db/run.h"
#include "viewer-tui/tree/view.h"

/* What a thread waits for in a procedure of libc. */
enum wait {
    WAIT_NONE,
    WAIT_LOCK,
    WAIT_BARRIER,
    WAIT_SEMAPHORE,
    WAIT_IO,
    WAIT_SLEEP,
    WAIT_CONDITION,
    WAIT_POLL,
    WAIT_JOIN,
    WAIT_CHILD,
    WAITS
};

/* Whether a row is user code: a procedure or inlined procedure of a top-down view. Without `run`
 * (NULL) a program below /usr/lib counts as system code. */
bool is_user_code(const struct view *view, uint32_t row, const json_t *run);

/* Whether threads begin in the procedure; frames further out belong to the creator. */
bool begins_thread(const char *procedure);

enum wait wait_of(const char *procedure);

/* "for a lock" */
const char *wait_name(enum wait wait);

/* Whether the procedure is only a system call, so that its own time is the kernel's. */
bool is_system_call(const char *procedure);

/* Whether a system call that user code makes by calling `callee`, directly or not, takes memory for
 * the allocator or gives it back. */
bool is_call_of_allocator(const char *system_call, const char *callee);

#endif
