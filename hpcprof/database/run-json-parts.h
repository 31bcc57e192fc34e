/* The parts of run.json. Each writes members of the object that is open. */
#ifndef HPCPROF_RUN_JSON_PARTS_H
#define HPCPROF_RUN_JSON_PARTS_H

#include "hpcprof/database/traced-threads.h"
#include "hpcprof/measurement/process-ends.h"
#include "hpcprof/threads/thread-creations.h"

#include "lib/json.h"

struct run_json {
    struct json_writer json;
    const struct analysis *analysis;
    const struct thread_creations *creations;
    const struct process_ends *ends;
    const struct traced_threads *traced; /* NULL: there is no time line */
};

/* "metrics": the state of each metric, also of those that were not measured. */
void run_json_write_metrics(struct run_json *run);

/* "processes", with their threads. */
void run_json_write_processes(struct run_json *run);

/* An element of the "threads" of a process. `profile`: index of its profile in profile.db. */
void run_json_write_thread(struct run_json *run, const struct measurement_file *file,
                           const struct measurement_thread *thread, size_t profile);

/* The "regions" of a thread: those that the program names. */
void json_write_regions(struct json_writer *json, const char *key, const struct measurement *m,
                        const struct measurement_thread *thread);

/* "creation_paths": call paths that created threads. */
void run_json_write_creation_paths(struct run_json *run);

/* "unmeasured": programs that were not measured, by reason. */
void run_json_write_unmeasured(struct run_json *run);

#endif
