/* What the tests of signal hooks (hooks/signals.c, hooks/old-signals.c) share, on the real kernel:
 * handlers that record what they saw, and stubs of hpcrun that record samples and the end of the
 * process. A sample is a signal OURS from a timer. */
#ifndef TESTS_UNIT_HPCRUN_SIGNAL_RECORDER_H
#define TESTS_UNIT_HPCRUN_SIGNAL_RECORDER_H

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/hooks/signals.h"
#include "lib/measurement-format.h"

#define OURS (SIGRTMAX - 3) /* the sampling signal */

/* Samples since begin_test, and those that SIGIO stood for. */
extern unsigned samples, lost_samples;
extern uint64_t mask_in_sample;
extern void (*during_sample)(void); /* called in each sample, also a lost one; NULL: nothing */

extern uint32_t module_unloads; /* modules_generation() */

/* Calls of process_end since begin_test, also in children. */
struct process_ended {
    unsigned calls;
    enum process_state state; /* of the first call, as the following */
    int detail;
    uint64_t mask;
};
extern struct process_ended *process_ended;

/* What a handler of the program saw. volatile: raise is declared as if it called nothing here. */
struct seen {
    int calls, signal, value;
    uint64_t mask;
    bool has_context;
};
extern volatile struct seen seen;

/* Handlers of the program, which fill in `seen`. */
void on_signal(int signal);
void on_info(int signal, siginfo_t *info, void *context);

/* Sends a signal with the value 4711 to this thread. */
void send_signal(int signal, int code);

uint64_t kernel_mask(void);
struct sys_sigaction kernel_action(int signal);
struct sigaction action_of(int signal); /* that the program sees */
void set_action(int signal, void (*handler)(int), int flags);

/* Resets actions, mask and counts. Each test calls it itself, since cmocka sets handlers of its own
 * after a setup function. */
void begin_test(void);

/* Calls a function in a child, which a signal must end, after one process_end; or which must exit
 * with 0, without any. */
void assert_ends_by(void (*function)(void), int signal);
void assert_goes_on(void (*function)(void));

/* Hands the signals to hpcrun. For ALL_TESTS. */
int take_signals(void **state);

#endif
