/* What the tests of agents need of a host in normal context: it records claims and lines. How
 * memory is read and stacks are walked is each test's own. */
#ifndef TESTS_UNIT_AGENTS_RECORDING_HOST_H
#define TESTS_UNIT_AGENTS_RECORDING_HOST_H

#include "tests/unit/cmocka_suite.h"

#include "agents/agent.h"

#include <string.h>

static struct {
    uint64_t start, end;
} claims[16];
static unsigned claim_count, log_lines;
static char last_line[256];

static bool record_claim(const struct agent *agent, uint64_t start, uint64_t end)
{
    assert_ptr_equal(agent, &hpcrun_agent);
    assert_true(claim_count < sizeof claims / sizeof *claims && start < end);
    claims[claim_count].start = start;
    claims[claim_count++].end = end;
    return true;
}

static void record_line(const char *line)
{
    assert_null(strchr(line, '\n'));
    assert_true(strlen(line) < sizeof last_line);
    strcpy(last_line, line);
    log_lines++;
}

#endif
