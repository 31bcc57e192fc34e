/* The chunks TRACE and MARKS: written by lib/trace-chunks.c, encoded by hand from doc/FORMAT-hpcrun.md, and read. */
#include "tests/unit/lib/measurement_encoder.h"

#include "lib/thread-chunks.h"

static void put_times(uint64_t event, uint64_t step, uint64_t count)
{
    ENCODE(event, step, count);
}

static void put_z(int64_t value)
{
    encode_v(&payload, value >= 0 ? (uint64_t)value * 2 : (uint64_t)-value * 2 - 1);
}

static void put_record(int64_t time, unsigned tag, uint64_t amount, int64_t node)
{
    put_z(time);
    encode_u8(&payload, tag);
    encode_v(&payload, amount);
    put_z(node);
}

/* A file with a thread of three nodes, first seen at 1100 ns. */
static void begin(void)
{
    start_file();
    put_process();
    put_events_and_metrics();
    put_module(2, "/bin/chain");
    put_thread(0);
    put_chain(0, 3);
}

static void assert_record(const struct measurement_trace_record *record,
                          const struct measurement_trace_record *expected)
{
    assert_int_equal(record->time, expected->time);
    assert_int_equal(record->amount, expected->amount);
    assert_int_equal(record->node, expected->node);
    assert_int_equal(record->n, expected->n);
    assert_int_equal(record->working, expected->working);
    assert_int_equal(record->waiters, expected->waiters);
}

TEST(records_come_back)
{
    begin();
    put_times(0, 1, 3);
    put_record(50, TRACE_WORK | TRACE_WORKER | 1 << 5 | 1 << 6, 500, 3);
    ENCODE(4, 2, 7);
    put_record(0, TRACE_READY, 20, 0); /* of the same sample */
    put_record(100, TRACE_IDLE, 1000, -3);
    end_chunk(23, 0);
    put_times(0, 1, 1);
    put_record(200, TRACE_WAITING, 1, 1);
    end_chunk(23, 0);
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    const struct measurement_thread *thread = &m->threads.at[0];
    static const struct measurement_trace_record expected[] = {
        {1150, 500 << 8 | 16 | 1, 4, 4, 2, 7}, /* node 3 is at index 4 */
        {1150, 20 << 8 | 7, 4, 4, 2, 0},
        {1250, 1000 << 8 | 4, MEASUREMENT_ROOT, 4, 2, 0},
        {1300, 1 << 8 | 3, 2, 0, 0, 0},
    };
    assert_int_equal(thread->trace.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_record(&thread->trace.at[i], &expected[i]);
    assert_int_equal(thread->trace_event, 0);
    assert_int_equal(thread->trace_step, 1);
}

TEST(a_thread_without_a_trace_has_none)
{
    begin();
    struct measurement *m = read_file();
    assert_int_equal(m->threads.at[0].trace.n, 0);
    assert_int_equal(m->threads.at[0].trace_event, MEASUREMENT_UNKNOWN);
    assert_int_equal(m->threads.at[0].trace_step, 1);
}

TEST(the_largest_step_counts_and_times_ascend)
{
    static const uint64_t times[] = {1160, 1160, 1180};
    begin();
    put_times(0, 4, 1);
    put_record(60, TRACE_WORK, 1, 1);
    end_chunk(23, 0);
    put_times(0, 2, 2);
    put_record(58, TRACE_WORK, 1, 1);
    put_record(22, TRACE_WORK, 1, 0);
    end_chunk(23, 0);
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    assert_int_equal(m->threads.at[0].trace_step, 4);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(m->threads.at[0].trace.at[i].time, times[i]);
}

/* ---- damage ---- */

TEST(records_of_lost_nodes_are_partial_paths)
{
    begin();
    put_times(0, 1, 2);
    put_record(1, TRACE_WORK, 1, 9);
    put_record(1, TRACE_WORK, 1, -6);
    end_chunk(23, 0);
    struct measurement *m = read_file();
    assert_problem(m, "thread 0: 1 records of its time line are of lost nodes");
    assert_int_equal(m->threads.at[0].trace.at[0].node, MEASUREMENT_LOST_NODE);
    assert_int_equal(m->threads.at[0].trace.at[1].node, 4);
}

TEST(without_its_thread_a_trace_is_lost)
{
    begin();
    put_times(0, 1, 1);
    put_record(1, TRACE_IDLE, 1, 0);
    end_chunk(23, 5);
    struct measurement *m = read_file();
    assert_problem(m, "thread 5: its time line is lost with its record");
    assert_int_equal(m->threads.at[1].trace.n, 0);
}

/* What comes before the malformed record is kept. */
TEST(malformed_records_are_refused)
{
    static const struct {
        uint64_t event, step, count, amount;
        unsigned tag;
        size_t kept;
    } cases[] = {
        {0, 0, 2, 1, TRACE_WORK, 0},                                /* no step */
        {0, 1, 1000, 1, TRACE_WORK, 0},                             /* more than there can be */
        {0, 1, 3, 1, TRACE_WORK, 2},                                /* one is missing */
        {0, 1, 2, 1, 0, 1},                                         /* no state */
        {0, 1, 2, 1, TRACE_STATES, 1},                              /* an unknown one */
        {0, 1, 2, (uint64_t)1 << 56, TRACE_WORK, 1},                /* an amount that is too large */
        {0, 1, 2, 1, TRACE_WORK | TRACE_HAS_CAPACITY, 1},           /* n is missing */
        {0, 1, 2, 1, TRACE_WORK | TRACE_HAS_WAITERS, 1},            /* waiters are missing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        put_times(cases[i].event, cases[i].step, cases[i].count);
        put_record(1, TRACE_WORK, 1, 1);
        put_record(1, cases[i].tag, cases[i].amount, 0);
        if (cases[i].count == 3)
            encode_fixed(&payload, 0xffffffff, 4); /* a number without end */
        end_chunk(23, 0);
        struct measurement *m = read_file();
        assert_problem(m, "kind 23, is malformed");
        assert_int_equal(m->threads.at[0].trace.n, cases[i].kept);
    }
    begin();
    put_times(0, 1, 1);
    put_record(1, TRACE_WORK, 1, 1);
    end_chunk(23, 0);
    put_times(1, 1, 1); /* of another event */
    put_record(1, TRACE_WORK, 1, 1);
    end_chunk(23, 0);
    struct measurement *m = read_file();
    assert_problem(m, "kind 23, is malformed");
}

/* The disk was full when the thread ended. What is before the time line is there. */
TEST(a_time_line_without_its_end_is_no_damage)
{
    begin();
    put_value(0, 1, 0, 5);
    size_t begin_of_chunk = file.n;
    put_times(0, 1, 2);
    put_record(1, TRACE_WORK, 1, 1);
    put_record(1, TRACE_WORK, 1, 0);
    end_chunk(23, 0);
    size_t size = file.n;
    for (file.n = begin_of_chunk + 6; file.n < size; file.n++) {
        struct measurement *m = read_file();
        assert_int_equal(m->problems.n, 0);
        assert_int_equal(m->threads.at[0].trace.n, 0);
        assert_int_equal(sum_of(m), 5);
    }
}

/* ---- the writer ---- */

enum { MANY = 20000 };

static struct trace_record records[MANY];
static struct arena_thread image;
static uint8_t chunk_memory[CHUNK_BYTES + SCRATCH_BYTES];

static const void *item(struct thread_chunks *thread, enum arena_array array, uint32_t index)
{
    assert_int_equal(array, ARENA_TRACE);
    return index < MANY ? &records[index] : NULL;
}

/* Appends the payload to the file. */
static bool commit(struct thread_chunks *thread)
{
    const struct chunk *chunk = thread->chunk;
    for (size_t i = CHUNK_HEADER_SIZE; i < chunk->used; i++)
        encode_u8(&payload, chunk->at[i]);
    end_chunk(chunk->kind, chunk->thread);
    return true;
}

/* Writes the trace of thread 0, of which the word says `extent`. */
static bool write_trace(struct trace_extent extent)
{
    struct chunk chunk = {.at = chunk_memory};
    struct thread_chunks thread = {.image = &image, .chunk = &chunk, .item = item, .commit = commit};
    /* Three ns for a tick; the thread was first seen at tick 100. */
    const struct tick_times times = {.began_ticks = 0, .began_wall = 800, .ticks = 1000, .wall = 3800};
    image.began_wall = 1100;
    image.trace = trace_word(extent);
    uint32_t written;
    return thread_chunks_trace(&thread, &times, &written);
}

static struct measurement *read_trace(struct trace_extent extent)
{
    begin();
    assert_true(write_trace(extent));
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    return m;
}

static void assert_amounts(struct trace_extent extent, const uint64_t *expected, size_t count)
{
    struct measurement *m = read_trace(extent);
    assert_int_equal(m->threads.at[0].trace.n, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(trace_amount(m->threads.at[0].trace.at[i].amount), expected[i]);
    assert_int_equal(m->threads.at[0].trace_step, 1 << extent.scale);
}

TEST(what_is_written_is_read)
{
    for (unsigned i = 0; i < MANY; i++)
        records[i] = (struct trace_record){.time = 100 + i,
                                           .amount = (uint64_t)(i * i) << 8 | (i % 2 ? 17 : 7),
                                           .node = i % 4,
                                           .n = i / 10,
                                           .working = i / 7,
                                           .waiters = i % 5 ? 0 : i};
    struct measurement *m = read_trace((struct trace_extent){.count = MANY});
    const struct measurement_thread *thread = &m->threads.at[0];
    assert_int_equal(thread->trace.n, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        const struct measurement_trace_record expected = {
            1100 + 3 * i, records[i].amount, i % 4 ? 1 + i % 4 : 0, i / 10, i / 7, i % 5 ? 0 : i};
        assert_record(&thread->trace.at[i], &expected);
    }
}

TEST(times_of_a_wall_clock_are_no_ticks)
{
    image.trace_is_in_ns = true;
    for (unsigned i = 0; i < 2; i++)
        records[i] = (struct trace_record){.time = 1200 + i, .amount = 1 << 8 | TRACE_WORK};
    struct measurement *m = read_trace((struct trace_extent){.count = 2});
    assert_int_equal(m->threads.at[0].trace.at[0].time, 1200);
    assert_int_equal(m->threads.at[0].trace.at[1].time, 1201);
    image.trace_is_in_ns = false;
}

/* A killed process leaves each of these states. */
TEST(the_word_says_which_records_count)
{
    for (unsigned i = 0; i < 8; i++)
        records[i] = (struct trace_record){.time = 100 + i, .amount = (10 + i) << 8 | TRACE_WORK};
    for (unsigned i = 0; i < 2; i++)
        image.trace_open[i] = (struct trace_record){.time = 108, .amount = (30 + i) << 8 | TRACE_WORK};
    assert_amounts((struct trace_extent){.count = 0}, NULL, 0);
    assert_amounts((struct trace_extent){.count = 3}, (uint64_t[]){10, 11, 12}, 3);
    assert_amounts((struct trace_extent){.count = 1, .scale = 2, .parts = 2}, (uint64_t[]){10, 30}, 2);
    assert_amounts((struct trace_extent){.count = 1, .scale = 2, .parts = 3}, (uint64_t[]){10, 31}, 2);
    assert_amounts((struct trace_extent){.count = 6, .scale = 1, .is_thinned = true},
                   (uint64_t[]){10, 11, 12, 13, 14, 15}, 6);
    assert_amounts((struct trace_extent){.count = 6, .scale = 1, .is_thinned = true, .parts = 1},
                   (uint64_t[]){30, 12, 13, 14, 15}, 5);
    assert_amounts((struct trace_extent){.count = 6, .scale = 1, .is_thinned = true, .parts = 2},
                   (uint64_t[]){30, 11, 14, 15}, 4);
    assert_amounts((struct trace_extent){.count = 7, .scale = 1, .is_thinned = true, .parts = 3},
                   (uint64_t[]){30, 11, 12, 16}, 4);
}

/* The records that nobody shares yet come last, but for those that have moved. */
TEST(recent_records_count_until_they_are_taken)
{
    for (unsigned i = 0; i < ARENA_RECENT; i++)
        image.trace_recent[i] =
            (struct trace_record){.time = 110 + i, .amount = (40 + i) << 8 | TRACE_WORK};
    records[0] = (struct trace_record){.time = 100, .amount = 10 << 8 | TRACE_WORK};
    image.trace_recent_count = 3;
    assert_amounts((struct trace_extent){.count = 0}, (uint64_t[]){40, 41, 42}, 3);
    assert_amounts((struct trace_extent){.count = 1}, (uint64_t[]){10, 40, 41, 42}, 4);
    assert_amounts((struct trace_extent){.count = 1, .taken = 2}, (uint64_t[]){10, 42}, 2);
    assert_amounts((struct trace_extent){.count = 1, .taken = 3}, (uint64_t[]){10}, 1);
    image.trace_recent_count = 0; /* before `taken` becomes 0, too */
    assert_amounts((struct trace_extent){.count = 1, .taken = 3}, (uint64_t[]){10}, 1);
    image.trace_recent_count = ARENA_RECENT + 1;
    assert_false(write_trace((struct trace_extent){.count = 1}));
    image.trace_recent_count = 0;
}

TEST(the_word_keeps_all_its_numbers)
{
    const struct trace_extent most = {.count = TRACE_MAX_COUNT, .scale = TRACE_MAX_SCALE,
                                      .parts = TRACE_MAX_COUNT / 2, .taken = ARENA_RECENT, .is_thinned = true};
    const struct trace_extent back = trace_extent(trace_word(most));
    assert_int_equal(back.count, most.count);
    assert_int_equal(back.scale, most.scale);
    assert_int_equal(back.parts, most.parts);
    assert_int_equal(back.taken, most.taken);
    assert_true(back.is_thinned);
    assert_true(1u << TRACE_MAX_SCALE <= 1u << 25);
}

TEST(a_damaged_word_is_refused)
{
    begin();
    assert_false(write_trace((struct trace_extent){.count = 6, .is_thinned = true, .parts = 4}));
    assert_false(write_trace((struct trace_extent){.count = MANY + 1}));
}

TEST(ticks_without_a_rate_are_the_last_time)
{
    const struct tick_times none = {50, 800, 50, 900}, backwards = {50, 800, 20, 900};
    const struct tick_times still = {50, 800, 60, 800}, good = {50, 800, 60, 850};
    assert_int_equal(tick_time(&none, 70), 900);
    assert_int_equal(tick_time(&backwards, 70), 900);
    assert_int_equal(tick_time(&still, 70), 800);
    assert_int_equal(tick_time(&good, 49), 850);
    assert_int_equal(tick_time(&good, 56), 830);
    assert_int_equal(tick_time(&good, 70), 900);
}

/* ---- marks ---- */

static struct arena_mark marks[MAX_MARKS];

static const void *mark_at(struct thread_chunks *thread, enum arena_array array, uint32_t index)
{
    assert_int_equal(array, ARENA_MARKS);
    return &marks[index % MAX_MARKS];
}

static bool write_marks(uint32_t count, uint32_t *first)
{
    struct chunk chunk = {.at = chunk_memory};
    struct thread_chunks thread = {.image = &image, .chunk = &chunk, .item = mark_at, .commit = commit};
    const struct tick_times times = {.began_ticks = 0, .began_wall = 800, .ticks = 1000, .wall = 3800};
    image.began_wall = 1100;
    image.marks = count;
    return thread_chunks_marks(&thread, &times, first);
}

TEST(marks_come_back)
{
    enum { COUNT = 3000 };
    uint32_t first = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        marks[i] = (struct arena_mark){.ticks = 100 + i, .kind = i % 2 ? MARK_END : MARK_BEGIN};
        snprintf(marks[i].name, MARK_NAME, i % 3 ? "region %u" : "region %u whose name is so long that many fill a chunk of the file", i);
    }
    begin();
    image.lost_marks = 7;
    assert_true(write_marks(COUNT - 1, &first));
    assert_int_equal(first, COUNT - 1);
    image.lost_marks = 9;
    assert_true(write_marks(COUNT, &first)); /* only the last one */
    image.lost_marks = 10;
    assert_true(write_marks(COUNT, &first)); /* none, but more are lost */
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    const struct measurement_thread *thread = &m->threads.at[0];
    assert_int_equal(thread->marks.n, COUNT);
    assert_int_equal(thread->lost_marks, 10);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(thread->marks.at[i].time, 1100 + 3 * i);
        assert_int_equal(thread->marks.at[i].kind, i % 2 ? MARK_END : MARK_BEGIN);
        assert_string_equal(thread->marks.at[i].name, marks[i].name);
    }
}

TEST(malformed_marks_are_refused)
{
    uint32_t first = 0;
    assert_false(write_marks(MAX_MARKS + 1, &first));
    begin();
    ENCODE(2, 20); /* ten ns later */
    encode_u8(&payload, MARK_BEGIN);
    encode_string(&payload, "good");
    ENCODE(20, MARK_END, 100); /* a name that is longer than the chunk */
    end_chunk(24, 0);
    struct measurement *m = read_file();
    assert_problem(m, "kind 24, is malformed");
    assert_int_equal(m->threads.at[0].marks.n, 1);
    assert_string_equal(m->threads.at[0].marks.at[0].name, "good");
    assert_int_equal(m->threads.at[0].marks.at[0].time, 1110);
}

EACH_TEST(make_directory, remove_directory);
