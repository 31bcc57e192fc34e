/* Which agents (agents/agent.h) the profiled processes may use. */
#ifndef HPCRUN_LAUNCH_INSTALLED_AGENTS_H
#define HPCRUN_LAUNCH_INSTALLED_AGENTS_H

/* Reads the rules files in the folder `agents` beside the preloaded library at `library` and makes
 * the value of HPCRUN_AGENTS (logical/agent-loader.h). `wanted` is "auto" for all that are
 * installed, "none", or names joined by commas; an unknown name ends the process with a message.
 * The caller frees. */
char *agents_list(const char *library, const char *wanted);

#endif
