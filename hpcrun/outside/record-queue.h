/* The way of perf's records from the process that reads them (outside-reader.h) to the worker of a measured process:
 * a queue in memory that both share, with room for the samples of about a tenth of a second. One process
 * writes, one reads; neither waits for the other. */
#ifndef HPCRUN_OUTSIDE_RECORD_QUEUE_H
#define HPCRUN_OUTSIDE_RECORD_QUEUE_H

#include "hpcrun/outside/copy-size.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_queue;

#define MAX_QUEUES  512
#define QUEUE_BYTES (4u << 20) /* a power of two; all queues have 2 GB of addresses */

/* Maps all queues, before the first fork: MAX_QUEUES, or fewer below a limit of addresses. Their pages take memory when
 * they are first used. False: out of memory. */
bool record_queues_map(void);
unsigned record_queues_count(void);

/* An empty queue; NULL if all are in use. It is given back when its reader is gone. */
struct record_queue *record_queue_take(void);
void record_queue_give_back(struct record_queue *queue);

/* ---- for the writer ---- */

/* Whether there is room for a record, or will never be: samples are refused. */
bool record_queue_has_room(const struct record_queue *queue, const struct perf_event_header *record);

/* Appends a record. If there is no room, it is lost; samples leave room for other records. */
void record_queue_put(struct record_queue *queue, const struct perf_event_header *record);

/* Empty queues give the memory of their records back: one that was full once would keep it as long as its process
 * lives. */
void record_queues_trim(void);

/* From now on, or no longer, samples are refused: they are not taken. */
void record_queues_refuse(bool refuses);

/* Its reader looks by itself: it is not woken. So another thread than that of the other queues may write to it. */
void record_queue_is_looked_at(struct record_queue *queue);

/* What a reader wants to be read at the instant of each sample (frame-catcher.h): the rest of a stack that is deeper
 * than its copy; or also what an agent needs. */
enum queue_wish { QUEUE_WISHES_NOTHING, QUEUE_WISHES_STACKS, QUEUE_WISHES_AGENT };

/* The number of samples for which what was read for an agent was not enough. */
uint32_t record_queue_lacks(const struct record_queue *queue);

/* Whether a wish has come since the last call; that of a queue; and what the agent needs for it. */
bool record_queues_have_wishes(void);
enum queue_wish record_queue_wish(const struct record_queue *queue);
const void *record_queue_note(const struct record_queue *queue);

/* There will be no more records until this time, CLOCK_MONOTONIC, in any queue. Wakes the readers of queues that have
 * got records since the last call. */
void record_queues_wake(uint64_t until);

/* Why there will be no more records. */
enum queue_end { QUEUE_OPEN, QUEUE_PROCESS_ENDED, QUEUE_EXEC, QUEUE_MEASUREMENT_ENDED };
void record_queue_end(struct record_queue *queue, enum queue_end why);

/* Adds what was counted since the last call: record_queue_ask, and samples for which there was no room. */
void record_queue_demand(struct record_queue *queue, struct copy_demand *demand);

/* ---- for the reader ---- */

/* The first record, NULL: there is none; and its removal. */
const struct perf_event_header *record_queue_first(struct record_queue *queue);
/* The one after a record; NULL: there is none yet. */
const struct perf_event_header *record_queue_after(struct record_queue *queue, const struct perf_event_header *record);
void record_queue_remove_first(struct record_queue *queue);

bool record_queues_refuse_now(void);

/* Samples since the last call for which there was no room, and that were refused. */
struct lost_samples {
    uint64_t count, time; /* time: that they stand for, ns */
};
struct lost_samples record_queue_lost(struct record_queue *queue);
struct lost_samples record_queue_refused(struct record_queue *queue);

/* The time of the youngest lost record that was no sample; 0: none was lost. */
uint64_t record_queue_dropped_at(const struct record_queue *queue);

/* Counts a sample whose unwinding needed `bytes` bytes of the copy of its stack. */
void record_queue_ask(struct record_queue *queue, uint64_t bytes);

/* A wish takes the place of the one before. That of an agent has a note of up to QUEUE_NOTE_BYTES, and comes once. */
#define QUEUE_NOTE_BYTES 1024
void record_queue_make_wish(struct record_queue *queue, enum queue_wish wish, const void *note, size_t bytes);

void record_queue_note_lack(struct record_queue *queue);

/* What its reader has measured in all. The writer asks when the reader has ended. */
struct measured {
    uint64_t samples, cpu; /* CPU time of the process image, ns */
    uint64_t unseen;       /* threads that ended without a sample; 0 if samples stand for most of `cpu` */
    uint64_t unsampled;    /* the part of it without samples, if it is notable and perf hides the kernel */
    uint64_t system;       /* the part of that, at most, that was in the kernel */
};
void record_queue_note_measured(struct record_queue *queue, struct measured measured);
struct measured record_queue_measured(const struct record_queue *queue);

/* Why the process is better sampled by events of the CPUs: bits of enum wants_cpus (short-turns.h). The writer asks. */
void record_queue_want_cpus(struct record_queue *queue, unsigned why);
unsigned record_queue_wants_cpus(const struct record_queue *queue);

/* The measurement could not be written to its file up to now: an errno, or 0. The writer asks. */
void record_queue_note_write_error(struct record_queue *queue, int error);
int record_queue_write_error(const struct record_queue *queue);

enum queue_end record_queue_ended(const struct record_queue *queue);

/* What the writer has said: there is no record left until then, but those in the queue. */
uint64_t record_queues_until(void);

/* Waits until record_queues_until is later than `until`, until the queue has ended, or for a time, ns. */
void record_queue_wait(struct record_queue *queue, uint64_t until, uint64_t ns);

#endif
