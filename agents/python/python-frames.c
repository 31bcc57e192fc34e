/* Handler. */
#include "agents/python/python-frames.h"

/* Bounds for lists in damaged memory. What an agent may read at a sample is limited, too. */
#define MOST_INTERPRETERS 256
#define MOST_THREADS      65536
#define MOST_FRAMES       65536
#define MOST_ACTIVATIONS  4096

/* Searches without a result in one unwind: one in an activation that begins, others for each thread state
 * that the thread has left. */
#define MOST_MISSES 4

/* Of frame_owner: since 3.12, of a frame that is a variable of the eval loop. */
enum { OWNED_BY_GENERATOR = 1, OWNED_BY_C_STACK = 3 };

#define READ(address) agent_u64(r->host, r->cursor, (address))

static uint8_t byte_at(const struct python_reader *r, uint64_t address)
{
    uint8_t byte;
    return r->host->read(r->cursor, address, &byte, sizeof byte) ? byte : 0;
}

bool python_frame_is_end(const struct python_reader *r, uint64_t frame)
{
    return r->layout->minor > 11 && byte_at(r, frame + r->layout->frame_owner) == OWNED_BY_C_STACK;
}

/* The activation with this newest frame, from 3.13 on. */
static struct python_activation activation_of(const struct python_reader *r, uint64_t newest)
{
    uint64_t frame = newest;
    for (int i = 0; i < MOST_FRAMES && frame; i++) {
        if (python_frame_is_end(r, frame))
            return (struct python_activation){newest, frame};
        frame = READ(frame + r->layout->frame_previous);
    }
    return (struct python_activation){0};
}

/* The same before. The outermost _PyCFrame has no frame: it is no activation's. */
static struct python_activation activation_of_cframe(const struct python_reader *r, uint64_t cframe)
{
    uint64_t newest = cframe ? READ(cframe + r->layout->cframe_frame) : 0;
    return (struct python_activation){newest, newest ? cframe : 0};
}

static struct python_activation newest_of(const struct python_reader *r, uint64_t thread)
{
    uint64_t at = READ(thread + r->layout->thread_frame);
    return r->layout->minor > 12 ? activation_of(r, at) : activation_of_cframe(r, at);
}

struct python_activation python_activation_around(const struct python_reader *r,
                                                  const struct python_activation *inner)
{
    if (r->layout->minor <= 12)
        return activation_of_cframe(r, READ(inner->mark + r->layout->cframe_previous));
    return activation_of(r, READ(inner->mark + r->layout->frame_previous));
}

/* ---- thread states ---- */

/* pthread_self() of the calling thread. */
static uint64_t own_thread(void)
{
    uint64_t control;
    __asm__("mov %%fs:0, %0" : "=r"(control));
    return control;
}

static bool is_own(const struct python_reader *r, uint64_t thread)
{
    if (r->host->is_elsewhere)
        return (int)agent_u32(r->host, r->cursor, thread + r->layout->thread_tid) == r->cursor->tid;
    return READ(thread + r->layout->thread_id) == own_thread();
}

/* The thread state that follows one, in the next interpreter if it is the last; `thread` 0: the first one. */
struct thread_list {
    uint64_t interpreter, thread;
    int interpreters, threads;
};

static uint64_t next_thread(const struct python_reader *r, struct thread_list *list)
{
    if (list->thread)
        list->thread = READ(list->thread + r->layout->thread_next);
    while (!list->thread) {
        list->interpreter = list->interpreters
                                ? READ(list->interpreter + r->layout->interpreter_next)
                                : READ(r->layout->runtime + r->layout->interpreters);
        if (!list->interpreter || list->interpreters++ > MOST_INTERPRETERS)
            return 0;
        list->thread = READ(list->interpreter + r->layout->interpreter_threads);
    }
    return list->threads++ < MOST_THREADS ? list->thread : 0;
}

struct python_activation python_newest(const struct python_reader *r, uint64_t *known)
{
    struct thread_list list = {0};
    if (*known && is_own(r, *known)) {
        struct python_activation newest = newest_of(r, *known);
        if (newest.mark)
            return newest;
    }
    while ((*known = next_thread(r, &list)))
        if (is_own(r, *known))
            return newest_of(r, *known);
    return (struct python_activation){0};
}

bool python_has_other_lock(const struct python_reader *r, uint64_t thread)
{
    const struct python_layout *at = r->layout;
    uint64_t interpreter = thread && at->gil_in_state ? READ(thread + at->thread_interpreter) : 0;
    uint64_t lock = interpreter ? READ(interpreter + at->interpreter_lock) : 0;
    return lock && lock + at->gil_in_state != at->gil_holder;
}

struct python_activation python_activation_in(const struct python_reader *r, uint64_t low,
                                              uint64_t high, uint32_t *misses)
{
    struct thread_list list = {0};
    uint64_t thread;
    while (*misses < MOST_MISSES && (thread = next_thread(r, &list))) {
        struct python_activation at = newest_of(r, thread);
        for (int i = 0; i < MOST_ACTIVATIONS && at.mark; i++) {
            if (at.mark >= low && at.mark < high)
                return at;
            at = python_activation_around(r, &at);
        }
    }
    *misses += *misses < MOST_MISSES;
    return (struct python_activation){0};
}

/* ---- frames ---- */

/* A field of a structure that was read at once. */
static uint64_t word_in(const uint64_t *words, uint32_t offset)
{
    uint64_t word;
    __builtin_memcpy(&word, (const char *)words + offset, sizeof word);
    return word;
}

/* After the header of an object of a size that varies. */
#define OBJECT_SIZE 16

/* Where the code begins that contains an instruction: a copy, or the first one while the thread has just begun
 * to use the copy. */
static uint64_t copy_start(const struct python_reader *r, uint64_t code, uint32_t copy,
                           uint64_t instruction)
{
    uint64_t copies = READ(code + r->layout->code_copies);
    uint64_t start = copy < READ(copies) ? READ(copies + 8 + 8 * (uint64_t)copy) : 0;
    uint64_t units = READ(code + r->layout->object_more + OBJECT_SIZE);
    bool is_in_copy = instruction - start < 2 * units;
    return is_in_copy ? start : code + r->layout->code_start;
}

struct python_frame python_frame_next(const struct python_reader *r, uint64_t *at)
{
    const struct python_layout *layout = r->layout;
    uint64_t words[FRAME_WORDS];
    struct python_frame frame = {.is_last = true};
    if (!r->host->read(r->cursor, *at, words, sizeof words))
        return frame;
    uint8_t owner = (uint8_t)word_in(words, layout->frame_owner);
    *at = word_in(words, layout->frame_previous);
    frame.is_last = !*at || (layout->minor == 11 ? (uint8_t)word_in(words, layout->frame_is_entry)
                                                 : owner == OWNED_BY_C_STACK);
    bool is_end = layout->minor > 11 && owner == OWNED_BY_C_STACK;
    frame.code = is_end ? 0 : word_in(words, layout->frame_code) & ~PYTHON_TAGS;
    frame.function = layout->function_version ? word_in(words, layout->frame_function) : 0;
    frame.is_generator = owner == OWNED_BY_GENERATOR;
    uint64_t start = frame.code + layout->code_start;
    uint64_t instruction = word_in(words, layout->frame_instruction);
    if (frame.code && layout->frame_copy)
        start =
            copy_start(r, frame.code, (uint32_t)word_in(words, layout->frame_copy), instruction);
    frame.position = (int64_t)(instruction - start) / 2;
    return frame;
}
