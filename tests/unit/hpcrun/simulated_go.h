/* A module of its own, with the note that Go's linker writes. */
#ifndef TESTS_UNIT_HPCRUN_SIMULATED_GO_H
#define TESTS_UNIT_HPCRUN_SIMULATED_GO_H

#include <signal.h>

extern void (*during_handler_of_go)(void);
void handler_of_go(int signal, siginfo_t *info, void *context);

#endif
