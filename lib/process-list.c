#include "lib/process-list.h"

#include <string.h>

/* Reads fields of a line from `at` to `end`. */
struct line {
    const char *at, *end;
    bool bad;
};

static uint64_t number(struct line *line)
{
    uint64_t value = 0;
    const char *start = line->at;
    while (line->at < line->end && *line->at >= '0' && *line->at <= '9')
        value = value * 10 + (uint64_t)(*line->at++ - '0');
    line->bad |= line->at == start || (line->at < line->end && *line->at != ' ');
    if (line->at < line->end)
        line->at++;
    return value;
}

static bool takes(struct line *line, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(line->end - line->at) <= length || memcmp(line->at, word, length) != 0 ||
        line->at[length] != ' ')
        return false;
    line->at += length + 1;
    return true;
}

static const char *end_of_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

/* The number of lines that may add an image: those that start with "b" or "u". */
static size_t count_images(const char *text, size_t size)
{
    size_t count = 0;
    for (const char *at = text, *end = text + size; at < end; at = end_of_line(at, end) + 1)
        count += *at == 'b' || *at == 'u';
    return count;
}

static size_t count_slots(size_t images)
{
    size_t slots = 16;
    while (slots < 2 * images)
        slots *= 2;
    return slots;
}

size_t process_list_memory(const char *text, size_t size)
{
    size_t images = count_images(text, size);
    return images * sizeof(struct process_image) + count_slots(images) * sizeof(uint32_t);
}

/* The slot of a process: empty, or the slot of its last image. */
static uint32_t *slot_of(const struct process_list *list, int pid)
{
    size_t slot = (uint32_t)pid * 2654435761u & (list->slots - 1);
    while (list->by_pid[slot] && list->images[list->by_pid[slot] - 1].pid != pid)
        slot = (slot + 1) & (list->slots - 1);
    return &list->by_pid[slot];
}

static struct process_image *last_image(const struct process_list *list, int pid)
{
    uint32_t *slot = slot_of(list, pid);
    return *slot ? &list->images[*slot - 1] : NULL;
}

static void read_program(struct line *line, struct process_image *image)
{
    image->program = line->at;
    image->program_length = line->end > line->at ? (size_t)(line->end - line->at) : 0;
}

/* If `before` ended with an exec and `image` is of the same process, `image` replaced it. */
static void mark_replaced(struct process_image *before, const struct process_image *image)
{
    bool same_process = before->start == image->start || image->state == IMAGE_UNMEASURED;
    if (same_process && before->state == IMAGE_EXEC)
        before->state = IMAGE_REPLACED;
}

static void add_image(struct process_list *list, const struct process_image *image)
{
    uint32_t *slot = slot_of(list, image->pid);
    if (*slot)
        mark_replaced(&list->images[*slot - 1], image);
    list->images[list->n++] = *image;
    *slot = (uint32_t)list->n;
}

static void read_begin(struct process_list *list, struct line *line, int64_t rank)
{
    struct process_image image = {.state = IMAGE_BEGUN, .rank = rank};
    image.pid = (int)number(line);
    image.start = number(line);
    image.parent = (int)number(line);
    image.origin = (enum process_origin)number(line);
    image.began_at = number(line);
    read_program(line, &image);
    if (!line->bad)
        add_image(list, &image);
}

static void read_counts(struct line *line, struct image_counts *counts)
{
    counts->threads = number(line);
    counts->cpu = number(line);
    counts->thread_cpu = number(line);
    counts->thread_wall = number(line);
    counts->dropped = number(line);
    counts->partial = number(line);
    uint64_t events = number(line);
    for (uint64_t i = 0; i < events && i < PROCESS_LIST_EVENTS; i++) {
        counts->fired[i] = number(line);
        counts->sources[i] = number(line);
    }
}

static struct process_image *image_before(const struct process_list *list,
                                          const struct process_image *image)
{
    for (size_t i = (size_t)(image - list->images); i > 0; i--)
        if (list->images[i - 1].pid == image->pid && list->images[i - 1].start == image->start)
            return &list->images[i - 1];
    return NULL;
}

/* The last end line of an image counts, because an exec may fail and the image go on. */
static void read_end(struct process_list *list, struct line *line, size_t order)
{
    int pid = (int)number(line);
    uint64_t start = number(line), end = number(line), detail = number(line), at = number(line);
    struct image_counts counts = {0};
    read_counts(line, &counts);
    struct process_image *image = last_image(list, pid);
    bool is_replaced = image && image->state == IMAGE_UNMEASURED; /* its line comes before this */
    if (is_replaced)
        image = image_before(list, image);
    if (line->bad || !image || image->start != start)
        return;
    image->state = end != PROCESS_EXEC ? IMAGE_ENDED : is_replaced ? IMAGE_REPLACED : IMAGE_EXEC;
    image->end = (enum process_state)end;
    image->signal = end == PROCESS_SIGNAL ? (int)detail : 0;
    image->ended_at = at;
    image->end_order = order;
    image->counts = counts;
}

/* The line precedes the exec of the program; after posix_spawn it follows. */
static void read_unmeasured(struct process_list *list, struct line *line, int64_t rank)
{
    struct process_image image = {.state = IMAGE_UNMEASURED, .rank = rank};
    image.pid = (int)number(line);
    image.why = (enum unmeasured)number(line);
    image.began_at = number(line);
    read_program(line, &image);
    if (line->bad || image.why == UNMEASURED_NONE)
        return;
    struct process_image *before = last_image(list, image.pid);
    if (before)
        image.start = before->start;
    add_image(list, &image);
}

/* The exec failed: the process continues as its previous image. The child of a vfork has none. */
static void undo_exec(struct process_list *list, struct process_image *image)
{
    struct process_image *before = image_before(list, image);
    image->state = IMAGE_EXEC_FAILED;
    if (!before)
        return;
    if (before->state == IMAGE_REPLACED)
        before->state = IMAGE_BEGUN;
    *slot_of(list, image->pid) = (uint32_t)(before - list->images + 1);
}

/* The last exec of the process failed. */
static void read_failed(struct process_list *list, struct line *line)
{
    struct process_image *image = last_image(list, (int)number(line));
    if (line->bad || !image)
        return;
    if (image->state == IMAGE_UNMEASURED)
        undo_exec(list, image);
    else if (image->state == IMAGE_EXEC)
        image->state = IMAGE_BEGUN;
}

static void read_waited(struct process_list *list, struct line *line)
{
    struct process_image *image = last_image(list, (int)number(line));
    uint64_t signal = number(line), at = number(line);
    if (line->bad || !image)
        return;
    image->seen_by_parent = true;
    if (image->state != IMAGE_BEGUN && image->state != IMAGE_EXEC)
        return;
    image->signal = (int)signal;
    image->ended_at = at;
}

static void read_line(struct process_list *list, struct line line, size_t order)
{
    bool begins = takes(&line, "begin");
    bool unmeasured = !begins && takes(&line, "unmeasured");
    if (begins || unmeasured) {
        int64_t rank = (int64_t)number(&line) - 1;
        if (begins)
            read_begin(list, &line, rank);
        else
            read_unmeasured(list, &line, rank);
    } else if (takes(&line, "end")) {
        read_end(list, &line, order);
    } else if (takes(&line, "failed")) {
        read_failed(list, &line);
    } else if (takes(&line, "waited")) {
        read_waited(list, &line);
    }
}

void process_list_read(struct process_list *list, const char *text, size_t size, void *memory)
{
    size_t images = count_images(text, size);
    list->images = memory;
    list->n = 0;
    list->by_pid = (uint32_t *)(list->images + images);
    list->slots = count_slots(images);
    size_t order = 0;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *stop = end_of_line(at, end);
        if (stop < end) /* a line that is being written has no newline yet */
            read_line(list, (struct line){.at = at, .end = stop}, ++order);
        at = stop + 1;
    }
}
