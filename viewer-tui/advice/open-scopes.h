/* The procedures and loops around a node of the tree, the outermost first, and to which line of the user's own code
 * their time belongs (time-places.h). A pass over the nodes in preorder opens and closes them. */
#ifndef VIEWER_OPEN_SCOPES_H
#define VIEWER_OPEN_SCOPES_H

#include "viewer-tui/advice/libc-procedures.h"
#include "viewer-tui/threads/thread-values.h"
#include "viewer-tui/tree/code-owner.h"

struct source_line {
    uint32_t file, line; /* NOTHING, 0 if unknown */
};

struct time_place {
    uint32_t procedure;    /* the innermost one of the user's own on the path; if there is none, the innermost one of a
                              package, or around it one of its module that has a name; else the one with the time;
                              NOTHING: unknown */
    enum code_owner owner; /* of the procedure */
    struct source_line at; /* in the procedure */
    struct source_line loop;   /* the innermost loop around that line in the procedure */
    struct source_line around; /* without one: the innermost loop around the call of the procedure, if the user's own */
    uint32_t callee;           /* the procedure of others that the line calls; NOTHING: none */
    uint32_t callee_module;    /* NOTHING: unknown */
    enum wait wait;            /* what the callee waits for */
    bool is_system_call;       /* the time is in a system call */
    bool is_of_lock;           /* the time is at a row that stands for a lock (is_name_of_lock) */
    bool is_without_cpu;       /* that row is is_name_of_lock_without_cpu */
    uint32_t leaf;             /* the procedure that has the time itself */
    uint32_t leaf_module;      /* NOTHING: unknown */
    bool has_line;             /* the code that has the time has source lines */
    double seconds;
    struct value_refs refs; /* the values of which this is the sum */
    struct value_refs joined_refs; /* those of another metric (time_places_join) */
    double saved; /* seconds by which a run without this waiting is shorter, estimated (lone-waits.h); INFINITY: unknown */
};

/* From a procedure outwards, up to the beginning of the thread: the innermost procedure of the highest owner, and what
 * it calls. */
struct call_chain {
    uint32_t found, found_module; /* that procedure, and its module; NOTHING: none is found */
    enum code_owner owner;
    bool has_name;
    struct source_line around; /* the innermost loop around its call, if the user's own */
    uint32_t callee, callee_module; /* the outermost procedure from the called one on whose name says something, or else
                                       the called one; NOTHING: the chain begins with the one that is found */
    bool callee_says;               /* its name does */
    struct source_line call, loop;  /* the line of the call, and the innermost loop around it */
    enum wait wait; /* of the outermost procedure that waits, from the called one on; if none is found, of all */
};

struct open_scope {
    uint32_t node; /* a procedure, inlined procedure or loop; 0: what is outside of all, the first one */
    uint32_t end;  /* the first node after it */
    bool is_loop;
    bool is_left_out;        /* its time is not wanted */
    uint32_t procedure;      /* id of the innermost one around its statements; NOTHING: none */
    bool is_own;             /* that procedure is the user's own */
    uint32_t module;         /* with its code; NOTHING: made at run time */
    struct source_line loop; /* the innermost one around its statements in the procedure */
    struct call_chain chain; /* of the procedure */
    const struct known_procedure *known; /* of the procedure (open-scopes.c) */
    bool is_in_kernel;       /* the line that called the kernel has the time: */
    uint32_t caller;         /* the index of its scope, */
    struct source_line call; /* and the line */
};

struct open_scopes {
    struct database *db;
    const struct nodes *nodes;
    bool shows_calls; /* else, as in the flat view, nobody calls procedures, and code outside of all is left out */
    struct known_procedure *procedures; /* by id: what open-scopes.c has looked up */
    VEC(struct open_scope) list;
};

/* With only the first one. The caller frees with open_scopes_free. */
struct open_scopes open_scopes_new(struct database *db, bool shows_calls);
void open_scopes_free(struct open_scopes *scopes);

/* The innermost one; valid until the next one is opened. */
static inline struct open_scope *open_scopes_top(const struct open_scopes *scopes)
{
    return &scopes->list.at[scopes->list.n - 1];
}

/* Opens a procedure, inlined procedure or loop in the innermost scope, which is around it. */
void open_scopes_enter(struct open_scopes *scopes, uint32_t node);

/* Opens those around a node, but not the node. */
void open_scopes_enter_around(struct open_scopes *scopes, uint32_t node);

/* The place of the time of a line in a scope, one of these. `has_line`: it is a line of the code that has the time. */
struct time_place scope_place(const struct open_scopes *scopes, const struct open_scope *scope, struct source_line line,
                              bool has_line);

#endif
