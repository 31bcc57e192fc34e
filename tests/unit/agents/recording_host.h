/* What the tests of agents need of a host in normal context: it records claims and lines. How
 * memory is read and stacks are walked is each test's own. */
#ifndef TESTS_UNIT_AGENTS_RECORDING_HOST_H
#define TESTS_UNIT_AGENTS_RECORDING_HOST_H

#include "tests/unit/cmocka_suite.h"

#include "agents/agent.h"

extern struct agent_claim claims[16];
extern unsigned claim_count, log_lines;
extern char last_line[256];

bool record_claim(const struct agent *agent, const struct agent_claim *its, size_t count);

/* The latest that is around `pc`: a test's one module may be claimed as several would be. */
bool recorded_claim(const struct agent *agent, uint64_t pc, struct agent_claim *found);

void record_line(const char *line);

/* As a line, unless it is taken back. */
void record_refusal(const struct agent *agent, const char *why);

#endif
