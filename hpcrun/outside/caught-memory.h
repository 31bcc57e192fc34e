/* What an agent reads of the measured process at a sample, as it was at the instant of the sample; and the rest of a
 * deep stack.
 *
 * A copy of the stack comes with a sample, but an interpreter's frames lie elsewhere, and the process runs on. So the
 * reader has a thread on each CPU (frame-catcher.h), which every sample there wakes. Mostly it gets the CPU before the
 * sampled thread executes another instruction, and reads the frames while that thread waits for the CPU. These records
 * prove it:
 *
 *     time ->   sample          switch out               began      ended          switch in
 *               registers  ==   registers                reads by the agent
 *
 * The first switch has the registers of the sample (of all events, perf's context-switches alone tell), and the thread
 * gets no CPU until the last word is read. What is not proven is not used. Of a stack, the end of its copy is proof
 * enough (foreign-memory.h). */
#ifndef HPCRUN_OUTSIDE_CAUGHT_MEMORY_H
#define HPCRUN_OUTSIDE_CAUGHT_MEMORY_H

#include "hpcrun/outside/perf-records.h"
#include "hpcrun/outside/record-queue.h"

/* Memory is caught in blocks, so that a record that the interpreter's structures are in takes one or two reads. */
#define CAUGHT_BLOCK_BYTES 128
#define CAUGHT_BLOCKS      470 /* so that a record has less than 64 KB */

/* Bytes before the end of a stack's copy, from where on the rest of the stack is read. They are compared with the
 * copy's: if they differ, the stack has changed since the sample (foreign-memory.c). They are a page, since the rest is
 * used page by page: the page in which the copy ends must be there from its begin. */
#define CAUGHT_COPY_BYTES 4096

/* A record of type PERF_RECORD_CAUGHT, which follows the sample in the worker's queue. */
struct caught {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time;         /* of the sample */
    uint64_t began, ended; /* CLOCK_MONOTONIC: the blocks were read in between */
    uint64_t hint;         /* agent_cursor.hint */
    uint64_t count;
    uint64_t address[CAUGHT_BLOCKS]; /* of each block */
    uint8_t bytes[CAUGHT_BLOCKS][CAUGHT_BLOCK_BYTES];
};

/* The record itself has only the blocks that are there: their bytes follow the last address. */
size_t caught_size(uint64_t count);
const uint8_t *caught_block(const struct caught *caught, uint64_t i);

enum caught_proof { CAUGHT_PROVEN, CAUGHT_NOT_PROVEN, CAUGHT_NOT_YET };

/* What was read at a sample in the queue; NULL: no such record follows it. */
const struct caught *caught_after(struct record_queue *queue, const struct perf_event_header *sample);

/* Whether that memory is of the instant of the sample. There are no further records of times before `until`. NOT_YET:
 * records that decide it have still to come. */
enum caught_proof caught_prove(struct record_queue *queue, const struct perf_event_header *sample, uint64_t until);

/* Reads what is in a record; false if it has not all of it. */
bool caught_copy(const struct caught *caught, uint64_t address, void *to, size_t size);

/* The memory for the next sample; NULL: there is none. caught_read fails for other addresses than the record's;
 * caught_is_whole: it has not failed. caught_lacks: it has, although there is a record. */
void caught_use(const struct caught *caught);
bool caught_read(uint64_t address, void *to, size_t size);
bool caught_is_whole(void);
bool caught_lacks(void);
uint64_t caught_hint(void);

#endif
