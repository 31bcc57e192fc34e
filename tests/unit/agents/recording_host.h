/* The part of a host that runs in normal context, for tests of agents: it records claims and log
 * lines. Each test has its own functions that read memory and walk stacks. */
#ifndef TESTS_UNIT_AGENTS_RECORDING_HOST_H
#define TESTS_UNIT_AGENTS_RECORDING_HOST_H

#include "tests/unit/cmocka_suite.h"

#include "agents/agent.h"

extern struct agent_claim claims[16];
extern unsigned claim_count, log_lines;
extern char last_line[256];

bool record_claim(const struct agent *agent, const struct agent_claim *its, size_t count);

/* The latest claim around `pc`. Claims may overlap, since a test's one module plays several. */
bool recorded_claim(const struct agent *agent, uint64_t pc, struct agent_claim *found);

void record_line(const char *line);

/* Zeroed memory for the state of a cursor, until this was called eight times more. */
void *fresh_state(void);

/* Recorded as a log line, except for withdrawals. */
void record_refusal(const struct agent *agent, const char *why);

#endif
