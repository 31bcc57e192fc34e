/* The parts of run.json, and what they share. Each part writes members of the object that is
 * open. */
#ifndef HPCPROF_RUN_JSON_PARTS_H
#define HPCPROF_RUN_JSON_PARTS_H

#include "hpcprof/attribution/thread-creations.h"
#include "hpcprof/measurement/process-ends.h"

#include "lib/json.h"

struct run_json {
    struct json_writer json;
    const struct analysis *analysis;
    const struct thread_creations *creations;
    const struct process_ends *ends;
};

/* "metrics": the state of each metric, also of those that were not measured. */
void run_json_write_metrics(struct run_json *run);

/* "processes", with their threads. */
void run_json_write_processes(struct run_json *run);

/* An element of the "threads" of a process. `profile`: index of its profile in profile.db. */
void run_json_write_thread(struct run_json *run, const struct measurement_file *file,
                           const struct measurement_thread *thread, size_t profile);

/* "creation_paths": call paths that created threads. */
void run_json_write_creation_paths(struct run_json *run);

/* "unmeasured": programs that were not measured, by reason. */
void run_json_write_unmeasured(struct run_json *run);

void json_write_number(struct json_writer *json, const char *key, uint64_t value);
void json_write_amount(struct json_writer *json, const char *key, double value);
void json_write_truth(struct json_writer *json, const char *key, bool value);

/* The value, or null if it is not known. */
void json_write_known_number(struct json_writer *json, const char *key, bool is_known,
                             int64_t value);
void json_write_known_amount(struct json_writer *json, const char *key, bool is_known,
                             double value);

/* The name of a code; "code 42" if `name` is NULL, since this version does not know the code. */
void json_write_code(struct json_writer *json, const char *key, const char *name, uint64_t code);

double seconds(uint64_t nanoseconds);

#endif
