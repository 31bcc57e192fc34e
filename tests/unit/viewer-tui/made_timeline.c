#include "tests/unit/viewer-tui/made_timeline.h"

#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/base/task.h"

#include <unistd.h>

#define SHIFT 4

struct made_timeline made;
struct timeline *timeline;

static void add(const void *bytes, size_t size)
{
    assert_true(made.size + size <= sizeof made.bytes);
    memcpy(made.bytes + made.size, bytes, size);
    made.size += size;
}

static void add_wake_ups(const struct timeline_thread *threads)
{
    struct timeline_wake_list lists[64] = {0};
    for (size_t t = 0, i = 0; t < made.header.n_threads; t++) {
        lists[t] = (struct timeline_wake_list){made.size, 0, made.step ? made.step : 1, made.window, 0};
        for (; i < made.n_wake_ups && made.wake_ups[i].profile == threads[t].profile; i++) {
            const struct made_wake_up *from = &made.wake_ups[i];
            add(&(struct timeline_wake_up){from->time, from->began, from->released, from->waker},
                sizeof(struct timeline_wake_up));
            lists[t].n_wake_ups++;
        }
    }
    made.header.wake_lists = made.size;
    add(lists, made.header.n_threads * sizeof *lists);
}

static void add_records(const struct made_record *records, size_t n)
{
    struct timeline_thread threads[64], *thread = threads - 1;
    made.size = sizeof made.header;
    made.header.places = made.size;
    add(made.places, made.n_places * sizeof *made.places);
    for (size_t i = 0; i < n; i++) {
        const struct made_record *from = &records[i];
        if (i == 0 || from->profile != records[i - 1].profile)
            *++thread = (struct timeline_thread){.profile = from->profile, .step = 1, .records = made.size};
        struct timeline_record record = {
            .time = from->time,
            .place = from->place,
            .amount = from->amount << (SHIFT + TRACE_FLAG_BITS) | (from->is_worker ? TRACE_WORKER : 0) | from->state,
        };
        add(&record, sizeof record);
        thread->n_records++;
    }
    made.header.threads = made.size;
    made.header.n_threads = (uint32_t)(thread + 1 - threads);
    add(threads, made.header.n_threads * sizeof *threads);
    add_wake_ups(threads);
}

static char *file_of(void)
{
    return mem_printf("%s/%s", made.folder, TIMELINE_FILE);
}

void reopen_timeline(void)
{
    autofree char *path = file_of();
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(made.bytes, 1, made.size, out), made.size);
    assert_int_equal(fclose(out), 0);
    timeline_close(timeline);
    timeline = timeline_open(made.folder, made.run);
}

void begin_timeline(const struct made_record *records, size_t n, uint64_t unit, bool is_time)
{
    memcpy(made.header.magic, TIMELINE_MAGIC, sizeof made.header.magic);
    made.header.version = TIMELINE_VERSION;
    made.header.shift = SHIFT;
    made.header.unit = unit;
    made.header.n_places = made.n_places;
    add_records(records, n);
    memcpy(made.bytes, &made.header, sizeof made.header);
    made.run = json_pack("{s: [{s: s, s: s}]}", "events", "name", is_time ? "CPUTIME" : "PAGE-FAULTS", "unit",
                         is_time ? "s" : "count");
    strcpy(made.folder, "/tmp/made-timeline-XXXXXX");
    assert_non_null(mkdtemp(made.folder));
    reopen_timeline();
}

int end_timeline(void **state)
{
    (void)state;
    timeline_close(timeline);
    timeline = NULL;
    if (*made.folder) {
        autofree char *path = file_of();
        unlink(path);
        assert_int_equal(rmdir(made.folder), 0);
        json_decref(made.run);
    }
    memset(&made, 0, sizeof made);
    problem_clear();
    return 0;
}
