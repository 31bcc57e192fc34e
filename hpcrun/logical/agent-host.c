/* Signal handler: the functions that agents call there run there: claimed, read, path, step.
 *
 * The functions of struct agent_host (agents/agent.h). */
#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/claims.h"
#include "hpcrun/process/report.h"

#include <string.h>

/* MAX_AGENTS: none of this process's. */
static unsigned index_of(const struct agent *agent)
{
    unsigned index = 0;
    while (index < MAX_AGENTS && agents.at[index] != agent)
        index++;
    return index;
}

static bool claim(const struct agent *agent, const struct agent_claim *claims, size_t count)
{
    unsigned index = index_of(agent);
    return index < MAX_AGENTS && claims_add(index, claims, count);
}

static bool find_claim(const struct agent *agent, uint64_t pc, struct agent_claim *found)
{
    return claims_around(index_of(agent), pc, found);
}

static void log_line(const char *line)
{
    char buffer[1024];
    struct text text = TEXT(buffer);
    text_add(&text, line);
    report_log(&text);
}

static void refuse(const struct agent *agent, const char *why)
{
    if (why)
        refusals_add(agent->name, why);
    else
        refusals_withdraw(agent->name);
}

/* What lies in one aligned word, as a runtime's fields do, is loaded with it: a word never lies in
 * two pages. Only that is recalled. */
static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    struct consult *consult = cursor->host_private;
    struct memory *memory = &consult->unwinder->memory;
    uint64_t word, offset = address % sizeof word;
    if (size == 0 || offset + size > sizeof word) {
        recall_spoil(&consult->recall);
        return memory_read_guarded(memory, address, to, size);
    }
    if (!memory_load(memory, address - offset, &word)) {
        recall_spoil(&consult->recall);
        return false;
    }
    word >>= 8 * offset;
    memcpy(to, &word, size);
    recall_note_read(&consult->recall, address, size, word);
    return true;
}

static bool path_frame(const struct agent_cursor *cursor, uint32_t i, struct agent_frame *frame)
{
    struct consult *consult = cursor->host_private;
    const struct unwinder *u = consult->unwinder;
    if (i >= u->depth) {
        recall_note_depth(&consult->recall, u->depth);
        return false;
    }
    recall_note_frame(&consult->recall, i);
    *frame = (struct agent_frame){u->path[i].pc, u->path[i].sp, u->path[i].bp};
    return true;
}

/* A step rests on the words that gave the caller, or on the frame's rule alone. */
static void note_step(struct consult *consult, const struct frame *frame,
                      const struct frame *caller, bool stepped)
{
    if (!stepped) {
        if (!unwind_outermost(consult->unwinder, frame))
            recall_spoil(&consult->recall);
    } else if (frame->link == LINK_IRREGULAR) {
        recall_spoil(&consult->recall);
    } else {
        recall_note_read(&consult->recall, caller->sp - 8, 8, caller->pc + 1);
        if (frame->link != LINK_BP_SAME)
            recall_note_read(&consult->recall, caller->sp + (uint64_t)frame->link, 8, caller->bp);
    }
}

/* hpcrun's own frames, which start threads, are no part of paths. */
static bool step(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    struct consult *consult = cursor->host_private;
    struct unwinder *u = consult->unwinder;
    struct frame from = {.pc = frame->pc, .sp = frame->sp, .bp = frame->bp}, caller = {0};
    do {
        bool stepped = unwind_caller(u, &from, &caller);
        note_step(consult, &from, &caller, stepped);
        if (!stepped)
            return false;
        from = caller;
    } while (unwind_hidden(u, &from));
    *frame = (struct agent_frame){from.pc, from.sp, from.bp};
    return true;
}

const struct agent_host *host_for_agents(void)
{
    static const struct agent_host host = {
        .interface = AGENT_INTERFACE,
        .claim = claim,
        .find_claim = find_claim,
        .log = log_line,
        .refuse = refuse,
        .read = read_memory,
        .path_frame = path_frame,
        .step = step,
    };
    return &host;
}
