/* Inside the reader of measurement files (lib/measurement.h): a measurement under
 * construction. Chunks come in any order, so ids are collected as they are and resolved when all
 * chunks were seen. Nobody else includes this. */
#ifndef LIB_MEASUREMENT_BUILDER_H
#define LIB_MEASUREMENT_BUILDER_H

#include "lib/bytes.h"
#include "lib/hash-tables.h"
#include "lib/measurement.h"

/* Unread bytes of a payload. Once something did not fit, `bad` is set and all reads give 0. */
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

uint64_t read_v(struct cursor *c);
uint8_t read_u8(struct cursor *c);
uint64_t read_u64(struct cursor *c);
/* A string, to be freed by the caller; empty when bad. */
char *read_string(struct cursor *c);
/* A count of entries that take at least `least` bytes each; bad when they can't fit. */
uint64_t read_count(struct cursor *c, size_t least);

/* Consecutive node ids of one thread, at consecutive indices. */
struct id_range {
    uint64_t first_id, count;
    uint32_t first_index;
};

/* What is known of a thread beside the measurement_thread of the same position. */
struct thread_state {
    VEC(struct id_range) ranges; /* ascending */
    uint64_t creation_context;   /* id in the creator */
    uint64_t lost_values, unknown_metrics;
};

/* An entry of JOINS. */
struct join_record {
    uint64_t thread, joiner, node; /* indices of the threads; id of a node of the joiner */
    uint32_t slot;                 /* in spaces */
    uint64_t offset;
    uint8_t flags; /* enum join_flag */
};

struct space_id {
    uint64_t id;
    bool names; /* a name table's number, else a module instance's id */
};

struct builder {
    struct measurement *m;
    struct idmap thread_positions; /* thread index -> position in m->threads and states */
    VEC(struct thread_state) states;
    struct idmap space_slots;    /* (id, names) -> index in spaces */
    VEC(struct space_id) spaces; /* nodes hold indices of these until they are resolved */
    VEC(struct join_record) joins;
    VEC(char) code_map; /* the text of all CODE NAMES */
    uint64_t problem_count;
};

/* Adds a line to the problems; beyond a bound only counts. */
#define MAX_PROBLEMS 64 /* as many lines as a person may want to read of one file */
void builder_problem(struct builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Decode a payload. They leave the cursor bad when it is malformed; what came before is kept. */
void decode_process_chunk(struct builder *b, enum chunk_kind kind, struct cursor *c);
void decode_thread_chunk(struct builder *b, enum chunk_kind kind, uint32_t thread,
                         struct cursor *c);

/* Free what a record holds. */
void release_event(struct measurement_event *event);
void release_module(struct measurement_module *module);
void release_name(struct measurement_name *name);
void release_agent(struct measurement_agent *agent);
void release_refusal(struct measurement_refusal *refusal);

/* The index of a node by its id; MEASUREMENT_LOST_NODE when there is no such node. */
uint32_t node_index(const struct thread_state *state, uint64_t id);

/* Names the code in no module that nodes are in, from the text of the perf map; after nodes were
 * resolved. */
void resolve_code_names(struct builder *b);

/* Turns ids into indices and brings everything into order, after the last chunk. */
void builder_resolve(struct builder *b);

#endif
