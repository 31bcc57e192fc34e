/* The agents (agents/agent.h) that the profiled processes may use. */
#ifndef HPCRUN_LAUNCH_INSTALLED_AGENTS_H
#define HPCRUN_LAUNCH_INSTALLED_AGENTS_H

/* The value of HPCRUN_AGENTS (logical/agent-loader.h), from the rules files in the folder `agents`
 * beside the library at path `library`. `wanted` is "auto" for all that are installed, "none", or
 * names joined by commas; an unknown name ends the process with a message. The agent `unwanted` is
 * left out ("": none). The caller frees.
 * *preload: paths of those that must be preloaded, joined by ':'; "" for none. The caller frees. */
char *agents_list(const char *library, const char *wanted, const char *unwanted, char **preload);

#endif
