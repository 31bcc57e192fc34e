/* The parts of the reader of measurement files (measurement_open); included only by them.
 *
 *     measurement-reader.c      maps a file, finds its intact chunks, passes on their payloads
 *     measurement-process.c     decodes chunks of the process
 *     measurement-threads.c     decodes chunks of threads
 *     measurement-arenas.c      decodes what a killed process left in its arena file
 *     measurement-resolve.c     after the last chunk: turns ids into indices, sorts, adds up
 *     measurement-code-names.c  names the code that lies in no module
 *     measurement-lines.c       finds the lines of agents' own names
 *     measurement-builder.c     payload cursor, problems, freeing
 *
 * Chunks come in any order, so ids can only be resolved after the last chunk. */
#ifndef LIB_MEASUREMENT_BUILDER_H
#define LIB_MEASUREMENT_BUILDER_H

#include "lib/bytes.h"
#include "lib/hash-tables.h"
#include "lib/measurement.h"

/* The unread bytes of a payload. A read past the end sets `bad`; then all reads return 0. */
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

uint64_t read_v(struct cursor *c);
uint8_t read_u8(struct cursor *c);
uint64_t read_u64(struct cursor *c);
/* A string; empty if bad. The caller frees. */
char *read_string(struct cursor *c);
/* A number of entries of at least `least` bytes each; bad if so many cannot fit. */
uint64_t read_count(struct cursor *c, size_t least);

/* Consecutive node ids of one thread, at consecutive indices. */
struct id_range {
    uint64_t first_id, count;
    uint32_t first_index;
};

/* Facts about the measurement_thread at the same position that only the reader needs. */
struct thread_state {
    VEC(struct id_range) ranges; /* ascending */
    uint64_t creation_context;   /* id of a node of the creator */
    uint64_t lost_values, unknown_metrics;
    uint64_t trace_event; /* id; of the first chunk TRACE */
    uint64_t lost_records; /* records of the trace whose nodes are lost */
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

/* The file that a child of the process could not create, in pieces. */
struct child_file {
    uint64_t pid, start_time;
    VEC(uint8_t) bytes;
};

#define MAX_NAME_TABLES 256 /* one per agent */

/* The lines of a name: up to position `end`, exclusive. */
struct line_range {
    uint64_t end;
    uint32_t line;
};

struct line_table {
    enum line_encoding encoding;
    VEC(uint8_t) bytes;
    VEC(struct line_range) ranges; /* ascending; empty until some node needs them */
};

struct builder {
    struct measurement *m;
    bool is_child; /* the measurement itself comes from such pieces: it has no further ones */
    VEC(struct child_file) children;
    struct idmap child_positions; /* (pid, start time) -> position in children */
    struct idmap thread_positions; /* thread index -> position in m->threads and states */
    VEC(struct thread_state) states;
    struct idmap module_ids;     /* of the modules so far */
    struct idmap space_slots;    /* (id, names) -> index in spaces */
    VEC(struct space_id) spaces; /* until nodes are resolved, their spaces are indices in this */
    VEC(struct join_record) joins;
    VEC(struct line_table) lines;
    struct idmap line_positions; /* (value of a name, its table) -> position in lines */
    VEC(char) code_map; /* the text of all CODE NAMES chunks */
    uint64_t problem_count;
};

/* Adds a line to the problems; after MAX_PROBLEMS lines, more than a person reads about one file,
 * it only counts. */
#define MAX_PROBLEMS 64
void builder_problem(struct builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Decode a payload. A malformed payload leaves the cursor bad; the entries before the error are
 * kept. */
void decode_process_chunk(struct builder *b, enum chunk_kind kind, struct cursor *c);
void decode_thread_chunk(struct builder *b, enum chunk_kind kind, uint32_t thread,
                         struct cursor *c);

void decode_lines(struct builder *b, struct cursor *c);

/* Free the strings of a record. */
void release_event(struct measurement_event *event);
void release_module(struct measurement_module *module);
void release_name(struct measurement_name *name);
void release_agent(struct measurement_agent *agent);
void release_refusal(struct measurement_refusal *refusal);
void release_metric_state(struct measurement_metric_state *state);
void release_region(struct measurement_region *region);
void release_marks(struct measurement_thread *thread);

/* The index of the node with an id; MEASUREMENT_LOST_NODE if there is none. */
uint32_t node_index(const struct thread_state *state, uint64_t id);

/* Finds the names of nodes' addresses in no module in the text of the perf map. Call after nodes
 * were resolved. */
void resolve_code_names(struct builder *b);

/* Replaces the positions of l-notes in name tables by lines. Call after nodes were resolved. */
void resolve_lines(struct builder *b);
void free_lines(struct builder *b);

/* Turns ids into indices, sorts and adds up. Call after the last chunk. */
void builder_resolve(struct builder *b);

#endif
