#include "lib/measurement.h"
#include "tests/unit/lib/measurement_encoder.h"

#include <unistd.h>

TEST(everything_comes_back)
{
    start_process_file();
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

/* Since version 2.3 clocks are followed by the time without a CPU + 1, and by the quota. */
TEST(time_without_a_cpu_is_read_where_there_is_one)
{
    start_file();
    put_process();
    ENCODE(2100, 910, 1);
    end_chunk(17, 0);
    ENCODE(2100, 910, 1, 0);
    end_chunk(17, 1);
    ENCODE(2100, 910, 1, 1);
    end_chunk(17, 2);
    ENCODE(2100, 910, 1, 801, 9);
    end_chunk(17, 3);
    ENCODE(3000, 1200, 1, 0, 1500, 71);
    end_chunk(8, PROCESS);
    for (uint32_t i = 0; i < 4; i++)
        put_thread(i);
    struct measurement *m = read_file();
    static const uint64_t ready[] = {0, 0, 0, 800};
    assert_int_equal(m->threads.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(m->threads.at[i].has_ready, i >= 2);
        assert_int_equal(m->threads.at[i].ready, ready[i]);
        assert_int_equal(m->threads.at[i].timeslices, i == 3 ? 9 : 0);
    }
    assert_int_equal(m->clock.quota, 1500);
    assert_true(m->clock.has_throttled);
    assert_int_equal(m->clock.throttled, 70);
    start_file();
    put_process();
    ENCODE(3000, 1200, 1, 0);
    end_chunk(8, PROCESS);
    m = read_file();
    assert_int_equal(m->clock.quota, 0);
    assert_false(m->clock.has_throttled);
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

TEST(the_last_state_of_a_metric_counts)
{
    start_process_file();
    ENCODE(2, 0, RECORDED_NOTHING);
    encode_string(&payload, "too early");
    ENCODE(1, RECORDED_LOWER_BOUND);
    encode_string(&payload, "no order");
    end_chunk(12, PROCESS); /* of a version without errors */
    ENCODE(1, 0, RECORDED_EXACT);
    encode_string(&payload, "");
    ENCODE(77);
    end_chunk(12, PROCESS);
    struct measurement *m = read_file();
    assert_true(m->complete);
    assert_int_equal(measurement_metric_state(m, 0)->state, RECORDED_EXACT);
    assert_string_equal(measurement_metric_state(m, 0)->why, "");
    assert_int_equal(measurement_metric_state(m, 0)->error, 77);
    assert_int_equal(measurement_metric_state(m, 1)->error, 0);
    assert_int_equal(measurement_metric_state(m, 1)->state, RECORDED_LOWER_BOUND);
    assert_string_equal(measurement_metric_state(m, 1)->why, "no order");
}

TEST(a_file_may_say_nothing_of_states)
{
    start_process_file();
    struct measurement *m = read_file();
    assert_null(measurement_metric_state(m, 0));
}

EACH_TEST(make_directory, remove_directory);
