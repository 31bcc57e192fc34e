#include "tests/unit/agents/recording_host.h"

#include <string.h>

struct agent_claim claims[16];
unsigned claim_count, log_lines;
char last_line[256];

bool record_claim(const struct agent *agent, const struct agent_claim *its, size_t count)
{
    assert_ptr_equal(agent, &hpcrun_agent);
    assert_true(claim_count + count <= sizeof claims / sizeof *claims);
    for (size_t i = 0; i < count; i++) {
        assert_true(its[i].start < its[i].end);
        claims[claim_count++] = its[i];
    }
    return true;
}

bool recorded_claim(const struct agent *agent, uint64_t pc, struct agent_claim *found)
{
    assert_ptr_equal(agent, &hpcrun_agent);
    for (unsigned i = claim_count; i-- > 0;)
        if (claims[i].start <= pc && pc < claims[i].end) {
            *found = claims[i];
            return true;
        }
    return false;
}

void record_line(const char *line)
{
    assert_null(strchr(line, '\n'));
    assert_true(strlen(line) < sizeof last_line);
    strcpy(last_line, line);
    log_lines++;
}

void *fresh_state(void)
{
    static struct {
        _Alignas(16) char bytes[AGENT_MAX_STATE_BYTES];
    } memory[8];
    static unsigned turn;
    assert_true(hpcrun_agent.state_bytes <= AGENT_MAX_STATE_BYTES);
    return memset(&memory[turn++ % 8], 0, sizeof *memory);
}

void record_refusal(const struct agent *agent, const char *why)
{
    assert_ptr_equal(agent, &hpcrun_agent);
    if (why)
        record_line(why);
}
