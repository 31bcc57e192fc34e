/* The reader of arena files: what a killed process left is read up to the last complete sample, and
 * damage is reported. */
#include "tests/fuzz/reader-checks.h"
#include "tests/unit/lib/measurement_encoder.h"
#include "tests/unit/random_numbers.h"

#include "lib/arena-format.h"

#include <unistd.h>

enum { METRICS = 2, NODES = 5, VALUES = 2, TRACE = 3 };

struct record {
    uint64_t node, amount[METRICS];
};

/* An arena file with two threads. */
static struct {
    struct arena_header header;
    struct arena_thread threads[2];
    struct cct_node nodes[NODES];
    struct lnote lnotes[1];
    struct record values[VALUES];
    struct trace_record trace[TRACE];
    struct arena_mark marks[1];
} arena;

#define OFFSET(member) ((uint64_t)((char *)&(member) - (char *)&arena))

static char arena_path[sizeof path];

static void begin_thread(struct arena_thread *thread, uint32_t index)
{
    *thread = (struct arena_thread){
        .state = THREAD_IMAGE_LIVE,
        .index = index,
        .tid = 100 + index,
        .nodes = NODES,
        .lnotes = 1,
        .values = VALUES,
        .source = {SOURCE_CPU_TIMER},
        .began_wall = 5000,
        .began_cpu = 10,
        .looked_wall = 9000,
        .looked_cpu = 700,
        .looked_ready = 41,
        .looked_timeslices = 5,
        .looked_ticks = 4000,
        .ticks = 6000,
        .name = "worker",
    };
    thread->node_segments.at[0] = OFFSET(arena.nodes);
    thread->lnote_segments.at[0] = OFFSET(arena.lnotes);
    thread->value_segments.at[0] = OFFSET(arena.values);
    thread->marks = 1;
    thread->lost_marks = 2;
    thread->mark_segments.at[0] = OFFSET(arena.marks);
    thread->trace_segments.at[0] = OFFSET(arena.trace);
    thread->trace = trace_word((struct trace_extent){.count = TRACE, .scale = 1, .parts = 1});
    thread->trace_open[1] = (struct trace_record){.time = 6500, .amount = 5 << TRACE_FLAG_BITS | TRACE_IDLE};
    thread->fates[0][fate_slot(FATE_FIRED)] = (struct fate_count){3, 30};
    thread->fates[0][fate_slot(FATE_RECORDED)] = (struct fate_count){3, 30};
}

/* A measurement file without threads, and an arena file in which thread 0 is live. */
static void begin(void)
{
    start_process_file();
    put_module(2, "/bin/chain");
    put_module(7, "/bin/app");
    memset(&arena, 0, sizeof arena);
    memcpy(arena.header.magic, ARENAS_MAGIC, sizeof arena.header.magic);
    arena.header.major = ARENAS_MAJOR;
    arena.header.metrics = METRICS;
    arena.header.thread_bytes = sizeof(struct arena_thread);
    arena.header.began_wall = 1000; /* and ticks 0: two ns for a tick until the look */
    arena.header.first_thread = OFFSET(arena.threads[0]);
    begin_thread(&arena.threads[0], 0);
    for (uint32_t id = 1; id < NODES; id++)
        arena.nodes[id] = (struct cct_node){.ip = UINT64_C(7) << IP_OFFSET_BITS | id,
                                              .parent = id - 1,
                                              .association = ASSOC_1_1,
                                              .seen = 1 << ASSOC_1_1,
                                              .first = 1};
    arena.nodes[2].lip = LIP_OWN;
    arena.nodes[2].seen |= 1 << ASSOC_1_M;
    arena.nodes[3].ip = IP_NO_MODULE | 0x1234;
    arena.lnotes[0].value = UINT64_C(7) << IP_OFFSET_BITS | 77;
    arena.values[0] = (struct record){4, {20, 1}};
    arena.values[1] = (struct record){1, {10, 0}};
    arena.nodes[4].values = 1;
    arena.nodes[1].values = 2;
    arena.marks[0] = (struct arena_mark){.ticks = 3500, .kind = MARK_END, .name = "region"};
    for (uint32_t i = 0; i < TRACE; i++)
        arena.trace[i] = (struct trace_record){
            .time = 3000 + 1000 * i, .amount = (10 + i) << TRACE_FLAG_BITS | TRACE_WORK, .node = 4 - i};
    arena.nodes[2].values = VALUES + 1; /* not published */
}

static struct measurement *read_both(size_t size)
{
    snprintf(arena_path, sizeof arena_path, "%.*s" ARENAS_SUFFIX,
             (int)(strlen(path) - strlen(MEASUREMENT_SUFFIX)), path);
    FILE *stream = fopen(arena_path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(&arena, 1, size, stream), size);
    fclose(stream);
    struct measurement *m = read_file();
    unlink(arena_path);
    return m;
}

static struct measurement *read_sound(uint32_t recovered)
{
    struct measurement *m = read_both(sizeof arena);
    assert_int_equal(m->problems.n, 0);
    assert_int_equal(m->recovered, recovered);
    return m;
}

static void assert_damaged(const char *part)
{
    struct measurement *m = read_both(sizeof arena);
    assert_problem(m, part);
    assert_false(m->complete);
}

static const struct measurement_fate *fired(const struct measurement_thread *thread)
{
    assert_int_equal(thread->fates.at[0].code, FATE_FIRED);
    return &thread->fates.at[0];
}

/* ---- what is there ---- */

TEST(a_live_thread_is_read)
{
    begin();
    struct measurement *m = read_sound(1);
    assert_int_equal(m->threads.n, 1);
    const struct measurement_thread *thread = &m->threads.at[0];
    assert_true(thread->known && thread->recovered && !thread->ended);
    assert_int_equal(thread->tid, 100);
    assert_string_equal(thread->name, "worker");
    assert_int_equal(thread->nodes.n, 2 + NODES - 1);
    assert_int_equal(thread->nodes.at[3].lip_value, 77);
    assert_int_equal(thread->nodes.at[3].associations, 1 << ASSOC_1_1 | 1 << ASSOC_1_M);
    assert_int_equal(thread->nodes.at[4].ip_offset, 0x1234);
    assert_int_equal(thread->nodes.at[4].ip_space, MEASUREMENT_NO_MODULE);
    assert_int_equal(sum_of(m), 31);
    assert_int_equal(fired(thread)->amount, 30);
    assert_int_equal(fired(thread)->source, SOURCE_CPU_TIMER);
    assert_int_equal(thread->last_cpu, 700);
    assert_true(thread->has_ready);
    assert_int_equal(thread->ready, 40);
    assert_int_equal(thread->timeslices, 5);
    assert_int_equal(thread->last_monotonic, 9000 + 2 * 2000);
    assert_int_equal(m->clock.monotonic, thread->last_monotonic);
    assert_int_equal(m->clock.cpu, m->process.cpu + 700 - 10);
}

/* The chunks of a live thread do not count; those of another thread do. */
TEST(an_image_replaces_chunks)
{
    begin();
    for (uint32_t thread = 0; thread < 2; thread++) {
        put_thread(thread);
        put_chain(thread, 2);
        put_value(thread, 2, 0, 500);
    }
    struct measurement *m = read_sound(1);
    assert_int_equal(m->threads.n, 2);
    assert_int_equal(sum_of(m), 31 + 500);
}

TEST(a_live_threads_trace_is_read)
{
    static const struct measurement_trace_record expected[] = {
        {.time = 1000 + 2 * 3000, .amount = 10 << 8 | 1, .node = 5},
        {.time = 1000 + 2 * 4000, .amount = 11 << 8 | 1, .node = 4},
        {.time = 1000 + 2 * 5000, .amount = 12 << 8 | 1, .node = 3},
        {.time = 1000 + 2 * 6500, .amount = 5 << 8 | 4, .node = MEASUREMENT_ROOT},
    };
    begin();
    put_thread(0);
    ENCODE(0, 1, 1, 0, 1, 1, 0); /* a chunk TRACE, which does not count */
    end_chunk(23, 0);
    struct measurement *m = read_sound(1);
    const struct measurement_thread *thread = &m->threads.at[0];
    assert_int_equal(thread->trace.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(thread->trace.at[i].time, expected[i].time);
        assert_int_equal(thread->trace.at[i].amount, expected[i].amount);
        assert_int_equal(thread->trace.at[i].node, expected[i].node);
    }
    assert_int_equal(thread->trace_step, 2);
    assert_int_equal(thread->trace_event, 0);
    assert_int_equal(thread->marks.n, 1);
    assert_int_equal(thread->lost_marks, 2);
    assert_int_equal(thread->marks.at[0].time, 1000 + 2 * 3500);
    assert_string_equal(thread->marks.at[0].name, "region");
}

TEST(other_images_do_not_count)
{
    begin();
    arena.threads[0].state = THREAD_IMAGE_UNUSED;
    arena.threads[0].next = OFFSET(arena.threads[1]);
    begin_thread(&arena.threads[1], 1);
    struct measurement *m = read_sound(1);
    assert_int_equal(m->threads.n, 1);
    assert_int_equal(m->threads.at[0].index, 1);
}

TEST(what_is_not_published_is_not_read)
{
    begin();
    arena.threads[0].nodes = NODES - 1;
    arena.threads[0].values = 0;
    arena.threads[0].trace = 0;
    struct measurement *m = read_sound(1);
    assert_int_equal(m->threads.at[0].nodes.n, 2 + NODES - 2);
    assert_int_equal(sum_of(m), 0);
}

TEST(a_file_that_just_began_has_nothing)
{
    begin();
    memset(arena.header.magic, 0, sizeof arena.header.magic);
    read_sound(0);
}

/* ---- a sample in progress ---- */

/* Of each word the value before the sample counts: the first one that was saved. */
TEST(a_sample_in_progress_never_was)
{
    begin();
    struct arena_undo *undo = &arena.threads[0].undo;
    arena_undo_save(undo, arena_word(ARENA_WORD_COUNT, 0, fate_slot(FATE_FIRED)), 2);
    arena_undo_save(undo, arena_word(ARENA_WORD_AMOUNT, 0, fate_slot(FATE_FIRED)), 18);
    arena_undo_save(undo, arena_word(ARENA_WORD_VALUE, 0, 0), 8);
    arena_undo_save(undo, arena_word(ARENA_WORD_VALUE, 0, 0), 9);
    arena_undo_save(undo, arena_word(ARENA_WORD_VALUE, 99, 0), 1000); /* not published */
    struct measurement *m = read_sound(1);
    assert_int_equal(sum_of(m), 8 + 1 + 10);
    assert_int_equal(fired(&m->threads.at[0])->count, 2);
    assert_int_equal(fired(&m->threads.at[0])->amount, 18);
    assert_int_equal(m->threads.at[0].fates.at[1].amount, 30);
}

/* ---- damage ---- */

/* An arena file with one change, and what is damaged in it. */
#define DAMAGED(part, change) \
    do {                      \
        begin();              \
        change;               \
        assert_damaged(part); \
    } while (0)

TEST(damage_is_reported)
{
    static const char image[] = "the image of a thread";
    DAMAGED("its header", arena.header.magic[0] = 'h');
    DAMAGED("version 9", arena.header.major = 9);
    DAMAGED("version 2-", arena.header.thread_bytes += 8);
    DAMAGED("list of threads", arena.header.first_thread = sizeof arena);
    DAMAGED("list of threads", arena.threads[0].next = OFFSET(arena.threads[0])); /* a circle */
    DAMAGED(image, arena.nodes[3].parent = 3);
    DAMAGED(image, arena.nodes[2].lip = LIP_OWN + 1);
    DAMAGED(image, arena.nodes[3].values = 1); /* those of another node */
    DAMAGED(image, arena.threads[0].nodes = 2000000000); /* in segments that are not there */
    DAMAGED(image, arena.threads[0].value_segments.at[0] = UINT64_MAX - 8);
    DAMAGED(image, arena.threads[0].trace = trace_word((struct trace_extent){.count = 200})); /* no second segment */
    DAMAGED(image, arena.threads[0].trace = UINT64_MAX);
    DAMAGED(image, arena.threads[0].trace_recent_count = ARENA_RECENT + 1);
    DAMAGED(image, arena.threads[0].marks = 33); /* in a segment that is not there */
    DAMAGED(image, arena.threads[0].trace_segments.at[0] = sizeof arena - 8);
    DAMAGED(image, arena.threads[0].join_count = ARENA_JOINS + 1);
    begin();
    arena.threads[0].undo.count = UINT32_MAX;
    read_sound(1);
}

/* A file may end anywhere. */
TEST(a_cut_file_is_no_danger)
{
    begin();
    for (size_t size = 0; size < sizeof arena; size += 97)
        read_both(size);
}

/* Of numbers that are no longer possible, or another one's. */
TEST(random_words_are_survived)
{
    static const uint64_t values[] = {0, 1, 2, 4096, 65536, UINT32_MAX, UINT64_MAX, INT64_MAX};
    char *bytes = (char *)&arena;
    for (unsigned round = 0; round < 2000; round++) {
        random_state = round;
        begin();
        for (unsigned left = 1 + random_below(6); left > 0; left--) {
            size_t size = random_below(2) ? 4 : 8, at = size * random_below(sizeof arena / size);
            const void *value = random_below(2) ? (const void *)&values[random_below(sizeof values / sizeof *values)]
                                                : bytes + 8 * random_below(sizeof arena / 8);
            memmove(bytes + at, value, size);
        }
        check_measurement(read_both(sizeof arena));
    }
}

EACH_TEST(make_directory, remove_directory);
