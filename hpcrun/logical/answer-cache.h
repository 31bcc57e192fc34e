/* Signal handler: everything here runs in the sampling handler.
 *
 * What agents read for their answers at the last sample. An agent whose answers rest on nothing but
 * what it read (struct agent, `deterministic`) gives the same answers when all of that is the same: it
 * need not be asked. That is most samples, and comparing is one short loop where asking is a call
 * of many functions, whose code and data the processor has forgotten since the last sample.
 *
 * Kept apart for the three questions: what the thread is, how the workers fare, and the path. */
#ifndef HPCRUN_LOGICAL_ANSWER_CACHE_H
#define HPCRUN_LOGICAL_ANSWER_CACHE_H

#include "hpcrun/unwind/unwind.h"

enum recall_question { RECALL_CLASS, RECALL_COUNTS, RECALL_PATH, RECALL_QUESTIONS };

/* Words of memory that were read; more than this are not recalled. All but the words of very long
 * paths are in the first page. */
#define RECALL_CLASS_READS  32
#define RECALL_COUNTS_READS 32
#define RECALL_PATH_READS   960

struct recall_read {
    uint64_t address_and_size; /* the size, 1 to 8, in the topmost byte; lies in one aligned word */
    uint64_t value;
};

struct recall_answer {
    uint32_t reads;  /* how many */
    uint32_t frames; /* the outermost frames of the path, so many, were looked at */
    uint32_t depth;  /* of the path, if its end was looked at; else 0 */
    bool is_whole;   /* all that the answer rests on is here */
};

/* Zeroed memory recalls nothing. */
struct recall {
    struct recall_read *read; /* the questions' reads one behind the other; NULL at first */
    struct recall_answer answer[RECALL_QUESTIONS];
    enum recall_question asked; /* now */
    uint32_t epoch;             /* of the agents, that the answers are of */
};

/* Whether all that the last answer rests on is the same for the unwinder's path. */
bool recall_holds(const struct recall *recall, enum recall_question question, struct unwinder *u);

/* Begins the record of an answer. What is read until the next question belongs to it. */
void recall_ask(struct recall *recall, enum recall_question question);

/* The answer rests on this read of `size` bytes within one aligned word. */
void recall_note_read(struct recall *recall, uint64_t address, size_t size, uint64_t value);

/* It rests on frame i of the path, counted from outside, and so on all frames outside that. */
void recall_note_frame(struct recall *recall, uint32_t i);

/* It rests on the path's having no more than `depth` frames. */
void recall_note_depth(struct recall *recall, uint32_t depth);

/* It rests on something that is not recorded. */
void recall_spoil(struct recall *recall);

/* Forgets the answers. */
void recall_forget(struct recall *recall);
/* The same, and gives memory back. */
void recall_free(struct recall *recall);

#endif
