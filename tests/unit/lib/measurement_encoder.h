/* An encoder of measurement files for unit tests, written from doc/FORMAT-hpcrun.md alone, and
 * checks of what the reader makes of them. Expects cmocka.
 *
 * A file is put together in `file`; the payload of the next chunk in `payload`. */
#ifndef TESTS_UNIT_LIB_MEASUREMENT_ENCODER_H
#define TESTS_UNIT_LIB_MEASUREMENT_ENCODER_H

#include "tests/unit/cmocka_suite.h"

#include "lib/measurement.h"

struct bytes {
    uint8_t at[1 << 21];
    size_t n;
};

extern struct bytes file, payload;

#define PROCESS 0xffffffffu /* for the thread of a chunk about the process */

void encode_u8(struct bytes *b, unsigned value);
void encode_fixed(struct bytes *b, uint64_t value, unsigned size);
void encode_v(struct bytes *b, uint64_t value);
void encode_string(struct bytes *b, const char *text);

/* Adds several varints to the payload. */
void encode_varints(const uint64_t *values, size_t count);
#define ENCODE(...)                                                                                \
    encode_varints((const uint64_t[]){__VA_ARGS__},                                                \
                   sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

void start_file(void);
void start_process_file(void); /* with its process, event and metrics: chunks 0 to 2 */

/* Ends the chunk whose payload was encoded; the next sequence number, or a given one. */
void end_chunk(unsigned kind, uint32_t thread);
void end_chunk_numbered(unsigned kind, uint32_t thread, uint32_t number);

/* Whole chunks. */
void put_process(void);
void put_events_and_metrics(void); /* work and idleness of CPUTIME */
void put_module(uint64_t id, const char *path);
void put_thread(uint32_t index);
void put_chain(uint32_t thread, unsigned count); /* of nodes below the root, ids from 1 */
void put_value(uint32_t thread, uint64_t node, uint64_t metric, uint64_t amount);

/* Parts of a payload. */
void put_event(const char *name);
/* A 1-1 node whose lip is its ip. */
void put_plain_node(uint64_t distance, uint64_t instance, uint64_t offset);

/* A temporary directory for the file, and the file's path. */
extern char directory[64], path[128];
int make_directory(void **state);
int remove_directory(void **state);
/* Writes bytes to the path and opens them; exactly one of result and *cause is NULL. The result is valid until the
 * next call. */
struct measurement *read_bytes(const uint8_t *data, size_t size, char **cause);

/* Opens the encoded file, as read_bytes; the test fails if that fails. */
struct measurement *read_file(void);

/* Asserts that some problem contains `part`. */
void assert_problem(const struct measurement *m, const char *part);

/* Asserts that the encoded file is refused and that the cause contains `part`. */
void assert_no_file(const char *part);

/* The sum of all amounts. */
uint64_t sum_of(const struct measurement *m);

#endif
