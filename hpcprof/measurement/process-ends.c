#include "hpcprof/measurement/process-ends.h"

#include "lib/binary-search.h"
#include "lib/diag.h"
#include "lib/measurement-format.h"
#include "lib/measurement.h"
#include "lib/path.h"
#include "lib/process-list.h"
#include "lib/safe-input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Seconds within which a sampled thread writes its data: hpcrun's FLUSH_INTERVAL of 10 s, plus the
 * 2^32 clock ticks (at 1 GHz) between its readings of the clock. */
#define FLUSH_SECONDS 15.0

/* Bytes; a longer list would have millions of processes, and is not from hpcrun. */
#define MAX_LIST_SIZE ((size_t)1 << 30)

struct loaded_list {
    char *text;
    struct process_list list;
};

struct process_ends {
    VEC(struct loaded_list) lists;
    VEC(struct process_image *) images; /* those that began, sorted by process and time */
};

/* Bits of process_image.mark: the image has a measurement file; it reported no end, and its process runs on. */
#define HAS_FILE   1u
#define IS_RUNNING 2u

/* ---- processes that run on ---- */

/* Whether a process of this machine runs: as in /proc/PID/stat, "123 (name) R ...", with its start in field 22. */
static bool process_runs(int pid, uint64_t start)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    autofree char *cause = NULL;
    FILE *file = input_stream(path, &cause);
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return false;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at && strtoull(at + 1, NULL, 10) == start;
}

/* Marks the images of "HOST.processes" whose processes run on, if this is HOST. */
static void mark_running(struct process_list *list, const char *path)
{
    struct utsname machine = {0};
    const char *name = path_base(path);
    uname(&machine);
    size_t length = strlen(machine.nodename);
    if (strncmp(machine.nodename, name, length) != 0 || strcmp(name + length, MEASUREMENT_PROCESSES) != 0)
        return;
    for (size_t i = 0; i < list->n; i++) {
        struct process_image *image = &list->images[i];
        if ((image->state == IMAGE_BEGUN || image->state == IMAGE_EXEC) && process_runs(image->pid, image->start))
            image->mark |= IS_RUNNING;
    }
}

/* ---- reading ---- */

static void read_list(struct process_ends *ends, const char *path)
{
    size_t size;
    char *cause = NULL;
    struct loaded_list one = {.text = input_read(path, MAX_LIST_SIZE, &size, &cause)};
    if (!one.text) {
        diag_error(path, "%s", cause);
        free(cause);
        return;
    }
    process_list_read(&one.list, one.text, size);
    mark_running(&one.list, path);
    vec_push(&ends->lists, one);
}

/* Orders images by process and beginning. A process has one image at a time, so its beginning
 * identifies an image. */
static int by_begin(const void *a, const void *b)
{
    const struct process_image *x = *(struct process_image *const *)a;
    const struct process_image *y = *(struct process_image *const *)b;
    int order = compare_unsigned((uint64_t)x->pid, (uint64_t)y->pid);
    order = order ? order : compare_unsigned(x->start, y->start);
    return order ? order : compare_unsigned(x->began_at, y->began_at);
}

static void sort_images(struct process_ends *ends)
{
    for (size_t i = 0; i < ends->lists.n; i++) {
        struct process_list *list = &ends->lists.at[i].list;
        for (size_t k = 0; k < list->n; k++)
            if (list->images[k].state < IMAGE_UNMEASURED)
                vec_push(&ends->images, &list->images[k]);
    }
    vec_sort(&ends->images, by_begin);
}

static struct process_image *find(const struct process_ends *ends, const struct measurement *m)
{
    struct process_image wanted = {.pid = (int)m->process.pid,
                                   .start = m->process.start_time,
                                   .began_at = m->process.monotonic};
    struct process_image *key = &wanted, **found = NULL;
    if (ends->images.n)
        found = bsearch(&key, ends->images.at, ends->images.n, sizeof *ends->images.at, by_begin);
    return found ? *found : NULL;
}

static bool has_reported_end(const struct process_image *image)
{
    return image->state == IMAGE_ENDED || image->state == IMAGE_EXEC ||
           image->state == IMAGE_REPLACED;
}

/* Whether the file lacks an end that the process has written, in the file itself or in its arenas. */
static bool is_cut(const struct process_image *image, const struct measurement *m)
{
    return has_reported_end(image) && image->end != PROCESS_RUNNING && image->loss == LOSS_NONE &&
           m->clock.state == PROCESS_RUNNING && m->recovered == 0;
}

#define CUT_TEXT "cut: its process has written an end (%s) that is not in it"

/* Notes which images have a file, and the ends that files lack; reports files that were cut. */
static void match_files(const struct process_ends *ends, const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        struct measurement *m = measurements->files.at[i].m;
        struct process_image *image = find(ends, m);
        if (image)
            image->mark |= HAS_FILE;
        if (image && has_reported_end(image) && m->clock.state == PROCESS_RUNNING)
            m->listed = (struct measurement_last){image->ended_at, image->process_cpu};
        if (image && is_cut(image, m))
            diag_error(m->path, CUT_TEXT, process_state_name(image->end));
    }
}

struct process_ends *process_ends_read(const struct measurements *measurements)
{
    struct process_ends *ends = mem_alloc(sizeof *ends);
    *ends = (struct process_ends){0};
    for (size_t i = 0; i < measurements->directories.n; i++) {
        struct measurement_files files = {0};
        char *cause = NULL;
        if (!measurement_list_processes(measurements->directories.at[i], &files, &cause))
            free(cause); /* measurements_read has reported it */
        for (size_t k = 0; k < files.paths.n; k++)
            read_list(ends, files.paths.at[k]);
        measurement_files_free(&files);
    }
    sort_images(ends);
    match_files(ends, measurements);
    return ends;
}

void process_ends_free(struct process_ends *ends)
{
    for (size_t i = 0; i < ends->lists.n; i++) {
        free(ends->lists.at[i].text);
        process_list_free(&ends->lists.at[i].list);
    }
    vec_free(&ends->lists);
    vec_free(&ends->images);
    free(ends);
}

/* ---- one process ---- */

static double seconds_between(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) / 1e9 : 0;
}

/* Whether all threads that had not ended were recovered. */
static bool is_recovered(const struct measurement *m)
{
    for (size_t i = 0; i < m->threads.n; i++)
        if (!m->threads.at[i].ended && !m->threads.at[i].recovered)
            return false;
    return m->recovered > 0;
}

/* The time until which the data covers all threads that had not ended: the earliest of their last
 * samples. */
static uint64_t oldest_write(const struct measurement *m)
{
    uint64_t oldest = m->clock.monotonic ? m->clock.monotonic : m->process.monotonic;
    for (size_t i = 0; i < m->threads.n; i++)
        if (!m->threads.at[i].ended && m->threads.at[i].last_monotonic < oldest)
            oldest = m->threads.at[i].last_monotonic;
    return oldest;
}

static const char *state_of(const struct process_image *image)
{
    if (has_reported_end(image))
        return image->end == PROCESS_RUNNING ? "withdrawn" : process_state_name(image->end);
    if (image->signal)
        return "killed";
    if (image->mark & IS_RUNNING)
        return "running";
    return image->seen_by_parent ? "bare system call" : "unknown";
}

/* A process that could write lacks at most what its threads have collected since their last flush; one
 * that could not write lacks everything since its oldest write. */
static double missing_at_most(const struct lost_end *lost, const struct process_image *image,
                              const struct measurement *m)
{
    double since = seconds_between(oldest_write(m), image->ended_at);
    if (lost->error || lost->is_cut)
        return since;
    if (has_reported_end(image) || lost->recovered)
        return 0;
    return image->ended_at && since < FLUSH_SECONDS ? since : FLUSH_SECONDS;
}

struct lost_end process_ends_find(const struct process_ends *ends, const struct measurement *m)
{
    struct lost_end lost = {0};
    const struct process_image *image = find(ends, m);
    if (image && image->loss != LOSS_NONE)
        lost.error = strerror(image->error);
    if (!image || m->clock.state != PROCESS_RUNNING)
        return lost;
    lost.state = state_of(image);
    lost.signal = image->signal;
    lost.data_until = seconds_between(m->process.monotonic, measurement_last_in_file(m).monotonic);
    lost.recovered = is_recovered(m);
    lost.is_cut = is_cut(image, m);
    lost.missing_at_most = missing_at_most(&lost, image, m);
    return lost;
}

static char *unwritten_text(const struct lost_end *end)
{
    if (!end->state)
        return mem_printf("%s: a part of its data could not be written", end->error);
    return mem_printf("%s: data until %.1f s of its life; the last %.1f s are missing", end->error,
                      end->data_until, end->missing_at_most);
}

static char *how_it_ended(const struct lost_end *end)
{
    if (strcmp(end->state, "killed") == 0)
        return mem_printf("killed by signal %d", end->signal);
    if (strcmp(end->state, "bare system call") == 0)
        return mem_strdup("ended by a bare system call");
    if (strcmp(end->state, "running") == 0)
        return mem_strdup("still running");
    if (strcmp(end->state, "unknown") == 0)
        return mem_strdup("killed, ended by a bare system call, or lost");
    return mem_printf("could not write its end (%s)", end->state);
}

char *lost_end_text(const struct lost_end *end)
{
    if (end->error)
        return unwritten_text(end);
    if (end->is_cut)
        return mem_printf(CUT_TEXT, end->state);
    if (strcmp(end->state, "withdrawn") == 0)
        return mem_printf("not measured to its end (see hpcrun.log): data until %.1f s of its life",
                          end->data_until);
    autofree char *how = how_it_ended(end);
    char *text =
        end->recovered
            ? mem_printf("%s: data until %.1f s of its life was recovered; at most one sample of "
                         "each thread is missing",
                         how, end->data_until)
            : mem_printf("%s: data until %.1f s of its life; at most the last %.1f s are missing",
                         how, end->data_until, end->missing_at_most);
    return text;
}

/* ---- programs that were not measured ---- */

/* Programs listed per reason. */
#define MAX_PROGRAMS 20

/* Why an image that has reported its end has no file. If the image ended with an exec,
 * another one followed, and hpcrun does not know what became of it. */
static char *why_without_file(const struct process_image *image)
{
    if (image->mark & HAS_FILE)
        return NULL;
    if (image->loss == LOSS_ALL)
        return mem_printf("could not be written: %s", strerror(image->error));
    return mem_strdup("its measurement file is missing or cannot be read");
}

/* Why an image was not measured at all; NULL if it was, at least in part. The caller frees. `is_outside`: a process has a
 * file only if it has a sample. */
static char *why_unmeasured(const struct process_image *image, bool is_outside)
{
    const char *reason = unmeasured_reason(image->why);
    if (image->state == IMAGE_UNMEASURED || image->state == IMAGE_UNSEEN)
        return reason ? mem_strdup(reason) : mem_printf("code %d", (int)image->why);
    if (image->mark & IS_RUNNING)
        return image->mark & HAS_FILE ? NULL : mem_strdup("still running: nothing is written yet");
    if (image->state == IMAGE_EXEC)
        return mem_strdup(is_outside ? "had no sample after an exec" : unmeasured_reason(UNMEASURED_UNKNOWN));
    if (has_reported_end(image))
        return why_without_file(image);
    if (image->state != IMAGE_BEGUN || image->mark & HAS_FILE)
        return NULL;
    if (image->signal)
        return mem_printf("killed by signal %d before anything was written", image->signal);
    return mem_printf("%s before anything was written",
                      image->seen_by_parent ? "ended by a bare system call"
                                            : "killed, ended by a bare system call, or lost");
}

static struct unmeasured_programs *find_reason(struct unmeasured_list *list, const char *reason)
{
    for (size_t i = 0; i < list->all.n; i++)
        if (strcmp(list->all.at[i].reason, reason) == 0)
            return &list->all.at[i];
    vec_push(&list->all, (struct unmeasured_programs){.reason = mem_strdup(reason)});
    return &list->all.at[list->all.n - 1];
}

/* Takes the name over. */
static void add_program(struct unmeasured_programs *unmeasured, char *program)
{
    bool is_known = unmeasured->programs.n == MAX_PROGRAMS || !*program;
    for (size_t i = 0; i < unmeasured->programs.n && !is_known; i++)
        is_known = strcmp(unmeasured->programs.at[i], program) == 0;
    if (is_known)
        free(program);
    else
        vec_push(&unmeasured->programs, program);
}

static void add_process(struct unmeasured_list *list, const char *why,
                        const struct process_image *image, uint64_t cpu)
{
    struct unmeasured_programs *unmeasured = find_reason(list, why);
    unmeasured->count++;
    unmeasured->cpu += seconds_between(0, cpu);
    add_program(unmeasured, mem_strndup(image->program, image->program_length));
}

static void add_images(struct unmeasured_list *list, const struct process_list *processes, bool is_outside)
{
    for (size_t i = 0; i < processes->n; i++) {
        const struct process_image *image = &processes->images[i];
        autofree char *why = why_unmeasured(image, is_outside);
        if (!why)
            continue;
        add_process(list, why, image,
                    has_reported_end(image) ? image->process_cpu : image->lost_cpu);
    }
    static const char of_parents[] = "children without a record, of these programs";
    for (size_t i = 0; i < processes->n; i++)
        if (processes->images[i].unrecorded_cpu) {
            add_process(list, of_parents, &processes->images[i],
                        processes->images[i].unrecorded_cpu);
            find_reason(list, of_parents)->are_parents = true;
        }
}

struct unmeasured_list process_ends_unmeasured(const struct process_ends *ends,
                                               const struct measurements *measurements)
{
    struct unmeasured_list list = {0};
    bool is_outside = measurements_are_from_outside(measurements);
    for (size_t i = 0; i < ends->lists.n; i++)
        add_images(&list, &ends->lists.at[i].list, is_outside);
    return list;
}

/* NULL: all data up to the process's end, or up to where hpcrun withdrew, is there. */
static char *why_in_part(const struct lost_end *lost, const struct process_image *image)
{
    if (lost->error)
        return mem_strdup(lost->error);
    return lost->state && !has_reported_end(image) ? how_it_ended(lost) : NULL;
}

static void add_part(struct unmeasured_list *list, const struct process_image *image, const char *why,
                     double lost_cpu)
{
    struct unmeasured_programs *unmeasured = find_reason(list, why);
    autofree char *program = mem_strndup(image->program, image->program_length);
    unmeasured->count++;
    unmeasured->cpu += lost_cpu;
    add_program(unmeasured, mem_printf("%s[%d]", path_base(program), image->pid));
}

struct unmeasured_list process_ends_in_part(const struct process_ends *ends,
                                            const struct measurements *measurements)
{
    struct unmeasured_list list = {0};
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        const struct lost_end lost = process_ends_find(ends, m);
        const struct process_image *image = find(ends, m);
        char *why = image ? why_in_part(&lost, image) : NULL;
        if (why)
            add_part(&list, image, why,
                     lost.recovered ? 0 : seconds_between(measurement_last_in_file(m).cpu, image->lost_cpu));
        free(why);
    }
    return list;
}

bool process_ends_are_known(const struct process_ends *ends)
{
    return ends->lists.n > 0;
}

void unmeasured_list_free(struct unmeasured_list *list)
{
    for (size_t i = 0; i < list->all.n; i++) {
        struct unmeasured_programs *unmeasured = &list->all.at[i];
        free(unmeasured->reason);
        for (size_t k = 0; k < unmeasured->programs.n; k++)
            free(unmeasured->programs.at[k]);
        vec_free(&unmeasured->programs);
    }
    vec_free(&list->all);
}
