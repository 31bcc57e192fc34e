/* What procedures of the C library do; and which of Rust's libraries wait. */
#ifndef VIEWER_LIBC_PROCEDURES_H
#define VIEWER_LIBC_PROCEDURES_H

#include "viewer-tui/base/text.h"

/* What a thread waits for in a procedure of libc, or of a library of Rust. */
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

/* Whether threads begin in the procedure; frames further out belong to the creator. */
bool begins_thread(const char *procedure);

enum wait wait_of(const char *procedure);

/* Whether the procedure takes a lock, or releases one and wakes up the threads that wait for it. */
bool is_call_of_lock(const char *procedure);

/* Whether it stands for a lock: "<lock queue_lock>", below the procedure that waits, has `lock wait`. "<lock GIL,
 * kept for more than 20 ms>", below what holds it, has `lock blame`. */
#define LOCK_PREFIX "<lock "
bool is_name_of_lock(const char *procedure);

/* Whether it stands for the time in which a thread had no CPU, and a lock for which others waited. */
bool is_name_of_lock_without_cpu(const char *procedure);

/* "for a lock" */
const char *wait_name(enum wait wait);

/* Whether the procedure is only a system call, so that its own time is the kernel's. */
bool is_system_call(const char *procedure);

/* Whether a system call that user code makes by calling `callee`, directly or not, takes memory for
 * the allocator or gives it back. */
bool is_call_of_allocator(const char *system_call, const char *callee);

/* Adds the name under which a program calls a procedure of libc or libm: "sin" for "__sin_fma", "memmove" for
 * "__memmove_avx_unaligned_erms". */
void add_called_name(const char *procedure, struct text *out);

#endif
