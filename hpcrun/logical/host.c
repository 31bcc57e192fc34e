#include "hpcrun/logical/host.h"

#include "hpcrun/logical/agents.h"
#include "hpcrun/report.h"
#include "hpcrun/unwind/unwind.h"

#include <string.h>

static bool claim(const struct agent *agent, uint64_t start, uint64_t end)
{
    unsigned index = 0;
    while (index < MAX_AGENTS && agents.at[index] != agent)
        index++;
    return index < MAX_AGENTS && agents_claim(index, start, end);
}

static void log_line(const char *line)
{
    char buffer[1024];
    struct text text = TEXT(buffer);
    text_add(&text, line);
    report_log(&text);
}

/* What lies in one aligned word, as a runtime's fields do, is loaded with it: a word never lies in
 * two pages. */
static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    struct unwinder *u = cursor->unwinder;
    uint64_t word, offset = address % sizeof word;
    if (offset + size > sizeof word)
        return memory_read_guarded(&u->memory, address, to, size);
    if (!memory_load(&u->memory, address - offset, &word))
        return false;
    memcpy(to, (const char *)&word + offset, size);
    return true;
}

static bool path(const struct agent_cursor *cursor, uint32_t i, struct agent_frame *frame)
{
    const struct unwinder *u = cursor->unwinder;
    if (i >= u->depth)
        return false;
    *frame = (struct agent_frame){u->path[i].pc, u->path[i].sp, u->path[i].bp};
    return true;
}

/* hpcrun's own frames, which start threads, are no part of paths. */
static bool step(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    struct frame from = {.pc = frame->pc, .sp = frame->sp, .bp = frame->bp}, caller;
    do {
        if (!unwind_caller(cursor->unwinder, &from, &caller))
            return false;
        from = caller;
    } while (unwind_hidden(cursor->unwinder, &from));
    *frame = (struct agent_frame){from.pc, from.sp, from.bp};
    return true;
}

const struct agent_host *host_for_agents(void)
{
    static const struct agent_host host = {
        .interface = AGENT_INTERFACE,
        .claim = claim,
        .log = log_line,
        .read = read_memory,
        .path = path,
        .step = step,
    };
    return &host;
}
