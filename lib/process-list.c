#include "lib/process-list.h"

#include "lib/alloc.h"

#include <stdlib.h>
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

/* The number of lines that may add an image: begin, unmeasured, failed and waited. */
static size_t count_images(const char *text, size_t size)
{
    size_t count = 0;
    for (const char *at = text, *end = text + size; at < end; at = end_of_line(at, end) + 1)
        count += *at == 'b' || *at == 'u' || *at == 'f' || *at == 'w';
    return count;
}

static size_t count_slots(size_t images)
{
    size_t slots = 16;
    while (slots < 2 * images)
        slots *= 2;
    return slots;
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

/* Lists of older versions end before these fields. */
static uint64_t further_number(struct line *line)
{
    return line->at < line->end ? number(line) : 0;
}

/* The last image before this one of the same process, with that start. */
static struct process_image *image_of(const struct process_list *list,
                                      const struct process_image *image, uint64_t start)
{
    for (size_t i = (size_t)(image - list->images); i > 0; i--)
        if (list->images[i - 1].pid == image->pid && list->images[i - 1].start == start)
            return &list->images[i - 1];
    return NULL;
}

static struct process_image *image_before(const struct process_list *list,
                                          const struct process_image *image)
{
    return image_of(list, image, image->start);
}

/* The last image of a process. An emulator and the program in it have the same number and, as they
 * see it, different starts. */
static struct process_image *find_image(const struct process_list *list, int pid, uint64_t start)
{
    struct process_image *image = last_image(list, pid);
    return !image || image->start == start ? image : image_of(list, image, start);
}

/* Earlier versions have what the image measured between AT and LOSS: six numbers, the number of events,
 * and two for each. Those before 2.1 do not have the last four numbers. */
enum { END_NUMBERS = 9, EVENTS_AT = 11, MOST_END_NUMBERS = 64 };

/* LOSS and the three numbers after it; NULL if the line is not whole. */
static const uint64_t *find_account(const uint64_t *numbers, size_t n)
{
    static const uint64_t none[4];
    size_t more = n > EVENTS_AT ? n - EVENTS_AT - 1 - 2 * numbers[EVENTS_AT] : SIZE_MAX;
    if (n == END_NUMBERS || more == 4)
        return numbers + n - 4;
    return more == 0 ? none : NULL;
}

/* The last end line of an image counts, because an exec may fail and the image go on. */
static void read_end(struct process_list *list, struct line *line, size_t order)
{
    uint64_t numbers[MOST_END_NUMBERS] = {0};
    size_t n = 0;
    while (line->at < line->end && n < MOST_END_NUMBERS && !line->bad)
        numbers[n++] = number(line);
    const uint64_t *account = line->bad ? NULL : find_account(numbers, n);
    int pid = (int)numbers[0];
    uint64_t start = numbers[1], end = numbers[2];
    struct process_image *image = find_image(list, pid, start);
    bool is_replaced = image && image->state == IMAGE_UNMEASURED; /* its line comes before this */
    if (is_replaced)
        image = image_before(list, image);
    if (!account || !image)
        return;
    image->state = end != PROCESS_EXEC ? IMAGE_ENDED : is_replaced ? IMAGE_REPLACED : IMAGE_EXEC;
    image->end = (enum process_state)end;
    image->signal = end == PROCESS_SIGNAL ? (int)numbers[3] : 0;
    image->ended_at = numbers[4];
    image->end_order = order;
    image->loss = account[0] < LOSS_ALL ? (enum image_loss)account[0] : LOSS_ALL;
    image->error = (int)account[1];
    image->process_cpu = account[2];
    image->children_cpu = account[3];
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
    if (before) {
        image.start = before->start;
        image.parent = before->parent;
    }
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

/* The last exec of the process failed. If nothing is known of it, it was the child of a vfork, and
 * ended without an exec. */
static void read_failed(struct process_list *list, struct line *line)
{
    struct process_image new = {.state = IMAGE_EXEC_FAILED, .rank = -1, .pid = (int)number(line)};
    struct process_image *image = last_image(list, new.pid);
    if (line->bad)
        return;
    if (!image || image->seen_by_parent)
        add_image(list, &new);
    else if (image->state == IMAGE_UNMEASURED && image->why != UNMEASURED_SHARED_MEMORY)
        undo_exec(list, image);
    else if (image->state == IMAGE_EXEC)
        image->state = IMAGE_BEGUN;
}

/* A child that has written no line. */
static void add_unseen(struct process_list *list, int pid, int parent_pid)
{
    struct process_image image = {.state = IMAGE_UNSEEN,
                                  .why = UNMEASURED_UNSEEN,
                                  .rank = -1,
                                  .pid = pid,
                                  .parent = parent_pid,
                                  .origin = ORIGIN_OTHER};
    const struct process_image *parent = last_image(list, parent_pid);
    if (parent) {
        image.rank = parent->rank;
        image.program = parent->program;
        image.program_length = parent->program_length;
    }
    add_image(list, &image);
}

/* A second line of the same end is that of a tracer. */
static void read_waited(struct process_list *list, struct line *line)
{
    int pid = (int)number(line);
    uint64_t signal = number(line), at = number(line);
    uint64_t cpu = further_number(line), parent = further_number(line);
    if (line->bad)
        return;
    if (!last_image(list, pid) && parent > 0)
        add_unseen(list, pid, (int)parent);
    struct process_image *image = last_image(list, pid);
    if (!image || image->seen_by_parent)
        return;
    image->seen_by_parent = true;
    image->waited_cpu = cpu;
    if (image->parent == 0)
        image->parent = (int)parent;
    if (image->state == IMAGE_ENDED || image->state == IMAGE_UNMEASURED)
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

/* ---- CPU time without a record ----
 *
 * The kernel adds the CPU time of a child to that of its parent's children when the parent waits for
 * it, with that of the child's own children. What the list has of them is subtracted. */

/* CPU time that a process takes after its own account, at least for its end. To release much memory
 * takes longer. */
#define END_CPU_NS   2000000u
#define END_CPU_PART 8

/* Less than this is not worth a word. */
#define LEAST_UNRECORDED_NS 10000000u

static uint64_t total_cpu(const struct process_image *last)
{
    return last->waited_cpu ? last->waited_cpu : last->process_cpu + last->children_cpu;
}

/* How much more it may be. */
static uint64_t margin_of(const struct process_image *last)
{
    return last->waited_cpu ? 0 : END_CPU_NS + total_cpu(last) / END_CPU_PART;
}

/* The last image of the process that was the parent; NULL if it is not in the list. A later process
 * may have got its number. */
static struct process_image *parent_of(const struct process_list *list,
                                       const struct process_image *child)
{
    struct process_image *last = child->parent ? last_image(list, child->parent) : NULL;
    if (!last || last->began_at <= child->began_at)
        return last;
    for (const struct process_image *image = child; image > list->images; image--)
        if (image[-1].pid == child->parent)
            return image[-1].start == last->start ? last : NULL;
    return NULL;
}

static uint64_t without(uint64_t all, uint64_t known)
{
    return all > known ? all - known : 0;
}

/* The first process of a new process namespace has another number there than its parent waits for.
 * Its parent is 0 then. Such a process accounts for one that seems unseen, and for its CPU time. */
static void match_namespaces(struct process_list *list)
{
    size_t unseen = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct process_image *first = &list->images[i];
        if (first->state == IMAGE_UNMEASURED || first->state == IMAGE_UNSEEN ||
            first->state == IMAGE_EXEC_FAILED || first->parent != 0 || first->origin != ORIGIN_FORK)
            continue;
        while (unseen < list->n && list->images[unseen].state != IMAGE_UNSEEN)
            unseen++;
        if (unseen == list->n)
            return;
        struct process_image *parent = parent_of(list, &list->images[unseen]);
        if (parent)
            parent->lost_cpu += total_cpu(&list->images[unseen]);
        list->images[unseen].state = IMAGE_EXEC_FAILED;
    }
}

/* Until then, lost_cpu is what the list has of the children, and unrecorded_cpu how much more that may
 * be. */
static void settle(struct process_image *last)
{
    uint64_t known = last->lost_cpu, margin = last->unrecorded_cpu;
    uint64_t unrecorded = without(last->children_cpu, known);
    bool has_ended = last->end_order > 0;
    last->lost_cpu = has_ended ? 0 : without(last->waited_cpu, known);
    last->unrecorded_cpu = has_ended && unrecorded >= LEAST_UNRECORDED_NS + margin ? unrecorded : 0;
}

static bool is_last(const struct process_list *list, const struct process_image *image)
{
    return image->state != IMAGE_EXEC_FAILED && image == last_image(list, image->pid);
}

static void find_lost_cpu(struct process_list *list)
{
    for (struct process_image *image = list->images; image < list->images + list->n; image++) {
        struct process_image *parent = is_last(list, image) ? parent_of(list, image) : NULL;
        if (!parent || parent == image)
            continue;
        parent->lost_cpu += total_cpu(image);
        parent->unrecorded_cpu += margin_of(image);
    }
    for (struct process_image *image = list->images; image < list->images + list->n; image++)
        if (is_last(list, image))
            settle(image);
}

void process_list_read(struct process_list *list, const char *text, size_t size)
{
    size_t images = count_images(text, size);
    list->images = mem_alloc(images * sizeof *list->images);
    list->n = 0;
    list->slots = count_slots(images);
    list->by_pid = mem_alloc(list->slots * sizeof *list->by_pid);
    size_t order = 0;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *stop = end_of_line(at, end);
        if (stop < end) /* a line that is being written has no newline yet */
            read_line(list, (struct line){.at = at, .end = stop}, ++order);
        at = stop + 1;
    }
    match_namespaces(list);
    find_lost_cpu(list);
}

void process_list_free(struct process_list *list)
{
    free(list->images);
    free(list->by_pid);
}
