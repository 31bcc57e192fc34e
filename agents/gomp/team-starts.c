#include "agents/gomp/team-starts.h"

#include <string.h>

/* Bytes of code in front of the interrupted instruction, and from there on. */
enum { BEFORE = 24, BEHIND = 2 };

/* libgomp is stripped, so its instructions must tell. A thread that waits is interrupted
 *   - at a system call: the kernel goes back to that since it will repeat it. Calls that wake others
 *     are not interrupted;
 *   - behind a call that the kernel could not repeat, or had ended: one with a timeout, NULL. Those that
 *     wake others have none;
 *   - in a loop that begins with `pause`. */
static const uint8_t system_call[] = {0x0f, 0x05}, no_timeout[] = {0x45, 0x31, 0xd2},
                     pause[] = {0xf3, 0x90};

static bool has(const uint8_t *code, size_t size, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i + count <= size; i++)
        if (memcmp(code + i, bytes, count) == 0)
            return true;
    return false;
}

static bool is_waiting_code(const uint8_t code[BEFORE + BEHIND])
{
    const uint8_t *pc = code + BEFORE, *last = pc - sizeof system_call;
    if (memcmp(pc, system_call, sizeof system_call) == 0)
        return true;
    if (memcmp(last, system_call, sizeof system_call) == 0)
        return has(code, (size_t)(last - code), no_timeout, sizeof no_timeout);
    return has(code, BEFORE + BEHIND, pause, sizeof pause);
}

bool works_at_team_start(const struct agent_host *host, const struct agent_cursor *cursor)
{
    uint8_t code[BEFORE + BEHIND];
    const struct agent_slot *slot = slot_own();
    if (!slot ||
        atomic_load_explicit(&slot->state, memory_order_relaxed) != AGENT_SLOT_STARTING)
        return false;
    return !host->read(cursor, cursor->leaf.pc - BEFORE, code, sizeof code) ||
           !is_waiting_code(code);
}
