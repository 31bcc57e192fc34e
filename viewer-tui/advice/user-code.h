/* Which procedures on a path are code that the reader can change, and what libc's own ones do.
 *
 * Code of the system is what lies in a module below /lib or /usr/lib (but for the program itself),
 * or was inlined from a header below /usr. Everything else is user code, also what was made at run
 * time and has a name. */
#ifndef VIEWER_USER_CODE_H
#define VIEWER_USER_CODE_H

#include "viewer-tui/db/run.h"
#include "viewer-tui/tree/view.h"

/* What a thread waits for in a procedure of libc, by its name. */
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

/* Whether a row, a procedure or inlined one of a top-down view, is user code. */
bool is_user_code(const struct view *view, uint32_t row, const json_t *run);

/* Whether a procedure is where a thread begins: what is further out belongs to its creator. */
bool begins_thread(const char *procedure);

enum wait wait_of(const char *procedure);

/* "for a lock" */
const char *wait_name(enum wait wait);

/* Whether it is nothing but a system call, so that its own time is the kernel's. */
bool is_system_call(const char *procedure);

#endif
