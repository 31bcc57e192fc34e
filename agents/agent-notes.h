/* What a call path consists of (agents/agent.h): p-notes and l-notes, and names of procedures that have no
 * machine code. */
#ifndef AGENTS_AGENT_NOTES_H
#define AGENTS_AGENT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

/* A p-note. */
struct agent_frame {
    uint64_t pc; /* exact in an interrupted frame, else the return address - 1 */
    uint64_t sp, bp;
};

/* An l-note.
 *
 *     space        value                        site; 0: unknown, so the note has no line
 *     AGENT_CODE   an address in the procedure  return address - 1 of the call in which it waits
 *     AGENT_NAMES  a name of agent_host.name    1 + position in the procedure (agent_lines)
 *
 * Native frames of another stack, e.g. of the thread that began a parallel region, may be another
 * agent's: an interpreter has called a function that began the region. An l-note that says where its
 * frame is on a stack is replaced by the l-notes that this other agent gives for it. */
enum agent_space { AGENT_CODE, AGENT_NAMES };
struct agent_lnote {
    enum agent_space space;
    uint64_t value;
    uint64_t site;
    uint64_t sp, bp; /* AGENT_CODE: registers of a frame whose pc is `value`; sp 0: there is none */
};

/* The l-note of a native frame. */
static inline struct agent_lnote agent_native_note(const struct agent_frame *frame)
{
    return (struct agent_lnote){AGENT_CODE, frame->pc, frame->pc, frame->sp, frame->bp};
}

/* ---- names ----
 *
 * Procedures that have no machine code of their own, as an interpreter's, have names in the agent's
 * name space. hpcrun copies what belongs to a name at its first sight, since the runtime may free it,
 * and writes it into the measurement file; hpcprof finds the line of a position.
 *
 * A runtime may free a procedure and place another one at its address. So a name is the same only if all
 * words of its key are: these are the procedure's address and whatever of it can change. */

/* A string in the runtime's memory. */
struct agent_text {
    uint64_t at;
    uint32_t length; /* in characters */
    uint32_t width;  /* bytes of a character: 1 for Latin-1, 2 or 4 for code points */
};

/* How a table maps positions to lines. */
enum agent_lines {
    AGENT_LINES_NONE, /* a position is a line */
    AGENT_LINES_PYTHON, /* a position is an offset in code units; the table is a co_linetable (PEP 626) */
};

#define AGENT_NAME_KEY 8

struct agent_name {
    uint64_t key[AGENT_NAME_KEY];
    struct agent_text procedure, file;
    uint32_t line; /* of the procedure's begin; 0: unknown */
    enum agent_lines lines;
    uint64_t table;       /* address of the line table */
    uint32_t table_bytes; /* at most AGENT_MAX_TABLE_BYTES are copied */
    bool is_own;          /* the texts are the agent's, not the program's */
};

#define AGENT_MAX_TABLE_BYTES (1u << 20)

#endif
