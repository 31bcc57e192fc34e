#include "hpcrun/life/run-total.h"

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/config/run-config.h"
#include "hpcrun/life/arena-counts.h"
#include "hpcrun/process/common-files.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "lib/measurement-format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Most names that are listed for one reason. */
#define MAX_EXAMPLES 3

/* ---- reading ---- */

static long open_list(size_t *size)
{
    struct stat status;
    long fd = common_list_open();
    if (fd < 0)
        return fd;
    if (sys2(SYS_fstat, fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
        sys1(SYS_close, fd);
        return -EINVAL;
    }
    *size = (size_t)status.st_size;
    return fd;
}

static bool read_whole(int fd, char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        long got = sys4(SYS_pread64, fd, text + at, size - at, at);
        if (got == -EINTR)
            continue;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

/* Reads the text, and adds the lines that this process could not write. */
static char *read_text(int fd, size_t *size)
{
    const struct text *pending = notes_pending();
    char *text = sys_pages(*size + 1 + pending->length);
    if (!text)
        return NULL;
    if (!read_whole(fd, text, *size)) {
        sys_pages_free(text, *size + 1 + pending->length);
        return NULL;
    }
    text[*size] = '\n';
    memcpy(text + *size + 1, pending->at, pending->length);
    *size += 1 + pending->length;
    return text;
}

/* Puts the text and, after it, the list into one block of memory. */
static bool read_list(struct run_total *total, int fd, size_t size)
{
    char *text = read_text(fd, &size);
    if (!text)
        return false;
    size_t before = (size + 63) & ~(size_t)63;
    total->size = before + process_list_memory(text, size);
    total->memory = sys_pages(total->size);
    if (total->memory) {
        memcpy(total->memory, text, size);
        process_list_read(&total->list, total->memory, size, (char *)total->memory + before);
    }
    sys_pages_free(text, size);
    return total->memory != NULL;
}

/* ---- processes that still run ---- */

/* Whether the process that started then is alive, by /proc/PID/stat, and no zombie. Its name, in
 * parentheses, may contain spaces and parentheses. */
static bool is_alive(const struct process_image *image)
{
    static char buffer[1024]; /* only one thread ends a process; its signal stack may be small */
    struct text path = TEXT(buffer);
    uint64_t start = 0;
    text_add(&path, "/proc/");
    text_add_number(&path, (uint64_t)image->pid);
    text_add(&path, "/stat");
    const char *at = memrchr(buffer, ')', small_file_read(path.at, buffer, sizeof buffer));
    if (!at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X')
        return false;
    for (unsigned field = 2; at && field < 22; field++)
        if ((at = strchr(at, ' ')))
            at++;
    return at && text_parse_number(&at, &start) && start == image->start;
}

/* ---- adding up ---- */

/* How completely an image was measured: process_image.mark. */
enum outcome {
    COMPLETE,
    NOT_MEASURED,
    NOT_WRITTEN,
    WRITTEN_IN_PART,
    KILLED,
    ENDED_BARE,
    END_UNKNOWN,
    STILL_RUNS
};

/* Outcomes from this one on count as "measured in part". */
#define FIRST_IN_PART WRITTEN_IN_PART

/* Added to the mark of an image that the text has counted. */
#define IS_REPORTED 256u

static bool is_own_process(const struct process_image *image)
{
    return image->pid == process.pid && image->start == process.start_ticks;
}

/* This process reports its own loss in a line of its own. */
static enum outcome outcome_of_end(const struct process_image *image)
{
    if (image->loss == LOSS_NONE || (is_own_process(image) && image->state != IMAGE_REPLACED))
        return COMPLETE;
    return image->loss == LOSS_ALL ? NOT_WRITTEN : WRITTEN_IN_PART;
}

static enum outcome outcome_of(const struct process_image *image)
{
    switch (image->state) {
    case IMAGE_UNMEASURED: return NOT_MEASURED;
    case IMAGE_UNSEEN: return image->error ? NOT_WRITTEN : NOT_MEASURED;
    case IMAGE_BEGUN:
        if (is_own_process(image))
            return COMPLETE; /* this process, which ends now and could not write that */
        break;
    case IMAGE_EXEC:
        if (is_own_process(image))
            return outcome_of_end(image);
        return image->signal ? KILLED : is_alive(image) ? STILL_RUNS : NOT_MEASURED;
    default: return outcome_of_end(image);
    }
    if (image->signal)
        return KILLED;
    if (image->seen_by_parent)
        return ENDED_BARE;
    return is_alive(image) ? STILL_RUNS : END_UNKNOWN;
}

static enum unmeasured why_unmeasured(const struct process_image *image)
{
    bool is_known = image->why != UNMEASURED_NONE && image->why < UNMEASURED_REASONS;
    return is_known ? image->why : UNMEASURED_UNKNOWN;
}

static void add_counts(struct image_counts *sum, const struct image_counts *counts)
{
    sum->threads += counts->threads;
    sum->cpu += counts->cpu;
    sum->thread_cpu += counts->thread_cpu;
    sum->thread_wall += counts->thread_wall;
    sum->dropped += counts->dropped;
    sum->partial += counts->partial;
    for (unsigned i = 0; i < PROCESS_LIST_EVENTS; i++) {
        sum->fired[i] += counts->fired[i];
        sum->sources[i] |= counts->sources[i];
    }
}

static bool is_last_image(const struct process_image *image)
{
    return image->state == IMAGE_BEGUN || image->state == IMAGE_ENDED || image->state == IMAGE_EXEC;
}

static const struct process_image *own_image(const struct process_list *list)
{
    for (size_t i = list->n; i > 0; i--)
        if (is_own_process(&list->images[i - 1]) && is_last_image(&list->images[i - 1]))
            return &list->images[i - 1];
    return NULL;
}

/* Whether another launched process ends after this one: it prints the summary for both. If two end
 * at once, each may see the other's end; the order in the list decides. An emulator ends after the
 * program in it, which has its number. */
static bool ends_later(const struct process_image *image, const struct process_image *own)
{
    if (image->origin != ORIGIN_LAUNCHED || !is_last_image(image) || is_own_process(image))
        return false;
    if (image->pid == process.pid)
        return image->state == IMAGE_BEGUN && own && image < own;
    if (image->state == IMAGE_ENDED)
        return own && image->end_order > own->end_order;
    return is_alive(image);
}

/* Whether the process continued, by an exec, as a program that is not measured. */
static bool left_measurement(const struct run_total *total, const struct process_image *image)
{
    if (image->state != IMAGE_REPLACED)
        return false;
    for (const struct process_image *next = image + 1; next < total->list.images + total->list.n;
         next++)
        if (next->pid == image->pid && next->state != IMAGE_EXEC_FAILED)
            return next->state == IMAGE_UNMEASURED;
    return false;
}

/* The number of images that the process had before. */
static unsigned sequence_of(const struct run_total *total, const struct process_image *image)
{
    unsigned sequence = 0;
    for (const struct process_image *before = total->list.images; before < image; before++)
        sequence += before->pid == image->pid && before->start == image->start &&
                    before->state == IMAGE_REPLACED;
    return sequence;
}

static void add_image(struct run_total *total, struct process_image *image,
                      const struct process_image *own)
{
    if (image->state == IMAGE_EXEC_FAILED)
        return;
    image->mark = outcome_of(image);
    if (image->mark >= KILLED && image->mark <= END_UNKNOWN)
        arena_counts_read(image, sequence_of(total, image));
    bool is_launched = image->origin == ORIGIN_LAUNCHED && is_last_image(image);
    total->ranks += is_launched && image->rank != NO_RANK;
    total->incomplete += image->mark != COMPLETE || image->unrecorded_cpu;
    total->others_go_on |= ends_later(image, own);
    if (image->mark == NOT_MEASURED || image->mark == NOT_WRITTEN)
        return;
    total->processes += is_last_image(image) || left_measurement(total, image);
    if (image->began_at < total->began_at)
        total->began_at = image->began_at;
    add_counts(&total->counts, &image->counts);
}

/* When the list can't be written, children are not in it that would be. */
static void mark_unlisted(struct process_list *list)
{
    long error = notes_pending_error();
    for (size_t i = 0; i < list->n; i++)
        if (list->images[i].state == IMAGE_UNSEEN)
            list->images[i].error = (int)-error;
}

bool run_total_read(struct run_total *total)
{
    size_t size = 0;
    *total = (struct run_total){.began_at = process.began_wall};
    long fd = open_list(&size);
    bool is_read = fd >= 0 && read_list(total, (int)fd, size);
    if (fd >= 0)
        sys1(SYS_close, fd);
    if (!is_read)
        return false;
    const struct process_image *own = own_image(&total->list);
    mark_unlisted(&total->list);
    for (size_t i = 0; i < total->list.n; i++)
        add_image(total, &total->list.images[i], own);
    return true;
}

void run_total_free(struct run_total *total)
{
    sys_pages_free(total->memory, total->size);
}

/* ---- what was not measured ---- */

static bool has_same_reason(const struct process_image *image, const struct process_image *first)
{
    if (image->mark != first->mark)
        return false;
    switch (first->mark) {
    case NOT_MEASURED: return why_unmeasured(image) == why_unmeasured(first);
    case NOT_WRITTEN:
    case WRITTEN_IN_PART: return image->error == first->error;
    case KILLED: return image->signal == first->signal;
    default: return true;
    }
}

static void add_name(struct text *text, const struct process_image *image)
{
    const char *slash = memrchr(image->program, '/', image->program_length);
    size_t folder = slash ? (size_t)(slash + 1 - image->program) : 0;
    text_add_bytes(text, image->program + folder, image->program_length - folder);
    if (image->state == IMAGE_UNMEASURED)
        return; /* one for all processes that ran it */
    text_add(text, "[");
    text_add_number(text, (uint64_t)image->pid);
    text_add(text, "]");
}

static bool has_same_name(const struct process_image *a, const struct process_image *b)
{
    return a->program_length == b->program_length &&
           memcmp(a->program, b->program, a->program_length) == 0;
}

/* A program that was not measured is named once, however often it ran. */
static bool is_named(const struct process_image *image, const struct process_image *const *named,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (image->state == IMAGE_UNMEASURED && has_same_name(image, named[i]))
            return true;
    return false;
}

/* " (cc1[77], ld, ...; 1.520 s CPU" */
static void add_examples(const struct run_total *total, const struct process_image *first,
                         struct text *text)
{
    const struct process_image *named[MAX_EXAMPLES];
    unsigned count = 0;
    bool more = false;
    for (size_t i = (size_t)(first - total->list.images); i < total->list.n && !more; i++) {
        const struct process_image *image = &total->list.images[i];
        if (!has_same_reason(image, first) || image->program_length == 0 ||
            is_named(image, named, count))
            continue;
        more = count == MAX_EXAMPLES;
        text_add(text, count ? ", " : " (");
        if (more)
            text_add(text, "...");
        else
            add_name(text, named[count++] = image);
    }
    if (count == 0)
        text_add(text, " (");
}

/* Less CPU time is not worth a number. A process that was measured in part also lacks its start, its end
 * and the time since its last sample. */
#define REPORTED_CPU_NS         10000000u
#define REPORTED_CPU_IN_PART_NS 50000000u

/* CPU time without data. */
static uint64_t lost_cpu(const struct process_image *image)
{
    if (image->mark == NOT_WRITTEN && image->counts.cpu)
        return image->counts.cpu;
    return image->lost_cpu > image->counts.cpu ? image->lost_cpu - image->counts.cpu : 0;
}

static void add_reason(const struct process_image *image, struct text *text)
{
    switch (image->mark) {
    case NOT_MEASURED: text_add(text, unmeasured_reason(why_unmeasured(image))); break;
    case NOT_WRITTEN:
        text_add(text, "could not be written: ");
        text_add_error(text, image->error);
        break;
    case WRITTEN_IN_PART: text_add_error(text, image->error); break;
    case KILLED:
        text_add(text, "killed by signal ");
        text_add_number(text, (uint64_t)image->signal);
        break;
    case ENDED_BARE: text_add(text, "ended by a bare system call"); break;
    case END_UNKNOWN: text_add(text, "killed or ended by a bare system call"); break;
    default: text_add(text, "still running"); break;
    }
}

/* Counts the images with the reason of `first`, and adds "2 statically linked (ld, gen)". */
static void add_missing(const struct run_total *total, const struct process_image *first,
                        struct text *text)
{
    uint64_t count = 0, cpu = 0;
    for (size_t i = (size_t)(first - total->list.images); i < total->list.n; i++)
        if (has_same_reason(&total->list.images[i], first)) {
            count++;
            cpu += lost_cpu(&total->list.images[i]);
        }
    text_add_number(text, count);
    text_add(text, " ");
    add_reason(first, text);
    size_t before = text->length;
    add_examples(total, first, text);
    bool in_part = first->mark >= FIRST_IN_PART;
    if (cpu >= (in_part ? REPORTED_CPU_IN_PART_NS : REPORTED_CPU_NS)) {
        text_add(text, text->length > before + strlen(" (") ? "; " : "");
        text_add_decimal(text, cpu / 1000000, 3);
        text_add(text, in_part ? " s CPU lost" : " s CPU");
    }
    if (text->length > before + strlen(" (")) {
        text_add(text, ")");
    } else { /* nothing to say in parentheses */
        text->length = before;
        text->at[before] = '\0';
    }
}

static void mark_reported(const struct run_total *total, const struct process_image *first)
{
    const struct process_image reported = *first;
    for (size_t i = (size_t)(first - total->list.images); i < total->list.n; i++)
        if (has_same_reason(&total->list.images[i], &reported))
            total->list.images[i].mark |= IS_REPORTED;
}

static bool is_among(const struct process_image *image, bool in_part)
{
    return image->mark != COMPLETE && image->mark < IS_REPORTED &&
           (image->mark >= FIRST_IN_PART) == in_part;
}

/* Adds a list of reasons; nothing if there are none. */
static void add_all_missing(const struct run_total *total, bool in_part, const char *head,
                            struct text *text)
{
    for (size_t i = 0; i < total->list.n; i++) {
        const struct process_image *image = &total->list.images[i];
        if (!is_among(image, in_part))
            continue;
        text_add(text, head);
        add_missing(total, image, text);
        mark_reported(total, image);
        head = ", ";
    }
}

/* Children that are in no list: ", children without a record (make[7]; 0.301 s CPU)". */
static void add_unrecorded(const struct run_total *total, struct text *text)
{
    const struct process_image *first = NULL;
    uint64_t cpu = 0;
    for (size_t i = total->list.n; i > 0; i--)
        if (total->list.images[i - 1].unrecorded_cpu) {
            first = &total->list.images[i - 1];
            cpu += first->unrecorded_cpu;
        }
    if (!first)
        return;
    text_add(text, text->length ? ", children without a record ("
                                : "not measured: children without a record (");
    add_name(text, first);
    text_add(text, "; ");
    text_add_decimal(text, cpu / 1000000, 3);
    text_add(text, " s CPU)");
}

void run_total_add_incomplete(const struct run_total *total, struct text *text)
{
    add_all_missing(total, false, "not measured: ", text);
    add_unrecorded(total, text);
    add_all_missing(total, true,
                    text->length ? "; measured in part: " : "measured in part: ", text);
}
