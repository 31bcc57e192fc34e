#include "hpcrun/life/run-total.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/config/run-config.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"
#include "lib/measurement-format.h"

#include <string.h>
#include <sys/stat.h>

/* Most names that are listed for one reason. */
#define MAX_EXAMPLES 3

/* ---- reading ---- */

static int open_list(size_t *size)
{
    struct stat status;
    int directory;
    if (output_directory_open(&directory) != 0 || directory == AT_FDCWD)
        return -1;
    int fd = (int)sys4(SYS_openat, directory, process.list_name, O_RDONLY | OUTPUT_FLAGS, 0);
    output_directory_close(directory);
    if (fd < 0)
        return -1;
    if (sys2(SYS_fstat, fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
        sys1(SYS_close, fd);
        return -1;
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

/* Puts the text and, behind it, the list into one block of memory. */
static bool read_list(struct run_total *total, int fd, size_t size)
{
    char *text = sys_pages(size);
    if (!text)
        return false;
    if (!read_whole(fd, text, size)) {
        sys_pages_free(text, size);
        return false;
    }
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
    long fd = sys4(SYS_openat, AT_FDCWD, path.at, O_RDONLY | O_CLOEXEC, 0);
    long size = fd < 0 ? 0 : sys3(SYS_read, fd, buffer, sizeof buffer - 1);
    if (fd >= 0)
        sys1(SYS_close, fd);
    const char *at = size > 0 ? memrchr(buffer, ')', (size_t)size) : NULL;
    buffer[size > 0 ? size : 0] = '\0';
    if (!at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X')
        return false;
    for (unsigned field = 2; at && field < 22; field++)
        if ((at = strchr(at, ' ')))
            at++;
    return at && text_parse_number(&at, &start) && start == image->start;
}

/* ---- adding up ---- */

/* How completely an image was measured: process_image.mark. */
enum outcome { COMPLETE, NOT_MEASURED, KILLED, ENDED_BARE, END_UNKNOWN, STILL_RUNS };

static enum outcome outcome_of(const struct process_image *image)
{
    switch (image->state) {
    case IMAGE_UNMEASURED: return NOT_MEASURED;
    case IMAGE_BEGUN: break;
    case IMAGE_EXEC:
        if (image->pid == process.pid && image->start == process.start_ticks)
            return COMPLETE; /* this process, which ends now */
        return image->signal ? KILLED : is_alive(image) ? STILL_RUNS : NOT_MEASURED;
    default: return COMPLETE;
    }
    if (image->signal)
        return KILLED;
    if (image->seen_by_parent)
        return ENDED_BARE;
    return is_alive(image) ? STILL_RUNS : END_UNKNOWN;
}

static enum unmeasured why_unmeasured(const struct process_image *image)
{
    bool is_known = image->state == IMAGE_UNMEASURED && image->why < UNMEASURED_REASONS;
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
        if (list->images[i - 1].pid == process.pid && is_last_image(&list->images[i - 1]))
            return &list->images[i - 1];
    return NULL;
}

/* Whether another launched process ends after this one: it prints the summary for both. If two end
 * at once, each may see the other's end; the order in the list decides. */
static bool ends_later(const struct process_image *image, const struct process_image *own)
{
    if (image->origin != ORIGIN_LAUNCHED || !is_last_image(image) || image->pid == process.pid)
        return false;
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

static void add_image(struct run_total *total, struct process_image *image,
                      const struct process_image *own)
{
    if (image->state == IMAGE_EXEC_FAILED)
        return;
    image->mark = outcome_of(image);
    bool is_launched = image->origin == ORIGIN_LAUNCHED && is_last_image(image);
    total->processes += is_last_image(image) || left_measurement(total, image);
    total->ranks += is_launched && image->rank != NO_RANK;
    total->incomplete += image->mark != COMPLETE;
    total->others_go_on |= ends_later(image, own);
    if (image->state != IMAGE_UNMEASURED && image->began_at < total->began_at)
        total->began_at = image->began_at;
    add_counts(&total->counts, &image->counts);
}

bool run_total_read(struct run_total *total)
{
    size_t size = 0;
    *total = (struct run_total){.began_at = process.began_wall};
    int fd = open_list(&size);
    bool is_read = fd >= 0 && read_list(total, fd, size);
    if (fd >= 0)
        sys1(SYS_close, fd);
    if (!is_read)
        return false;
    const struct process_image *own = own_image(&total->list);
    for (size_t i = 0; i < total->list.n; i++)
        add_image(total, &total->list.images[i], own);
    return true;
}

void run_total_free(struct run_total *total)
{
    sys_pages_free(total->memory, total->size);
}

/* ---- what was not measured ---- */

/* Images that are reported with the same reason. */
struct missing {
    enum outcome outcome;
    enum unmeasured why; /* NOT_MEASURED */
    int signal;          /* KILLED */
};

static bool is_missing_for(const struct process_image *image, const struct missing *missing)
{
    if (image->mark != missing->outcome)
        return false;
    if (missing->outcome == NOT_MEASURED)
        return why_unmeasured(image) == missing->why;
    return missing->outcome != KILLED || image->signal == missing->signal;
}

static void add_name(struct text *text, const struct process_image *image)
{
    const char *slash = memrchr(image->program, '/', image->program_length);
    size_t folder = slash ? (size_t)(slash + 1 - image->program) : 0;
    text_add_bytes(text, image->program + folder, image->program_length - folder);
    if (image->state == IMAGE_UNMEASURED)
        return;
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

static void add_examples(const struct run_total *total, const struct missing *missing,
                         struct text *text)
{
    const struct process_image *named[MAX_EXAMPLES];
    unsigned count = 0;
    bool more = false;
    for (size_t i = 0; i < total->list.n; i++) {
        const struct process_image *image = &total->list.images[i];
        if (!is_missing_for(image, missing) || image->program_length == 0 ||
            is_named(image, named, count))
            continue;
        if ((more = count == MAX_EXAMPLES))
            break;
        text_add(text, count ? ", " : " (");
        add_name(text, image);
        named[count++] = image;
    }
    text_add(text, more ? ", ...)" : count ? ")" : "");
}

static void add_reason(const struct missing *missing, struct text *text)
{
    switch (missing->outcome) {
    case NOT_MEASURED: text_add(text, unmeasured_reason(missing->why)); break;
    case KILLED:
        text_add(text, "killed by signal ");
        text_add_number(text, (uint64_t)missing->signal);
        break;
    case ENDED_BARE: text_add(text, "ended by a bare system call"); break;
    case END_UNKNOWN: text_add(text, "killed or ended by a bare system call"); break;
    default: text_add(text, "still running"); break;
    }
}

static bool add_missing(const struct run_total *total, const struct missing *missing,
                        const char *before, struct text *text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < total->list.n; i++)
        count += is_missing_for(&total->list.images[i], missing);
    if (count == 0)
        return false;
    text_add(text, before);
    text_add_number(text, count);
    text_add(text, " ");
    add_reason(missing, text);
    add_examples(total, missing, text);
    return true;
}

void run_total_add_incomplete(const struct run_total *total, struct text *text)
{
    static const char first[] = "not measured: ", next[] = ", ", part[] = "measured in part: ";
    struct missing missing = {.outcome = NOT_MEASURED};
    const char *before = first;
    for (int why = UNMEASURED_NONE + 1; why < UNMEASURED_REASONS; why++) {
        missing.why = (enum unmeasured)why;
        if (add_missing(total, &missing, before, text))
            before = next;
    }
    if (before == next)
        text_add(text, "; ");
    size_t length = text->length;
    before = part;
    for (missing.outcome = KILLED; missing.outcome <= STILL_RUNS; missing.outcome++)
        for (missing.signal = 1; missing.signal <= (missing.outcome == KILLED ? 64 : 1);
             missing.signal++)
            if (add_missing(total, &missing, before, text))
                before = next;
    if (text->length == length && length > 2 && text->at[length - 2] == ';') {
        text->length -= 2; /* no program was measured in part */
        text->at[text->length] = '\0';
    }
}
