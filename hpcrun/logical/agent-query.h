/* Signal handler: everything here runs in the sampling handler, except where said otherwise.
 *
 * Asks the agents about a thread at a sample: what it is to their runtimes, how their workers fare,
 * and which bichords its physical path is made of. An agent is asked only when something that its
 * last answer rests on has changed (recall.h). */
#ifndef HPCRUN_LOGICAL_AGENT_QUERY_H
#define HPCRUN_LOGICAL_AGENT_QUERY_H

#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/answer-cache.h"
#include "hpcrun/tree/lnotes.h"

/* A bichord that is not a native frame. Its p-notes are neighbours in the path. */
struct bichord {
    uint32_t first, last;  /* indices in the path of its outermost and innermost p-note */
    uint32_t lnotes, size; /* its l-notes in `lnotes` of the path, innermost first */
    enum agent_association association;
};

/* An l-note as the agent said it, and in ips. */
struct told {
    struct agent_lnote said;
    struct lnote note;
};

/* The bichords of one path, innermost first. Few of them, as most paths have, stand together with
 * what else a sample touches, for the caches are cold; more go to pages of their own. */
#define FEW_BICHORDS 16
#define FEW_LNOTES   32

struct bichords {
    uint32_t count, lnote_count;
    struct bichord *at; /* `few`, or pages with room for the most; NULL at first */
    struct told *lnotes;
    struct bichord few[FEW_BICHORDS];
    struct told few_lnotes[FEW_LNOTES];
};

/* What the thread is to the runtimes at this sample, and how their workers fare. */
struct stance {
    enum agent_thread_status class;
    unsigned agent;                    /* whose worker it is, if it is one */
    struct agent_worker_counts counts; /* as that agent gave them */
};

/* What stays with a thread between samples. Zeroed memory is a thread that met no agent. */
struct consult {
    struct unwinder *unwinder; /* the thread's; set at each sample */
    int tid;
    struct recall recall;
    struct stance stance;
    struct bichords *last, *now; /* of the last path but one, and the last, that agents were asked
                                    about; NULL at first */
    struct bichords two[2];      /* these */
    bool is_begun;               /* the cursors are as `begin` left them, for this sample */
    struct agent_cursor cursor[MAX_AGENTS];
    uint64_t begun[MAX_AGENTS][AGENT_STATE_WORDS]; /* their states after `begin` */
};

/* Begins the agents' unwinds of the calling thread, after the physical one, and asks what the
 * thread is to them. */
const struct stance *consult_stance(struct consult *consult, struct unwinder *u, int tid);

/* Finds the bichords of the unwinder's path, after consult_stance; returns how many of its
 * outermost frames have the tree nodes that they had in the previous path. */
uint32_t consult_path(struct consult *consult);

/* Normal context, in the thread, signals blocked: tells the agents that it begins, or ends. */
void consult_thread_begin(struct consult *consult, struct unwinder *u, int tid,
                          struct agent_start_routine origin);
void consult_thread_end(struct consult *consult);

/* Normal context, or with signals blocked: forgets all that concerns a thread's samples. */
void consult_clear(struct consult *consult);
/* The same, and gives memory back. */
void consult_free(struct consult *consult);

/* What hpcrun does for agents (agent-host.c). */
const struct agent_host *host_for_agents(void);

#endif
