#include "hpcprof/measurement/process-ends.h"

#include "lib/diag.h"
#include "lib/measurement-format.h"
#include "lib/measurement.h"
#include "lib/process-list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Seconds within which a thread that is sampled has written what it has: hpcrun's FLUSH_INTERVAL of
 * 10 s, and the 2^32 ticks between its looks at the clock, at 1 GHz. */
#define FLUSH_SECONDS 15.0

/* A list of this size has millions of processes, and is none of hpcrun's. */
#define MAX_LIST_SIZE ((off_t)1 << 30)

struct one_list {
    char *text;
    void *memory;
    struct process_list list;
};

struct run_ends {
    VEC(struct one_list) lists;
    VEC(struct process_image *) images; /* that began; by process and time */
};

/* Mark of an image that has a measurement file. */
#define HAS_FILE 1

/* ---- reading ---- */

static bool read_text(const char *path, struct one_list *one, size_t *size)
{
    struct stat status;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &status) != 0) {
        diag_error(path, "%s", strerror(errno));
        if (file)
            fclose(file);
        return false;
    }
    bool fits = S_ISREG(status.st_mode) && status.st_size <= MAX_LIST_SIZE;
    *size = 0;
    if (!fits) {
        diag_error(path, "not a list of processes");
    } else {
        one->text = mem_alloc((size_t)status.st_size + 1);
        *size = fread(one->text, 1, (size_t)status.st_size, file);
    }
    fclose(file);
    return fits;
}

static void read_list(struct run_ends *ends, const char *path)
{
    struct one_list one = {0};
    size_t size;
    if (!read_text(path, &one, &size))
        return;
    size_t room = process_list_memory(one.text, size);
    one.memory = mem_alloc(room);
    memset(one.memory, 0, room);
    process_list_read(&one.list, one.text, size, one.memory);
    vec_push(&ends->lists, one);
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* A process has one image at a time, and a clock that does not stand still. */
static int by_begin(const void *a, const void *b)
{
    const struct process_image *x = *(struct process_image *const *)a;
    const struct process_image *y = *(struct process_image *const *)b;
    int order = compare((uint64_t)x->pid, (uint64_t)y->pid);
    order = order ? order : compare(x->start, y->start);
    return order ? order : compare(x->began_at, y->began_at);
}

static void sort_images(struct run_ends *ends)
{
    for (size_t i = 0; i < ends->lists.n; i++) {
        struct process_list *list = &ends->lists.at[i].list;
        for (size_t k = 0; k < list->n; k++)
            if (list->images[k].state < IMAGE_UNMEASURED)
                vec_push(&ends->images, &list->images[k]);
    }
    if (ends->images.n)
        qsort(ends->images.at, ends->images.n, sizeof *ends->images.at, by_begin);
}

static struct process_image *find(const struct run_ends *ends, const struct measurement *m)
{
    struct process_image wanted = {.pid = (int)m->process.pid,
                                   .start = m->process.start_time,
                                   .began_at = m->process.monotonic};
    struct process_image *key = &wanted, **found = NULL;
    if (ends->images.n)
        found = bsearch(&key, ends->images.at, ends->images.n, sizeof *ends->images.at, by_begin);
    return found ? *found : NULL;
}

struct run_ends *run_ends_read(const struct inputs *inputs)
{
    struct run_ends *ends = mem_alloc(sizeof *ends);
    *ends = (struct run_ends){0};
    for (size_t i = 0; i < inputs->directories.n; i++) {
        struct measurement_files files = {0};
        char *cause = NULL;
        if (!measurement_list_processes(inputs->directories.at[i], &files, &cause))
            free(cause); /* reported when its measurements were to be read */
        for (size_t k = 0; k < files.paths.n; k++)
            read_list(ends, files.paths.at[k]);
        measurement_files_free(&files);
    }
    sort_images(ends);
    for (size_t i = 0; i < inputs->files.n; i++) {
        struct process_image *image = find(ends, inputs->files.at[i].m);
        if (image)
            image->mark = HAS_FILE;
    }
    return ends;
}

void run_ends_free(struct run_ends *ends)
{
    for (size_t i = 0; i < ends->lists.n; i++) {
        free(ends->lists.at[i].text);
        free(ends->lists.at[i].memory);
    }
    vec_free(&ends->lists);
    vec_free(&ends->images);
    free(ends);
}

/* ---- one process ---- */

/* What is known of an image that did not write at its end, and until when its data goes. */
struct lost_end {
    const char *state; /* for run.json; NULL: it wrote at its end, or nothing is known */
    int signal;        /* 0: none, or not known */
    double until, missing;
};

static double seconds_between(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) / 1e9 : 0;
}

/* Each thread wrote when it was sampled: the earliest of those that had not ended. */
static uint64_t oldest_write(const struct measurement *m)
{
    uint64_t oldest = m->clock.monotonic ? m->clock.monotonic : m->process.monotonic;
    for (size_t i = 0; i < m->threads.n; i++)
        if (!m->threads.at[i].ended && m->threads.at[i].last_monotonic < oldest)
            oldest = m->threads.at[i].last_monotonic;
    return oldest;
}

static uint64_t last_write(const struct measurement *m)
{
    uint64_t last =
        m->clock.monotonic > m->process.monotonic ? m->clock.monotonic : m->process.monotonic;
    for (size_t i = 0; i < m->threads.n; i++)
        if (m->threads.at[i].last_monotonic > last)
            last = m->threads.at[i].last_monotonic;
    return last;
}

static const char *state_of(const struct process_image *image)
{
    if (image->state == IMAGE_ENDED)
        return "withdrawn";
    if (image->signal)
        return "killed";
    return image->seen_by_parent ? "bare system call" : "unknown";
}

static struct lost_end lost_end(const struct run_ends *ends, const struct measurement *m)
{
    struct lost_end lost = {0};
    const struct process_image *image = m->clock.state == PROCESS_RUNNING ? find(ends, m) : NULL;
    if (!image || image->state == IMAGE_EXEC || image->state == IMAGE_REPLACED)
        return lost;
    lost.state = state_of(image);
    lost.signal = image->signal;
    lost.until = seconds_between(m->process.monotonic, last_write(m));
    lost.missing = FLUSH_SECONDS;
    if (image->ended_at && seconds_between(oldest_write(m), image->ended_at) < FLUSH_SECONDS)
        lost.missing = seconds_between(oldest_write(m), image->ended_at);
    if (image->state == IMAGE_ENDED)
        lost.missing = 0;
    return lost;
}

static void write_number_or_null(struct json_writer *json, const char *key, bool known,
                                 double number)
{
    json_write_key(json, key);
    if (known)
        json_write_double(json, number);
    else
        json_write_null(json);
}

void run_ends_write_process(struct json_writer *json, const struct run_ends *ends,
                            const struct measurement *m)
{
    struct lost_end lost = lost_end(ends, m);
    const char *name = process_state_name(m->clock.state);
    char *unknown = mem_printf("code %llu", (unsigned long long)m->clock.state);
    int64_t signal = m->clock.state == PROCESS_SIGNAL ? (int64_t)m->clock.detail : lost.signal;
    json_write_text(json, "state", lost.state ? lost.state : name ? name : unknown);
    free(unknown);
    json_write_key(json, "signal");
    if (signal)
        json_write_integer(json, signal);
    else
        json_write_null(json);
    write_number_or_null(json, "data_until", lost.state, lost.until);
    write_number_or_null(json, "missing_at_most", lost.state, lost.missing);
}

static char *describe(const struct lost_end *lost)
{
    if (strcmp(lost->state, "withdrawn") == 0)
        return mem_printf("not measured to its end (see hpcrun.log): data until %.1f s of its life",
                          lost->until);
    char *how = lost->signal ? mem_printf("killed by signal %d", lost->signal)
                             : mem_strdup(strcmp(lost->state, "unknown") == 0
                                              ? "killed, ended by a bare system call, or lost"
                                              : "ended by a bare system call");
    char *text =
        mem_printf("%s: data until %.1f s of its life; at most the last %.1f s are missing", how,
                   lost->until, lost->missing);
    free(how);
    return text;
}

void run_ends_write_problems(struct json_writer *json, const struct run_ends *ends,
                             const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        struct lost_end lost = lost_end(ends, m);
        if (!lost.state)
            continue;
        char *what = describe(&lost), *line = mem_printf("%s: %s", m->name, what);
        json_write_string(json, line);
        free(line);
        free(what);
    }
}

/* ---- what was not measured ---- */

/* Programs that are named for one reason. */
#define MAX_PROGRAMS 20

struct reason {
    char *text; /* owned */
    size_t count;
    VEC(char *) programs; /* owned, each once */
};

struct reasons {
    VEC(struct reason) all; /* in the order in which they come up */
};

/* Why an image is not measured at all; NULL if it is, in part at least. The caller frees. */
static char *why_unmeasured(const struct process_image *image)
{
    const char *reason = unmeasured_reason(image->why);
    if (image->state == IMAGE_UNMEASURED)
        return reason ? mem_strdup(reason) : mem_printf("code %d", (int)image->why);
    if (image->state == IMAGE_EXEC)
        return mem_strdup(unmeasured_reason(UNMEASURED_UNKNOWN));
    if (image->state != IMAGE_BEGUN || image->mark == HAS_FILE)
        return NULL;
    if (image->signal)
        return mem_printf("killed by signal %d before anything was written", image->signal);
    return mem_printf("%s before anything was written",
                      image->seen_by_parent ? "ended by a bare system call"
                                            : "killed, ended by a bare system call, or lost");
}

static struct reason *reason_of(struct reasons *reasons, const char *text)
{
    for (size_t i = 0; i < reasons->all.n; i++)
        if (strcmp(reasons->all.at[i].text, text) == 0)
            return &reasons->all.at[i];
    vec_push(&reasons->all, (struct reason){.text = mem_strdup(text)});
    return &reasons->all.at[reasons->all.n - 1];
}

static void add_program(struct reason *reason, const struct process_image *image)
{
    char *program = mem_strndup(image->program, image->program_length);
    bool known = reason->programs.n == MAX_PROGRAMS || !*program;
    for (size_t i = 0; i < reason->programs.n && !known; i++)
        known = strcmp(reason->programs.at[i], program) == 0;
    if (known)
        free(program);
    else
        vec_push(&reason->programs, program);
}

static void collect(const struct process_list *list, struct reasons *reasons)
{
    for (size_t i = 0; i < list->n; i++) {
        char *why = why_unmeasured(&list->images[i]);
        if (!why)
            continue;
        struct reason *reason = reason_of(reasons, why);
        reason->count++;
        add_program(reason, &list->images[i]);
        free(why);
    }
}

static void write_reason(struct json_writer *json, const struct reason *reason)
{
    json_write_object(json);
    json_write_text(json, "reason", reason->text);
    json_write_key(json, "count");
    json_write_integer(json, (int64_t)reason->count);
    json_write_key(json, "programs");
    json_write_array(json);
    for (size_t i = 0; i < reason->programs.n; i++)
        json_write_string(json, reason->programs.at[i]);
    json_write_array_end(json);
    json_write_object_end(json);
}

static void free_reason(struct reason *reason)
{
    free(reason->text);
    for (size_t i = 0; i < reason->programs.n; i++)
        free(reason->programs.at[i]);
    vec_free(&reason->programs);
}

void run_ends_write_unmeasured(struct json_writer *json, const struct run_ends *ends)
{
    struct reasons reasons = {0};
    for (size_t i = 0; i < ends->lists.n; i++)
        collect(&ends->lists.at[i].list, &reasons);
    json_write_key(json, "unmeasured");
    json_write_array(json);
    for (size_t i = 0; i < reasons.all.n; i++) {
        write_reason(json, &reasons.all.at[i]);
        free_reason(&reasons.all.at[i]);
    }
    json_write_array_end(json);
    vec_free(&reasons.all);
}
