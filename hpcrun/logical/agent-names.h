/* Signal handler: everything here runs in the sampling handler; lock-free.
 *
 * The name tables of agents: procedures without machine code of their own (struct agent_name). A table
 * is shared by all threads and never shrinks. Names of the same key that two threads see first at the
 * same time get two numbers, with equal texts. */
#ifndef HPCRUN_LOGICAL_AGENT_NAMES_H
#define HPCRUN_LOGICAL_AGENT_NAMES_H

#include "agents/agent.h"
#include "hpcrun/unwind/memory.h"

/* Longer texts end there: they would not fit into a chunk of the measurement file. */
#define NAMED_CODE_CHARACTERS 2000

struct named_code {
    struct named_code *next;  /* in its hash chain */
    struct named_code *older; /* the name that was added before this one; NULL: none */
    uint64_t key[AGENT_NAME_KEY];
    uint32_t agent;  /* index in `agents` */
    uint32_t number; /* key in the measurement file, from 1 */
    uint32_t line;
    enum agent_lines lines;
    uint32_t table_bytes;
    const uint8_t *table; /* copies, like the texts, which are UTF-8 */
    const char *procedure, *file;
};

/* The number of a name in the agent's table; 0: no memory, or its texts cannot be read. */
uint32_t agent_names_number(unsigned agent, const struct agent_name *name, struct memory *memory);

/* Copies a text as UTF-8, as many of its characters as fit; "" if it cannot be read. */
void agent_names_copy(const struct agent_text *text, struct memory *memory, char *to, size_t room);

/* The newest name of all agents; NULL: there is none. */
const struct named_code *agent_names_newest(void);

#endif
