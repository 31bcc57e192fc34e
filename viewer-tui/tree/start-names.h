/* Names of start code: what runs before a program's main function and before a thread's start routine. */
#ifndef VIEWER_START_NAMES_H
#define VIEWER_START_NAMES_H

#include <stdbool.h>

/* Whether a procedure is the outermost frame of a thread below its creation context: libc's,
 * libstdc++'s, or Rust's "<std::sys::thread::unix::Thread>::new::thread_start". */
bool name_begins_thread(const char *name);

/* Whether a procedure is start code: one that begins a thread, libc's, or Rust's. */
bool name_is_of_start(const char *name);

#endif
