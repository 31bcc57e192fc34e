#include "hpcrun/logical/answer-cache.h"

#include "hpcrun/base/sys.h"

#define SIZE_SHIFT 56
#define MAX_READS  (MAX_STATUS_READS + MAX_COUNTS_READS + MAX_PATH_READS)

static const struct {
    uint32_t first, limit;
} place[QUESTIONS] = {
    [QUESTION_STATUS] = {0, MAX_STATUS_READS},
    [QUESTION_COUNTS] = {MAX_STATUS_READS, MAX_COUNTS_READS},
    [QUESTION_PATH] = {MAX_STATUS_READS + MAX_COUNTS_READS, MAX_PATH_READS},
};

static bool same_frames(const struct cached_answer *answer, const struct unwinder *u)
{
    return answer->frames <= u->reused && (answer->depth == 0 || answer->depth == u->depth);
}

static bool same_word(const struct cached_read *read, struct unwinder *u)
{
    uint64_t size = read->address_and_size >> SIZE_SHIFT, word;
    uint64_t address = read->address_and_size & (((uint64_t)1 << SIZE_SHIFT) - 1);
    uint64_t offset = address % sizeof word;
    return memory_load(&u->memory, address - offset, &word) &&
           ((word >> 8 * offset ^ read->value) << (64 - 8 * size)) == 0;
}

bool answer_is_valid(const struct answer_cache *answers, enum agent_question question,
                     struct unwinder *u)
{
    const struct cached_answer *answer = &answers->answer[question];
    if (!answer->is_complete || !same_frames(answer, u))
        return false;
    const struct cached_read *read = answers->read + place[question].first;
    for (uint32_t i = 0; i < answer->reads; i++)
        if (!same_word(&read[i], u))
            return false;
    return true;
}

void answer_begin(struct answer_cache *answers, enum agent_question question)
{
    if (!answers->read)
        answers->read = sys_pages(MAX_READS * sizeof *answers->read);
    answers->asked = question;
    answers->answer[question] = (struct cached_answer){.is_complete = answers->read != NULL};
}

void answer_add_read(struct answer_cache *answers, uint64_t address, size_t size, uint64_t value)
{
    struct cached_answer *answer = &answers->answer[answers->asked];
    if (!answer->is_complete)
        return;
    if (answer->reads == place[answers->asked].limit) {
        answer->is_complete = false;
        return;
    }
    answers->read[place[answers->asked].first + answer->reads++] =
        (struct cached_read){address | (uint64_t)size << SIZE_SHIFT, value};
}

void answer_add_frame(struct answer_cache *answers, uint32_t i)
{
    struct cached_answer *answer = &answers->answer[answers->asked];
    if (i >= answer->frames)
        answer->frames = i + 1;
}

void answer_add_depth(struct answer_cache *answers, uint32_t depth)
{
    answers->answer[answers->asked].depth = depth;
    if (depth == 0)
        answer_invalidate(answers);
}

void answer_invalidate(struct answer_cache *answers)
{
    answers->answer[answers->asked].is_complete = false;
}

void answer_cache_clear(struct answer_cache *answers)
{
    for (int i = 0; i < QUESTIONS; i++)
        answers->answer[i].is_complete = false;
}

void answer_cache_free(struct answer_cache *answers)
{
    answer_cache_clear(answers);
    sys_pages_free(answers->read, MAX_READS * sizeof *answers->read);
    answers->read = NULL;
}
