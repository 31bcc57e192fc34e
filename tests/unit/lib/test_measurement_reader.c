#include "lib/measurement.h"
#include "tests/unit/lib/measurement_encoder.h"

#include <unistd.h>

/* Two chunks say with which l-notes a node's frame was seen. */
TEST(associations_of_a_node_are_collected)
{
    start_process_file();
    put_module(2, "/usr/bin/xz");
    put_thread(0);
    ENCODE(1, 1, 1); /* a node: M-1, no ip, an lip with an unknown site in module instance 2 */
    encode_u8(&payload, 3 | 8 | 32);
    ENCODE(4, 0x2000, 0);
    end_chunk(18, 0);
    ENCODE(1, 1);
    encode_u8(&payload, 0x12);
    end_chunk(19, 0);
    const struct measurement_node *node = &read_file()->threads.at[0].nodes.at[2];
    assert_int_equal(node->association, ASSOC_M_1);
    assert_int_equal(node->associations, 1 << ASSOC_M_1 | 0x12);
    assert_false(node->has_site);
}

TEST(increments_add_up)
{
    start_process_file();
    put_module(2, "/usr/bin/xz");
    put_thread(0);
    put_chain(0, 10);
    for (unsigned round = 1; round <= 30; round++) {
        put_value(0, 10 - round % 7, 0, round);
        put_value(0, 4, round % 2, 1000 * round);
        encode_v(&payload, 0);
        encode_v(&payload, 1 + round % 2); /* two sources */
        encode_v(&payload, 1);
        encode_v(&payload, 1);
        encode_v(&payload, round);
        encode_v(&payload, 10 * round);
        end_chunk(21, 0);
    }
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    uint64_t expected[10 + 1][2] = {0}, count[2] = {0};
    for (unsigned round = 1; round <= 30; round++) {
        expected[10 - round % 7][0] += round;
        expected[4][round % 2] += 1000 * round;
        count[round % 2] += round;
    }
    const struct measurement_thread *t = &m->threads.at[0];
    size_t at = 0;
    for (unsigned node = 0; node <= 10; node++)
        for (unsigned metric = 0; metric < 2; metric++)
            if (expected[node][metric]) {
                assert_int_equal(t->values.at[at].node, node + 1); /* id 1 is at index 2 */
                assert_int_equal(t->values.at[at].metric, metric);
                assert_int_equal(t->values.at[at].amount, expected[node][metric]);
                at++;
            }
    assert_int_equal(t->values.n, at);
    assert_int_equal(t->fates.n, 2);
    for (unsigned source = 1; source <= 2; source++) {
        assert_int_equal(t->fates.at[source - 1].source, source);
        assert_int_equal(t->fates.at[source - 1].count, count[source - 1]);
        assert_int_equal(t->fates.at[source - 1].amount, 10 * count[source - 1]);
    }
}

TEST(chunks_may_come_before_what_they_refer_to)
{
    start_file();
    put_thread(3);
    put_chain(3, 2);
    put_value(3, 2, 1, 5);
    put_thread(1);
    put_module(2, "/usr/bin/xz");
    ENCODE(0, 2);
    encode_string(&payload, "work");
    ENCODE(6, 1);
    encode_string(&payload, "idleness");
    ENCODE(6, 1);
    end_chunk(3, PROCESS);
    ENCODE(6, 1);
    put_event("REALTIME");
    end_chunk(2, PROCESS);
    put_process();
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    assert_true(m->complete);
    assert_int_equal(m->threads.n, 2);
    assert_int_equal(m->threads.at[0].index, 1);
    assert_int_equal(m->threads.at[1].index, 3);
    assert_int_equal(m->threads.at[1].nodes.at[3].ip_space, 0);
    assert_int_equal(m->threads.at[1].values.at[0].metric, 1);
    assert_int_equal(m->metrics.at[1].event, 0);
}

TEST(unknown_kinds_and_trailing_fields_are_skipped)
{
    start_file();
    put_process();
    encode_string(&payload, "from the future");
    end_chunk(30, PROCESS);
    encode_string(&payload, "a dag of --record-dag, an option of earlier versions");
    end_chunk(CHUNK_OLD_DAG, PROCESS);
    encode_string(&payload, "from the future");
    end_chunk(900, 17);
    ENCODE(2100, 910, 1);
    encode_string(&payload, "a field of version 1.1");
    end_chunk(17, 0);
    put_thread(0);
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    assert_int_equal(m->threads.n, 1);
    assert_int_equal(m->threads.at[0].last_cpu, 910);
}

static void put_code(const uint64_t *addresses, unsigned count)
{
    start_process_file();
    put_thread(0);
    ENCODE(1, count);
    for (unsigned i = 0; i < count; i++)
        put_plain_node(i + 1, 0, addresses[i]);
    end_chunk(18, 0);
}

static const char *name_at(const struct measurement *m, uint64_t address)
{
    const struct measurement_code_name *name = measurement_code_name(m, address);
    return name ? name->name : "";
}

TEST(the_last_name_of_code_counts)
{
    const uint64_t addresses[] = {0x1000, 0x10ff, 0x1100, 0x1fff, 0x2000, 0xfff, UINT64_MAX / 4};
    put_code(addresses, 7);
    encode_string(&payload,
                  "1000 1000 old\n0x1000 0x100 first of two\nno line\n1000 \n2000 0 empty\n"
                  "ffffffffffffffff 2 beyond\n12345678901234567 1 long\n");
    end_chunk(9, PROCESS);
    encode_string(&payload, "1FFF 1 second chunk\n1100 1 last\n1100 1\n");
    end_chunk(9, PROCESS);
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    assert_string_equal(name_at(m, 0x1000), "first of two");
    assert_string_equal(name_at(m, 0x10ff), "first of two");
    assert_string_equal(name_at(m, 0x1100), "last");
    assert_string_equal(name_at(m, 0x1fff), "second chunk");
    assert_string_equal(name_at(m, 0x2000), "");
    assert_string_equal(name_at(m, 0xfff), "");
    assert_string_equal(name_at(m, 0x1500), ""); /* no node is there */
}

TEST(creation_contexts_are_resolved)
{
    start_file();
    put_process();
    put_module(2, "/usr/bin/xz");
    put_thread(1); /* created by thread 0 at its node 2, which come later */
    put_thread(0);
    put_chain(0, 3);
    struct measurement *m = read_file();
    assert_int_equal(m->threads.at[1].creator, 1);
    assert_int_equal(m->threads.at[1].creation_context, 3);
    assert_int_equal(m->threads.at[0].creation_context, MEASUREMENT_ROOT);
}

TEST(files_that_hold_nothing_are_refused)
{
    start_file();
    assert_no_file("nothing in it is intact");
    file.n = 0;
    assert_no_file("empty");
    start_file();
    file.n = 10;
    assert_no_file("too short");
    start_file();
    put_process();
    file.at[8] = 3;
    assert_no_file("version 3");
    file.at[8] = 0;
    assert_no_file("version 0");
    file.at[8] = 2;
    file.at[10] = 1; /* metrics had other names */
    assert_no_file("version 2.1, this program reads versions 2 from 2.2 on");
    memset(file.at, 'x', 300);
    file.n = 300;
    assert_no_file("not a measurement file");
    char *cause = NULL;
    assert_null(measurement_open(directory, &cause));
    assert_string_equal(cause, "Is a directory");
    free(cause);
    assert_null(measurement_open("/nonexistent/file", &cause));
    assert_string_equal(cause, "No such file or directory");
    free(cause);
}

TEST(files_are_listed_in_order)
{
    const char *const names[] = {"b-h-2-1-0.hpcrun", "a-h-9-1-0.hpcrun", "hpcrun.log", ".hpcrun",
                                 "b-h-10-1-0.hpcrun"};
    char name[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/%s", directory, names[i]);
        FILE *stream = fopen(name, "w");
        assert_non_null(stream);
        fclose(stream);
    }
    struct measurement_files files = {0};
    char *cause = NULL;
    assert_true(measurement_list(directory, &files, &cause));
    assert_int_equal(files.paths.n, 3);
    assert_non_null(strstr(files.paths.at[0], "/a-h-9-1-0.hpcrun"));
    assert_non_null(strstr(files.paths.at[1], "/b-h-10-1-0.hpcrun"));
    assert_non_null(strstr(files.paths.at[2], "/b-h-2-1-0.hpcrun"));
    measurement_files_free(&files);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/%s", directory, names[i]);
        unlink(name);
    }
    snprintf(name, sizeof name, "%s/nonexistent", directory);
    assert_false(measurement_list(name, &files, &cause));
    assert_string_equal(cause, "No such file or directory");
    free(cause);
}

EACH_TEST(make_directory, remove_directory);
