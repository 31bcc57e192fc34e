/* What is missing, doubled or malformed among intact chunks: which losses are told, and which are none.
 * Damaged bytes are in test_measurement_damage.c. */
#include "tests/unit/lib/measurement_encoder.h"

TEST(swapped_sequence_numbers_are_fine_and_missing_ones_are_not)
{
    start_process_file(); /* up to number 2 */
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 4);
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 3);
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    ENCODE(0, 0, 1, 0); /* the process's end */
    end_chunk_numbered(8, PROCESS, 7);
    m = read_file();
    assert_false(m->complete);
    assert_int_equal(m->problems.n, 1);
    assert_problem(m, "2 of 8 chunks are missing");
}

TEST(numbers_that_a_killed_process_never_used_are_no_loss)
{
    start_process_file(); /* up to number 2 */
    size_t damaged = file.n;
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 3);
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 5);
    struct measurement *m = read_file();
    assert_true(m->complete);
    assert_int_equal(m->problems.n, 0);
    file.at[damaged] ^= 1;
    m = read_file();
    assert_false(m->complete);
    assert_problem(m, "are damaged");
    assert_problem(m, "2 of 6 chunks are missing");
}

TEST(a_repeated_chunk_counts_once)
{
    start_process_file();
    put_module(2, "/usr/bin/xz");
    put_thread(0);
    put_chain(0, 2);
    put_value(0, 2, 0, 5);
    ENCODE(1, 2, 1, 0, 5);
    end_chunk_numbered(20, 0, 6);
    struct measurement *m = read_file();
    assert_problem(m, "repeats number");
    assert_int_equal(sum_of(m), 5);
}

/* A chunk of which only `left` bytes are there, between others, the last of which is of `thread`.
 */
static struct measurement *read_torn(size_t left, uint32_t thread)
{
    start_process_file();
    put_module(2, "/usr/bin/xz");
    put_thread(0);
    put_thread(1);
    put_chain(0, 2);
    put_chain(1, 2); /* up to number 7 */
    size_t torn = file.n;
    ENCODE(2, 2, 1, 0, 500, 1, 1, 1, 500);
    end_chunk_numbered(20, 0, 8);
    assert_true(torn + left < file.n);
    file.n = torn + left;
    ENCODE(0, 0);
    end_chunk_numbered(4, PROCESS, 8);
    ENCODE(1, 2, 1, 0, 5);
    end_chunk_numbered(20, thread, 9);
    return read_file();
}

TEST(a_chunk_that_is_written_again_is_not_lost)
{
    for (size_t left = 1; left < 30; left++) {
        struct measurement *m = read_torn(left, 0);
        assert_int_equal(m->problems.n, 0);
        assert_true(m->complete);
        assert_int_equal(sum_of(m), 5);
        m = read_torn(left, 1);
        assert_int_equal(m->problems.n, left >= 16);
        assert_int_equal(m->complete, left < 16);
        if (left >= 16)
            assert_problem(m, "bytes at");
    }
}

TEST(what_depends_on_lost_nodes_becomes_a_partial_path)
{
    start_process_file();
    put_module(2, "/usr/bin/xz");
    put_thread(0);
    put_chain(0, 2);
    encode_v(&payload, 6); /* 3, 4, 5 are lost */
    encode_v(&payload, 2);
    put_plain_node(1, 2, 0x600);
    put_plain_node(5, 2, 0x700);
    end_chunk(18, 0);
    put_value(0, 3, 0, 15);
    put_value(0, 4, 0, 11);
    put_value(0, 6, 0, 12);
    put_value(0, 7, 0, 13);
    put_value(0, 800, 0, 14);
    put_value(0, 7, 5, 100); /* a metric that is lost */
    struct measurement *m = read_file();
    const struct measurement_thread *t = &m->threads.at[0];
    assert_int_equal(t->nodes.n, 6);
    assert_int_equal(t->nodes.at[4].parent, MEASUREMENT_LOST_NODE);
    assert_int_equal(t->nodes.at[5].parent, 3);
    const struct measurement_value expected[] = {{1, 0, 40}, {4, 0, 12}, {5, 0, 13}};
    assert_int_equal(t->values.n, 3);
    assert_memory_equal(t->values.at, expected, sizeof expected);
    assert_problem(m, "thread 0: 3 values of lost nodes");
    assert_problem(m, "thread 0: 1 values of lost metrics");
}

TEST(a_malformed_node_ends_its_chunk)
{
    static const struct {
        uint64_t distance;
        unsigned tag;
    } malformed[] = {
        {0, 0x58},     /* its own parent */
        {4, 0x58},     /* a parent before the root */
        {1, 0x58 | 5}, /* no such association */
        {1, 0x48},     /* its lip is an ip that it does not have */
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        start_file();
        put_process();
        put_events_and_metrics();
        put_module(2, "/usr/bin/xz");
        put_thread(0);
        ENCODE(1, 4);
        put_plain_node(1, 2, 0x100);
        put_plain_node(1, 2, 0x200);
        ENCODE(malformed[i].distance);
        encode_u8(&payload, malformed[i].tag);
        ENCODE(2, 0x300);
        put_plain_node(1, 2, 0x400);
        end_chunk(18, 0);
        put_value(0, 2, 0, 5);
        struct measurement *m = read_file();
        assert_false(m->complete);
        assert_problem(m, "of kind 18, is malformed");
        assert_int_equal(m->threads.at[0].nodes.n, 2 + 2);
        assert_int_equal(m->threads.at[0].values.at[0].node, 3);
    }
}

TEST(lost_records_are_told)
{
    start_file();
    put_chain(4, 1);
    struct measurement *m = read_file();
    assert_false(m->process.known);
    assert_int_equal(m->process.pid, 71);
    assert_int_equal(m->process.start_time, 555);
    assert_int_equal(m->process.exec_sequence, 2);
    assert_problem(m, "record of the process is lost");
    assert_problem(m, "record of thread 4 is lost");
    assert_problem(m, "record of module instance 2 is lost");
    assert_int_equal(m->threads.at[0].nodes.at[2].ip_space, MEASUREMENT_LOST_RECORD);
}

EACH_TEST(make_directory, remove_directory);
