/* Reads what an agent may need of a thread that does not run now (caught-memory.h): the agent itself reads ahead
 * (agent.read_ahead), and what it has read becomes a record, with what the copy of the stack lacks. Several threads of
 * a process may do so, each with a catch of its own. */
#ifndef HPCRUN_OUTSIDE_CATCH_H
#define HPCRUN_OUTSIDE_CATCH_H

#include "agents/agent.h"
#include "hpcrun/outside/caught-memory.h"
#include "hpcrun/outside/ring-reader.h"

/* NULL without memory. */
struct catch;
struct catch *catch_new(void);

/* The record for a sample; NULL: nothing could be read. It is valid until the next call. `shared`: of agent.share,
 * NULL: no agent reads. `lacks`: the number of earlier records that lacked something (record_queue_lacks). The agent
 * must have been started with host_for_catches. */
const struct caught *catch_memory(struct catch *its, const struct sample_instant *sample, const void *shared,
                                  uint32_t lacks);
extern const struct agent_host host_for_catches;

#endif
