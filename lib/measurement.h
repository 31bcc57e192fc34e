/* The contents of a measurement file (doc/FORMAT-hpcrun.md) in memory: the measurement of one
 * process, with deltas added up and ids resolved to indices.
 *
 * All memory belongs to the struct measurement until measurement_free. Strings are never NULL;
 * those that the file lacks are empty. Times are in ns, amounts in the fixed point of their event
 * (2^-shift of its unit). */
#ifndef LIB_MEASUREMENT_H
#define LIB_MEASUREMENT_H

#include "lib/alloc.h"
#include "lib/measurement-format.h"

#include <stdbool.h>
#include <stdint.h>

struct measurement_process {
    bool known; /* false: the record is lost; pid, start time and sequence are from the file name */
    char *host;
    uint64_t host_id;
    uint64_t pid, parent_pid, start_time, exec_sequence;
    int64_t rank; /* -1: none */
    uint64_t origin;
    char *executable, *directory;
    VEC(char *) arguments;
    uint64_t realtime, monotonic, cpu; /* clocks at initialization */
    uint64_t cpus;
    char *hpcrun_version;
    uint64_t clock_error; /* 1 + largest error of `realtime`, us; 0: unknown */
};

struct measurement_process_clock {
    uint64_t monotonic, cpu;
    uint64_t state, detail; /* enum process_state; signal number */
    uint64_t quota;         /* of CPU time, in thousandths of a CPU; 0: none, or unknown */
    bool has_throttled;
    uint64_t throttled; /* if has_throttled: how long the quota stopped the process's group, ns */
};

struct measurement_event {
    uint64_t id;
    char *name, *unit;
    uint64_t shift, period, flags; /* with EVENT_BY_RATE the period is CPU time in ns */
    char *why_other_source;        /* empty: the preferred source is used */
};

struct measurement_metric {
    uint64_t id;
    char *name;
    uint64_t flags;
    uint64_t event_id;
    uint32_t event; /* index in events, or MEASUREMENT_UNKNOWN */
};

#define MEASUREMENT_UNKNOWN UINT32_MAX

struct measurement_module {
    uint64_t id;
    uint64_t begin, end, bias;
    uint64_t flags, generation;
    char *path;
    uint8_t *build_id;
    size_t build_id_size;
    uint64_t header_hash, file_size, modified;
    bool used; /* some node has an ip or lip in it */
};

struct measurement_name {
    uint64_t value;
    char *procedure, *file;
    uint64_t line;
};

struct measurement_name_table {
    uint64_t number;
    VEC(struct measurement_name) names; /* sorted by value */
};

/* The name of code in no module, e.g. of a JIT compiler, at an address that some node has. */
struct measurement_code_name {
    uint64_t address;
    char *name;
};

struct measurement_agent {
    char *name, *version;
    uint64_t interface_version;
    char *rules, *rules_version;
};

/* How well a metric is known. */
struct measurement_metric_state {
    uint64_t metric_id, state; /* enum recorded_state; above: unknown */
    char *why;
    uint64_t error; /* the sum over all nodes is right within this, in the unit of its values */
};

/* An agent that could not serve the process, and why; "": it withdrew its refusal. */
struct measurement_refusal {
    char *agent, *why;
};

/* A region of the program that it names itself. Times are in 2^-TIME_SHIFT ns. */
struct measurement_region {
    char *name;
    uint64_t times, work, span, burdened_span, spawns;
    uint64_t flags; /* enum region_flag */
};

struct measurement_worker_change {
    uint64_t agent, monotonic, workers, n;
};

/* The space of an address or a logical value: an index in modules; MEASUREMENT_NAMES + an index in
 * name_tables; or one of these. */
enum measurement_space {
    MEASUREMENT_NAMES = 0x80000000u,
    MEASUREMENT_LOST_RECORD = 0xfffffffcu, /* a module or name table whose record is lost */
    MEASUREMENT_PLACEHOLDER = 0xfffffffdu, /* the offset is an enum placeholder */
    MEASUREMENT_NO_MODULE = 0xfffffffeu,   /* code in no module; the offset is its address */
    MEASUREMENT_NO_NOTE = 0xffffffffu,
};

struct measurement_node {
    uint32_t parent; /* index of the parent, smaller than the node's own */
    uint32_t ip_space, lip_space;
    uint8_t association;  /* enum association: the first that was seen */
    uint8_t associations; /* bit a: association a was seen */
    bool first_of_bichord;
    bool has_site;
    uint64_t ip_offset;
    uint64_t lip_value;
    uint64_t site; /* of the l-note, if has_site; a module's offset or a name table's line */
};

/* Whether a node's l-note names a procedure in a module, but no statement in it. */
static inline bool measurement_node_lacks_site(const struct measurement_node *node)
{
    return node->lip_space < MEASUREMENT_NAMES && !node->has_site;
}

/* Nodes are renumbered; these two always exist. */
enum measurement_fixed_node {
    MEASUREMENT_ROOT = 0,
    /* A partial path below the root: the parent of nodes whose ancestors are lost. It has the
     * values of lost nodes. */
    MEASUREMENT_LOST_NODE = 1,
};

struct measurement_value {
    uint32_t node, metric; /* indices */
    uint64_t amount;
};

struct measurement_fate {
    uint32_t event; /* index in events, or MEASUREMENT_UNKNOWN */
    uint32_t source, code;
    uint64_t count, amount;
};

/* A record of the time line (lib/trace-format.h); `time` is CLOCK_MONOTONIC, ns. */
struct measurement_trace_record {
    uint64_t time, amount; /* amount: shifted, with a state and flags */
    uint32_t node;         /* index in nodes; MEASUREMENT_ROOT: none */
    uint32_t n, working, waiters;
};

/* A region that the program names begins or ends; `time` is CLOCK_MONOTONIC, ns. */
struct measurement_mark {
    uint64_t time;
    uint64_t kind; /* enum mark_kind */
    char *name;
};

/* Another thread of the process ended a wait of this one; times are CLOCK_MONOTONIC, ns. */
struct measurement_wake_up {
    uint64_t time, began, released; /* when this thread went on, began to wait, and was released */
    uint32_t thread;                /* index of the other one */
};

/* The join of a thread by the thread that created it. */
struct measurement_join {
    bool known;     /* false: no such join is recorded */
    bool is_cut;    /* frames inside the frame of `node` were not compared, see JOINS */
    uint32_t node;  /* index of a node of the creator: the deepest frame of the creation path that
                       was live until the join; MEASUREMENT_ROOT: unknown */
    uint32_t space; /* with offset: where that frame waits for the join, as a node's ip */
    uint64_t offset;
};

struct measurement_thread {
    uint32_t index; /* in the process */
    bool known;     /* false: its THREAD record is lost; the fields up to `ended` are 0 */
    uint64_t tid, kind;
    char *name;
    uint64_t creator;          /* index of the creating thread + 1; 0: unknown */
    uint32_t creation_context; /* index of a node of the creator; MEASUREMENT_ROOT: unknown */
    struct measurement_join join;
    uint32_t start_space; /* of the start routine, as a node's ip; MEASUREMENT_NO_NOTE: unknown */
    uint64_t start_offset;
    uint64_t first_monotonic, first_cpu;
    uint64_t last_monotonic, last_cpu; /* not before the first */
    bool has_ready;
    /* If has_ready: time from first to last in which the thread had no CPU, ns; times that it got one. */
    uint64_t ready, timeslices;
    bool ended;
    bool recovered; /* its data comes from the arena file; at most its last sample is missing */
    VEC(struct measurement_node) nodes;
    VEC(struct measurement_value) values; /* sorted by node, then metric; each pair once */
    VEC(struct measurement_fate) fates;   /* sorted by event, source, code; each triple once */
    VEC(struct measurement_trace_record) trace; /* ascending by time; empty if nothing was traced */
    uint32_t trace_event; /* of the records: index in events, or MEASUREMENT_UNKNOWN */
    uint64_t trace_step;  /* samples for a record; 1: all samples have one */
    VEC(struct measurement_mark) marks; /* ascending by time */
    uint64_t lost_marks;                /* number of later ones, which are not recorded */
    VEC(struct measurement_wake_up) wake_ups; /* ascending by time */
    uint64_t lost_wake_ups; /* number of those that are left out: */
    /* Of the windows of time since the process's begin, ns each, one in `step` has all. */
    uint64_t wake_up_step, wake_up_window;
};

/* Clocks of a process, ns, as in struct measurement_process_clock. */
struct measurement_last {
    uint64_t monotonic, cpu;
};

struct measurement {
    char *path;
    const char *name; /* the last component of path */
    struct measurement_process process;
    struct measurement_process_clock clock;
    struct measurement_last listed; /* at its end, by the list of processes, if the file lacks it; 0: unknown */
    VEC(struct measurement_event) events;
    VEC(struct measurement_metric) metrics;
    VEC(struct measurement_module) modules;
    VEC(struct measurement_name_table) name_tables;
    VEC(struct measurement_code_name) code_names; /* sorted by address */
    VEC(struct measurement_agent) agents; /* all that were opened, also those that then refused */
    VEC(struct measurement_refusal) refusals;
    VEC(struct measurement_metric_state) metric_states; /* the last one of a metric counts */
    VEC(struct measurement_region) regions;
    VEC(struct measurement_worker_change) workers;
    VEC(struct measurement_thread) threads; /* sorted by index */
    /* Forks of the process that could not create files of their own. Their paths are those that such
     * files would have. */
    VEC(struct measurement *) children;
    uint32_t recovered;   /* number of threads that are */
    bool complete;        /* nothing is damaged or missing */
    VEC(char *) problems; /* one line each */
};

/* Reads a file. NULL if nothing can be read from it; *cause is then a line that says why, which the
 * caller frees. Any bytes are accepted: what is damaged is skipped and described in `problems`,
 * what is intact is used. Memory stays within a small multiple of the file's size. Several threads
 * may read different files at once. */
struct measurement *measurement_open(const char *path, char **cause);

void measurement_free(struct measurement *m);

/* Frees the nodes and values of a thread, most of its memory, before the rest. */
void measurement_free_tree(struct measurement_thread *thread);

/* The clocks at the last sign of life in the file: those of the process, or of its threads if they have more: a file
 * that was cut lacks the process's. */
struct measurement_last measurement_last_in_file(const struct measurement *m);

/* The same, or `listed` if that is more. */
struct measurement_last measurement_last(const struct measurement *m);

/* Why an agent refused to serve although its runtime was recognized; NULL if it did not. */
const char *measurement_refusal(const struct measurement *m, const char *agent);

/* How well a metric, an index in metrics, is known; NULL: the file does not say. */
const struct measurement_metric_state *measurement_metric_state(const struct measurement *m,
                                                                size_t metric);

/* Whether any agent served the process. */
bool measurement_has_agent(const struct measurement *m);

/* The thread with this index in the process; NULL if nothing of it is known. */
const struct measurement_thread *measurement_find_thread(const struct measurement *m,
                                                         uint64_t index);

/* The name of a value in a name table; NULL if it is lost. */
const struct measurement_name *measurement_name(const struct measurement *m, uint32_t space,
                                                uint64_t value);

/* The index of the first code name at or above an address. */
size_t measurement_first_code_name(const struct measurement *m, uint64_t address);

/* The name of the code at an address in no module; NULL if unknown. */
const struct measurement_code_name *measurement_code_name(const struct measurement *m,
                                                          uint64_t address);

/* Paths of files in a directory. */
struct measurement_files {
    VEC(char *) paths; /* sorted */
};

/* Lists the measurement files of a directory, its lists of processes (lib/process-list.h), or its names of kernel
 * procedures (lib/kernel-symbols.h). False
 * if the directory cannot be read; *cause is then a line that says why, which the caller frees. An
 * empty list is no error. */
bool measurement_list(const char *directory, struct measurement_files *files, char **cause);
bool measurement_list_processes(const char *directory, struct measurement_files *files,
                                char **cause);

bool measurement_list_kernels(const char *directory, struct measurement_files *files, char **cause);

void measurement_files_free(struct measurement_files *files);

#endif
