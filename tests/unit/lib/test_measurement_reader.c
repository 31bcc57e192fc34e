#include "lib/measurement.h"
#include "tests/unit/lib/measurement_encoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void everything_comes_back(void **state)
{
    (void)state;
    start_file();
    put_process();
    put_events_and_metrics();
    put_module(2, "/usr/bin/xz");
    put_module(9, "/lib/unused.so");
    encode_v(&payload, 0); /* names of space 0: two, not in order of their values */
    ENCODE(2, 77);
    encode_string(&payload, "outer");
    encode_string(&payload, "a.py");
    ENCODE(12, 5);
    encode_string(&payload, "inner");
    encode_string(&payload, "b.py");
    encode_v(&payload, 3);
    end_chunk(5, PROCESS);
    encode_v(&payload, 1);
    encode_string(&payload, "minicilk");
    encode_string(&payload, "1.2");
    encode_v(&payload, 4);
    encode_string(&payload, "minicilk.rules");
    encode_string(&payload, "7");
    end_chunk(6, PROCESS);
    ENCODE(0, 1, 1500, 3, 2);
    end_chunk(7, PROCESS);
    put_thread(0);
    encode_v(&payload, 1); /* four nodes from id 1 */
    encode_v(&payload, 5);
    put_plain_node(1, 2, 0x1000);
    encode_v(&payload, 1); /* M-1, no ip, an lip with an unknown site in module instance 2 */
    encode_u8(&payload, 3 | 8 | 32);
    ENCODE(4, 0x2000, 0);
    encode_v(&payload, 2); /* 1-0: an ip and no l-note */
    encode_u8(&payload, 1 | 16);
    ENCODE(0, 0x7fff12345678);
    encode_v(&payload, 4); /* below the root: an lip of the name table, at line 40 */
    encode_u8(&payload, 4 | 32);
    ENCODE(1, 77, 41);
    encode_v(&payload, 5); /* partial path */
    encode_u8(&payload, 16 | 64);
    ENCODE(1, 1);
    end_chunk(18, 0);
    ENCODE(1, 2);
    encode_u8(&payload, 0x12);
    end_chunk(19, 0);
    encode_v(&payload, 2);
    encode_v(&payload, 0); /* the root */
    ENCODE(1, 0, 40);
    encode_v(&payload, 3); /* node 3 */
    ENCODE(2, 1, 7, 0, 60);
    end_chunk(20, 0);
    ENCODE(0, 3, 2, 1, 2, 100, 0, 3, 150);
    end_chunk(21, 0);
    ENCODE(2100, 910, 1);
    end_chunk(17, 0);
    ENCODE(3000, 1200, 4, 15);
    end_chunk(8, PROCESS);

    struct measurement *m = read_file();
    assert_true(m->complete);
    assert_int_equal(m->problems.n, 0);
    assert_string_equal(m->name, "host-71-555-2.hpcrun");
    const struct measurement_process *p = &m->process;
    assert_true(p->known);
    assert_string_equal(p->host, "host");
    assert_int_equal(p->host_id, 0x1234);
    assert_int_equal(p->pid, 71);
    assert_int_equal(p->parent_pid, 70);
    assert_int_equal(p->start_time, 555);
    assert_int_equal(p->exec_sequence, 2);
    assert_true(p->rank == -1);
    assert_int_equal(p->origin, ORIGIN_EXEC);
    assert_string_equal(p->executable, "/usr/bin/xz");
    assert_string_equal(p->directory, "/tmp");
    assert_int_equal(p->arguments.n, 2);
    assert_string_equal(p->arguments.at[1], "-9");
    assert_int_equal(p->realtime, 1700000000);
    assert_int_equal(p->monotonic, 1000);
    assert_int_equal(p->cpu, 200);
    assert_int_equal(p->cpus, 8);
    assert_string_equal(p->hpcrun_version, "0.1");
    assert_int_equal(m->clock.monotonic, 3000);
    assert_int_equal(m->clock.cpu, 1200);
    assert_int_equal(m->clock.state, PROCESS_SIGNAL);
    assert_int_equal(m->clock.detail, 15);

    assert_int_equal(m->events.n, 1);
    assert_string_equal(m->events.at[0].name, "CPUTIME");
    assert_string_equal(m->events.at[0].unit, "ns");
    assert_int_equal(m->events.at[0].shift, 10);
    assert_int_equal(m->events.at[0].period, 5000000);
    assert_int_equal(m->events.at[0].flags, EVENT_TIME | EVENT_BY_DEFAULT);
    assert_string_equal(m->events.at[0].why_other_source, "perf_event_open is refused");
    assert_int_equal(m->metrics.n, 2);
    assert_string_equal(m->metrics.at[1].name, "idleness");
    assert_int_equal(m->metrics.at[1].event, 0);

    assert_int_equal(m->modules.n, 2);
    const struct measurement_module *module = &m->modules.at[0];
    assert_int_equal(module->id, 2);
    assert_int_equal(module->begin, 0x400000);
    assert_int_equal(module->end, 0x500000);
    assert_int_equal(module->bias, 0x300000);
    assert_int_equal(module->flags, MODULE_MAIN);
    assert_int_equal(module->generation, 3);
    assert_string_equal(module->path, "/usr/bin/xz");
    assert_int_equal(module->build_id_size, 3);
    assert_memory_equal(module->build_id, "\xab\x00\xcd", 3);
    assert_int_equal(module->header_hash, 0xfeedface);
    assert_int_equal(module->file_size, 12345);
    assert_int_equal(module->modified, 999);
    assert_true(module->used);
    assert_false(m->modules.at[1].used);

    assert_int_equal(m->agents.n, 1);
    assert_string_equal(m->agents.at[0].name, "minicilk");
    assert_string_equal(m->agents.at[0].version, "1.2");
    assert_int_equal(m->agents.at[0].interface_version, 4);
    assert_string_equal(m->agents.at[0].rules, "minicilk.rules");
    assert_string_equal(m->agents.at[0].rules_version, "7");
    assert_int_equal(m->workers.n, 1);
    assert_int_equal(m->workers.at[0].monotonic, 1500);
    assert_int_equal(m->workers.at[0].workers, 3);
    assert_int_equal(m->workers.at[0].n, 2);

    assert_int_equal(m->threads.n, 1);
    const struct measurement_thread *t = &m->threads.at[0];
    assert_true(t->known);
    assert_int_equal(t->tid, 71);
    assert_int_equal(t->kind, THREAD_INITIAL);
    assert_string_equal(t->name, "worker");
    assert_int_equal(t->first_monotonic, 1100);
    assert_int_equal(t->first_cpu, 10);
    assert_int_equal(t->last_monotonic, 2100);
    assert_int_equal(t->last_cpu, 910);
    assert_true(t->ended);

    /* Nodes: the root, the lost node, then ids 1 to 5 at 2 to 6. */
    assert_int_equal(t->nodes.n, 7);
    const struct measurement_node *n = t->nodes.at;
    assert_int_equal(n[2].parent, MEASUREMENT_ROOT);
    assert_int_equal(n[2].ip_space, 0);
    assert_int_equal(n[2].ip_offset, 0x1000);
    assert_int_equal(n[2].lip_space, 0);
    assert_int_equal(n[2].lip_value, 0x1000);
    assert_true(n[2].has_site);
    assert_int_equal(n[2].site, 0x1000);
    assert_true(n[2].first_of_bichord);
    assert_int_equal(n[2].associations, 1 << ASSOC_1_1);
    assert_int_equal(n[3].parent, 2);
    assert_int_equal(n[3].ip_space, MEASUREMENT_NO_NOTE);
    assert_int_equal(n[3].lip_space, 0);
    assert_int_equal(n[3].lip_value, 0x2000);
    assert_false(n[3].has_site);
    assert_int_equal(n[3].association, ASSOC_M_1);
    assert_int_equal(n[3].associations, 1 << ASSOC_M_1 | 0x12);
    assert_int_equal(n[4].parent, 2);
    assert_int_equal(n[4].ip_space, MEASUREMENT_NO_MODULE);
    assert_int_equal(n[4].ip_offset, 0x7fff12345678);
    assert_int_equal(n[4].lip_space, MEASUREMENT_NO_NOTE);
    assert_false(n[4].first_of_bichord);
    assert_int_equal(n[5].parent, MEASUREMENT_ROOT);
    assert_int_equal(n[5].lip_space, MEASUREMENT_NAMES);
    assert_true(n[5].has_site);
    assert_int_equal(n[5].site, 40);
    const struct measurement_name *name = measurement_name(m, n[5].lip_space, n[5].lip_value);
    assert_string_equal(name->procedure, "outer");
    assert_string_equal(name->file, "a.py");
    assert_int_equal(name->line, 12);
    assert_null(measurement_name(m, MEASUREMENT_NAMES, 6));
    assert_null(measurement_name(m, MEASUREMENT_NAMES + 1, 5));
    assert_null(measurement_name(m, 0, 5));
    assert_int_equal(n[6].ip_space, MEASUREMENT_PLACEHOLDER);
    assert_int_equal(n[6].ip_offset, PLACEHOLDER_PARTIAL);
    assert_int_equal(n[6].lip_space, MEASUREMENT_PLACEHOLDER);

    assert_int_equal(t->values.n, 3);
    const struct measurement_value expected[] = {{0, 0, 40}, {4, 0, 60}, {4, 1, 7}};
    assert_memory_equal(t->values.at, expected, sizeof expected);
    assert_int_equal(t->fates.n, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct measurement_fate *fate = &t->fates.at[i];
        assert_int_equal(fate->event, 0);
        assert_int_equal(fate->source, SOURCE_CPU_TIMER);
        assert_int_equal(fate->code, i == 0 ? FATE_FIRED : FATE_RECORDED);
        assert_int_equal(fate->count, i == 0 ? 3 : 2);
        assert_int_equal(fate->amount, i == 0 ? 150 : 100);
    }
    measurement_free(m);
}

static void increments_add_up(void **state)
{
    (void)state;
    start_file();
    put_process();
    put_events_and_metrics();
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
    measurement_free(m);
}

static void chunks_may_come_before_what_they_refer_to(void **state)
{
    (void)state;
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
    measurement_free(m);
}

static void swapped_sequence_numbers_are_fine_and_missing_ones_are_not(void **state)
{
    (void)state;
    start_file();
    put_process();
    put_events_and_metrics(); /* up to number 2 */
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 4);
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 3);
    struct measurement *m = read_file();
    assert_int_equal(m->problems.n, 0);
    measurement_free(m);
    ENCODE(0, 0, 1, 0); /* the process's end */
    end_chunk_numbered(8, PROCESS, 7);
    m = read_file();
    assert_false(m->complete);
    assert_int_equal(m->problems.n, 1);
    assert_problem(m, "2 of 8 chunks are missing");
    measurement_free(m);
}

static void numbers_that_a_killed_process_never_used_are_no_loss(void **state)
{
    (void)state;
    start_file();
    put_process();
    put_events_and_metrics(); /* up to number 2 */
    size_t damaged = file.n;
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 3);
    encode_v(&payload, 0);
    end_chunk_numbered(4, PROCESS, 5);
    struct measurement *m = read_file();
    assert_true(m->complete);
    assert_int_equal(m->problems.n, 0);
    measurement_free(m);
    file.at[damaged] ^= 1;
    m = read_file();
    assert_false(m->complete);
    assert_problem(m, "are damaged");
    assert_problem(m, "2 of 6 chunks are missing");
    measurement_free(m);
}

static void a_repeated_chunk_counts_once(void **state)
{
    (void)state;
    start_file();
    put_process();
    put_events_and_metrics();
    put_module(2, "/usr/bin/xz");
    put_thread(0);
    put_chain(0, 2);
    put_value(0, 2, 0, 5);
    ENCODE(1, 2, 1, 0, 5);
    end_chunk_numbered(20, 0, 6);
    struct measurement *m = read_file();
    assert_problem(m, "repeats number");
    assert_int_equal(sum_of(m), 5);
    measurement_free(m);
}

/* A chunk of which only `left` bytes are there, between others, the last of which is of `thread`.
 */
static struct measurement *read_torn(size_t left, uint32_t thread)
{
    start_file();
    put_process();
    put_events_and_metrics();
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

static void a_chunk_that_is_written_again_is_not_lost(void **state)
{
    (void)state;
    for (size_t left = 1; left < 30; left++) {
        struct measurement *m = read_torn(left, 0);
        assert_int_equal(m->problems.n, 0);
        assert_true(m->complete);
        assert_int_equal(sum_of(m), 5);
        measurement_free(m);
        m = read_torn(left, 1);
        assert_int_equal(m->problems.n, left >= 16);
        assert_int_equal(m->complete, left < 16);
        if (left >= 16)
            assert_problem(m, "bytes at");
        measurement_free(m);
    }
}

static void unknown_kinds_and_trailing_fields_are_skipped(void **state)
{
    (void)state;
    start_file();
    put_process();
    encode_string(&payload, "from the future");
    end_chunk(15, PROCESS);
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
    measurement_free(m);
}

static void put_code(const uint64_t *addresses, unsigned count)
{
    start_file();
    put_process();
    put_events_and_metrics();
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

static void the_last_name_of_code_counts(void **state)
{
    (void)state;
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
    measurement_free(m);
}

static void what_depends_on_lost_nodes_becomes_a_partial_path(void **state)
{
    (void)state;
    start_file();
    put_process();
    put_events_and_metrics();
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
    measurement_free(m);
}

static void a_malformed_node_ends_its_chunk(void **state)
{
    (void)state;
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
        measurement_free(m);
    }
}

static void lost_records_are_told(void **state)
{
    (void)state;
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
    measurement_free(m);
}

static void creation_contexts_are_resolved(void **state)
{
    (void)state;
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
    measurement_free(m);
}

static void files_that_hold_nothing_are_refused(void **state)
{
    (void)state;
    start_file();
    assert_no_file("nothing in it is intact");
    file.n = 0;
    assert_no_file("empty");
    start_file();
    file.n = 10;
    assert_no_file("too short");
    start_file();
    put_process();
    file.at[8] = 2;
    assert_no_file("version 2");
    memset(file.at, 'x', 300);
    file.n = 300;
    assert_no_file("not a measurement file");
    char *cause = NULL;
    assert_null(measurement_open(directory, &cause));
    assert_string_equal(cause, "not a regular file");
    free(cause);
    assert_null(measurement_open("/nonexistent/file", &cause));
    assert_string_equal(cause, "No such file or directory");
    free(cause);
}

static void files_are_listed_in_order(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(everything_comes_back),
        IN_DIRECTORY(increments_add_up),
        IN_DIRECTORY(chunks_may_come_before_what_they_refer_to),
        IN_DIRECTORY(swapped_sequence_numbers_are_fine_and_missing_ones_are_not),
        IN_DIRECTORY(numbers_that_a_killed_process_never_used_are_no_loss),
        IN_DIRECTORY(a_repeated_chunk_counts_once),
        IN_DIRECTORY(a_chunk_that_is_written_again_is_not_lost),
        IN_DIRECTORY(the_last_name_of_code_counts),
        IN_DIRECTORY(unknown_kinds_and_trailing_fields_are_skipped),
        IN_DIRECTORY(what_depends_on_lost_nodes_becomes_a_partial_path),
        IN_DIRECTORY(a_malformed_node_ends_its_chunk),
        IN_DIRECTORY(lost_records_are_told),
        IN_DIRECTORY(creation_contexts_are_resolved),
        IN_DIRECTORY(files_that_hold_nothing_are_refused),
        IN_DIRECTORY(files_are_listed_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
