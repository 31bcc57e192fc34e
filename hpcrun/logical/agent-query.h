/* Signal handler: everything here runs in the sampling handler, except where said otherwise.
 *
 * Queries to the agents at a sample: the thread's status in their runtimes, the number of working
 * workers, and the bichords of the physical path. An agent is called only if something that its
 * last answer depends on has changed (answer-cache.h). */
#ifndef HPCRUN_LOGICAL_AGENT_QUERY_H
#define HPCRUN_LOGICAL_AGENT_QUERY_H

#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/answer-cache.h"
#include "hpcrun/tree/lnotes.h"
#include "lib/arena-format.h"

/* A bichord that an agent made; its p-notes are adjacent frames of the path. */
struct bichord {
    uint32_t first, last;  /* indices in the path of its outermost and innermost p-note */
    uint32_t lnotes, size; /* index of its innermost l-note in bichords.lnotes, and their number */
    enum agent_association association;
    bool is_innermost; /* its p-note is that of its innermost l-note (agent_cursor.is_innermost) */
    uint32_t parent;   /* node of the tree below which it was entered */
};

/* An l-note as the agent returned it, and with its addresses as ips. */
struct answered_lnote {
    struct agent_lnote answer;
    struct lnote note;
    uint32_t node; /* of the tree; CCT_ROOT: it was not entered, or together with a p-note */
};

/* The bichords of one path, innermost first. Most paths have few: those lie in this struct, next to
 * other data of a sample, since the caches are cold. More of them get pages of their own. */
#define FEW_BICHORDS 16
#define FEW_LNOTES   32

struct bichords {
    uint32_t count, lnote_count;
    struct bichord *at;            /* `few`, or pages; NULL at first */
    struct answered_lnote *lnotes; /* `few_lnotes`, or pages */
    struct bichord few[FEW_BICHORDS];
    struct answered_lnote few_lnotes[FEW_LNOTES];
};

#define AGENT_BUDGET 98304

/* The status of a thread at a sample. */
struct thread_status {
    enum agent_thread_status kind;
    unsigned agent; /* index of the agent whose thread it is; not if AGENT_FOREIGN */
    struct agent_worker_counts counts; /* of that agent's runtime */
};

/* Data of a thread that lives from sample to sample. Zeroed memory is a thread without agents. */
struct agent_query {
    struct unwinder *unwinder; /* the thread's; set at each sample */
    int tid;
    struct answer_cache answers;
    struct thread_status status;
    struct bichords *previous, *current; /* of the last two paths that agents were asked about; NULL
                                            at first */
    struct bichords buffers[2];          /* `previous` and `current` point to these */
    uint32_t frame;     /* index in the path of the frame that an agent is asked about */
    int32_t budget;     /* words that agents may still read at this sample (agent-host.c) */
    bool cursors_begun; /* at this sample the cursors have the state of unwind_begin */
    struct agent_cursor cursor[MAX_AGENTS];
    /* The cursors' states, now and after unwind_begin. */
    struct agent_state {
        _Alignas(16) unsigned char bytes[AGENT_MAX_STATE_BYTES];
    } state[MAX_AGENTS], begin_state[MAX_AGENTS];
    char thread_name[ARENA_NAME_BYTES]; /* which an agent has given the thread; "": none has */
};

/* Begins the agents' unwinds of the calling thread, after the physical unwind, and asks for the
 * thread's status. */
const struct thread_status *agent_query_status(struct agent_query *query, struct unwinder *u,
                                               int tid);

/* Finds the bichords of the unwinder's path, after agent_query_status. Returns how many of its
 * outermost frames have the same tree nodes as in the previous path. */
uint32_t agent_query_path(struct agent_query *query);

/* Normal context, in the thread, with signals blocked: announces its begin or end to the agents. */
void agent_query_thread_begin(struct agent_query *query, struct unwinder *u, int tid,
                              struct agent_start_routine routine);
void agent_query_thread_end(struct agent_query *query);

/* Normal context, or with signals blocked: clears the data for another thread, or also frees it. */
void agent_query_clear(struct agent_query *query);
void agent_query_free(struct agent_query *query);

/* The services of hpcrun for agents (agent-host.c). */
const struct agent_host *host_for_agents(void);

/* Normal context, before agents are opened: what agents are to report of their runtimes. */
void host_observe_dag(const struct agent_dag *events);
void host_observe_tasks(const struct agent_tasks *events);

#endif
