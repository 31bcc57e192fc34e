#include "hpcrun/logical/answer-cache.h"

#include "hpcrun/base/sys.h"

#define SIZE_SHIFT 56
#define ALL_READS  (RECALL_CLASS_READS + RECALL_COUNTS_READS + RECALL_PATH_READS)

static const struct {
    uint32_t first, limit;
} place[RECALL_QUESTIONS] = {
    [RECALL_CLASS] = {0, RECALL_CLASS_READS},
    [RECALL_COUNTS] = {RECALL_CLASS_READS, RECALL_COUNTS_READS},
    [RECALL_PATH] = {RECALL_CLASS_READS + RECALL_COUNTS_READS, RECALL_PATH_READS},
};

static bool same_frames(const struct recall_answer *answer, const struct unwinder *u)
{
    return answer->frames <= u->reused && (answer->depth == 0 || answer->depth == u->depth);
}

static bool same_word(const struct recall_read *read, struct unwinder *u)
{
    uint64_t size = read->address_and_size >> SIZE_SHIFT, word;
    uint64_t address = read->address_and_size & (((uint64_t)1 << SIZE_SHIFT) - 1);
    uint64_t offset = address % sizeof word;
    return memory_load(&u->memory, address - offset, &word) &&
           ((word >> 8 * offset ^ read->value) << (64 - 8 * size)) == 0;
}

bool recall_holds(const struct recall *recall, enum recall_question question, struct unwinder *u)
{
    const struct recall_answer *answer = &recall->answer[question];
    if (!answer->is_whole || !same_frames(answer, u))
        return false;
    const struct recall_read *read = recall->read + place[question].first;
    for (uint32_t i = 0; i < answer->reads; i++)
        if (!same_word(&read[i], u))
            return false;
    return true;
}

void recall_ask(struct recall *recall, enum recall_question question)
{
    if (!recall->read)
        recall->read = sys_pages(ALL_READS * sizeof *recall->read);
    recall->asked = question;
    recall->answer[question] = (struct recall_answer){.is_whole = recall->read != NULL};
}

void recall_note_read(struct recall *recall, uint64_t address, size_t size, uint64_t value)
{
    struct recall_answer *answer = &recall->answer[recall->asked];
    if (!answer->is_whole)
        return;
    if (answer->reads == place[recall->asked].limit) {
        answer->is_whole = false;
        return;
    }
    recall->read[place[recall->asked].first + answer->reads++] =
        (struct recall_read){address | (uint64_t)size << SIZE_SHIFT, value};
}

void recall_note_frame(struct recall *recall, uint32_t i)
{
    struct recall_answer *answer = &recall->answer[recall->asked];
    if (i >= answer->frames)
        answer->frames = i + 1;
}

void recall_note_depth(struct recall *recall, uint32_t depth)
{
    recall->answer[recall->asked].depth = depth;
    if (depth == 0)
        recall_spoil(recall);
}

void recall_spoil(struct recall *recall)
{
    recall->answer[recall->asked].is_whole = false;
}

void recall_forget(struct recall *recall)
{
    for (int i = 0; i < RECALL_QUESTIONS; i++)
        recall->answer[i].is_whole = false;
}

void recall_free(struct recall *recall)
{
    recall_forget(recall);
    sys_pages_free(recall->read, ALL_READS * sizeof *recall->read);
    recall->read = NULL;
}
