/* Signal handler: everything here runs in the sampling handler.
 *
 * Inputs of the agents' last answers. A deterministic agent (agents/agent.h) gives the same answer
 * again if all that it read is unchanged. This holds at most samples. Comparing the inputs is one
 * short loop; asking would call many functions, whose code and data have left the processor's
 * caches since the last sample.
 *
 * There is one answer for each of three questions: the thread's status, the counts of workers, the
 * bichords of the path. */
#ifndef HPCRUN_LOGICAL_ANSWER_CACHE_H
#define HPCRUN_LOGICAL_ANSWER_CACHE_H

#include "hpcrun/unwind/unwind.h"

enum agent_question { QUESTION_STATUS, QUESTION_COUNTS, QUESTION_PATH, QUESTIONS };

/* Most words of memory that an answer may depend on to be cached. The arrays of all questions take
 * 16 KiB; all but very long paths use only the first page. */
#define MAX_STATUS_READS 32
#define MAX_COUNTS_READS 64
#define MAX_PATH_READS   928

/* A read of memory, within one aligned word. */
struct cached_read {
    uint64_t address_and_size; /* the size, 1 to 8 bytes, is in the most significant byte */
    uint64_t value;
};

struct cached_answer {
    uint32_t reads;   /* number of reads that it depends on */
    uint32_t frames;  /* number of outermost frames of the path that it depends on */
    uint32_t depth;   /* depth of the path, if it depends on that; else 0 */
    bool is_complete; /* all its inputs are recorded, so it may be reused */
};

/* Zeroed memory has no answers. */
struct answer_cache {
    struct cached_read *read; /* reads of the three questions, one array; NULL at first */
    struct cached_answer answer[QUESTIONS];
    enum agent_question asked; /* the question that inputs are added to */
    uint32_t epoch;            /* agents.epoch when the answers were given */
};

/* Whether the last answer is valid for the unwinder's path: all its inputs are unchanged. */
bool answer_is_valid(const struct answer_cache *answers, enum agent_question question,
                     struct unwinder *u);

/* Begins a new answer. Inputs are added to it until the next answer_begin. */
void answer_begin(struct answer_cache *answers, enum agent_question question);

/* Whether inputs are recorded: false once something was not. */
static inline bool answer_is_recorded(const struct answer_cache *answers)
{
    return answers->answer[answers->asked].is_complete;
}

/* The answer depends on this read of `size` bytes within one aligned word. */
void answer_add_read(struct answer_cache *answers, uint64_t address, size_t size, uint64_t value);

/* It depends on frame i of the path, 0 being the outermost, and on all frames outside it. */
void answer_add_frame(struct answer_cache *answers, uint32_t i);

/* It depends on the depth of the path. */
void answer_add_depth(struct answer_cache *answers, uint32_t depth);

/* It depends on something that is not recorded. */
void answer_invalidate(struct answer_cache *answers);

/* Discards all answers. */
void answer_cache_clear(struct answer_cache *answers);
/* The same, and frees the memory. */
void answer_cache_free(struct answer_cache *answers);

#endif
