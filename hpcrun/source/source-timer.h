/* Signal handler: timer_arm_* run there.
 *
 * POSIX timers that send the sampling signal to one thread, by the kernel's interface: libc's
 * allocates memory and can't be used where threads are adopted in a forked child. */
#ifndef HPCRUN_SOURCE_SOURCE_TIMER_H
#define HPCRUN_SOURCE_SOURCE_TIMER_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

/* Creates a timer on `clock` for the calling thread; its signals carry `value`. Returns its id or a
 * negative errno. */
long timer_open(clockid_t clock, int signal, void *value);
void timer_close(int timer);

/* Expires once, `ns` from now (at least 1). */
void timer_arm_once(int timer, uint64_t ns);
/* Expires at `at` on the timer's clock (at once when that is past), then every `interval` ns. */
void timer_arm_at(int timer, uint64_t at, uint64_t interval);
void timer_disarm(int timer);

#endif
