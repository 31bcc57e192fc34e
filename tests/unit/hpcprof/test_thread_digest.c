/* What the ranks of hpcprof-mpi send each other of a measurement's trees: the few nodes and values that the steps
 * before attribution look at. test_sent_fields is about the rest. */
#include "tests/unit/cmocka_suite.h"

#include "hpcprof/team/thread-digest.h"

static struct measurement_metric metrics[] = {{.name = "work"}, {.name = "lock wait"}};
static struct measurement_event event = {.unit = "ns", .shift = 12};
static struct measurement_module modules[2];
static struct measurement_agent agent;

/* A process with one thread, and room for two. */
struct made {
    struct measurement m;
    struct measurement_thread threads[2];
    struct measurement_node nodes[32];
    struct measurement_value values[16];
};

static struct made *make(bool has_agent)
{
    static struct made made;
    memset(&made, 0, sizeof made);
    made.m.events.at = &event;
    made.m.metrics.at = metrics;
    made.m.modules.at = modules;
    made.m.agents.at = &agent;
    made.m.threads.at = made.threads;
    made.m.events.n = made.m.threads.n = 1;
    made.m.metrics.n = made.m.modules.n = 2;
    made.m.agents.n = has_agent;
    made.threads[0].nodes.at = made.nodes;
    made.threads[0].values.at = made.values;
    made.threads[0].nodes.n = 2;
    return &made;
}

static uint32_t add_node(struct made *made, uint32_t parent, uint32_t space, uint64_t offset,
                         enum association association)
{
    uint32_t index = (uint32_t)made->threads[0].nodes.n++;
    made->nodes[index] = (struct measurement_node){.parent = parent,
                                                   .ip_space = space,
                                                   .ip_offset = offset,
                                                   .association = association,
                                                   .lip_space = MEASUREMENT_NO_NOTE};
    return index;
}

/* Gives a node the l-note of a body that has no frame. */
static void add_body(struct made *made, uint32_t node, uint64_t address)
{
    made->nodes[node].lip_space = 0;
    made->nodes[node].lip_value = address;
}

static void add_value(struct made *made, uint32_t node, uint32_t metric, uint64_t amount)
{
    made->values[made->threads[0].values.n++] = (struct measurement_value){node, metric, amount};
}

/* The paths of creations and joins are whole; their siblings are not sent. */
TEST(paths_of_creations_are_kept)
{
    struct made *made = make(false);
    struct thread_digest digest = {0};
    uint32_t main = add_node(made, MEASUREMENT_ROOT, 0, 1, ASSOC_1_1);
    add_node(made, main, 0, 2, ASSOC_1_1);
    uint32_t creation = add_node(made, main, 0, 3, ASSOC_1_1);
    add_node(made, creation, 0, 4, ASSOC_1_1);
    uint32_t join = add_node(made, MEASUREMENT_ROOT, 0, 5, ASSOC_1_1);
    made->m.threads.n = 2;
    made->threads[1] = (struct measurement_thread){.index = 1,
                                                   .creator = 1,
                                                   .creation_context = creation,
                                                   .join = {.known = true, .node = join}};
    thread_digest_make(&digest, &made->m, 0);
    assert_int_equal(digest.nodes.n, 2 + 3);
    assert_int_equal(digest.nodes.at[2].ip_offset, 1);
    assert_int_equal(digest.nodes.at[3].ip_offset, 3);
    assert_int_equal(digest.nodes.at[3].parent, 2);
    assert_int_equal(digest.new_index[creation], 3);
    assert_int_equal(digest.new_index[join], 4);
    thread_digest_free(&digest);
}

/* One value of each metric; each lock with an amount that is not 0 in the fixed point of the
 * database, once. */
TEST(metrics_and_locks_are_kept)
{
    struct made *made = make(false);
    struct thread_digest digest = {0};
    uint32_t tiny = add_node(made, MEASUREMENT_ROOT, 1, 100, ASSOC_1_1);
    uint32_t lock = add_node(made, MEASUREMENT_ROOT, 1, 200, ASSOC_1_1);
    uint32_t again = add_node(made, lock, 1, 200, ASSOC_1_1);
    uint32_t heap = add_node(made, MEASUREMENT_ROOT, MEASUREMENT_PLACEHOLDER, 3, ASSOC_1_1);
    add_value(made, tiny, 0, 7);
    add_value(made, tiny, 1, 3); /* less than 2^(12 - 10) */
    add_value(made, lock, 0, 8);
    add_value(made, lock, 1, 40);
    add_value(made, again, 1, 50);
    add_value(made, heap, 1, 60);
    thread_digest_make(&digest, &made->m, 0);
    assert_int_equal(digest.values.n, 3);
    assert_int_equal(digest.values.at[0].metric, 0);
    assert_int_equal(digest.values.at[0].node, MEASUREMENT_LOST_NODE);
    assert_int_equal(digest.values.at[1].metric, 1);
    assert_int_equal(digest.values.at[2].amount, 40);
    assert_int_equal(digest.nodes.at[digest.values.at[2].node].ip_offset, 200);
    assert_int_equal(digest.nodes.n, 2 + 1);
    thread_digest_free(&digest);
}

/* What code that an agent inserted something for calls: each pair once, also across nodes without
 * ip; only where there is an agent. */
TEST(calls_of_constructs_are_kept)
{
    for (int has_agent = 0; has_agent < 2; has_agent++) {
        struct made *made = make(has_agent);
        struct thread_digest digest = {0};
        for (int i = 0; i < 2; i++) {
            uint32_t construct = add_node(made, MEASUREMENT_ROOT, 0, 10, ASSOC_1_M);
            uint32_t logical = add_node(made, construct, MEASUREMENT_NO_NOTE, 0, ASSOC_1_M);
            uint32_t body = add_node(made, logical, 0, 20, ASSOC_1_1);
            add_node(made, body, 0, 30, ASSOC_1_1);
        }
        thread_digest_make(&digest, &made->m, 0);
        assert_int_equal(digest.nodes.n, 2 + (has_agent ? 2 : 0));
        if (has_agent) {
            assert_int_equal(digest.nodes.at[2].ip_offset, 10);
            assert_int_equal(digest.nodes.at[2].association, ASSOC_1_M);
            assert_int_equal(digest.nodes.at[3].ip_offset, 20);
            assert_int_equal(digest.nodes.at[3].parent, 2);
        }
        thread_digest_free(&digest);
    }
}

/* A body that has no frame is between the two, or the caller's own l-note. A function that two bodies
 * have jumped to is kept for both. */
TEST(bodies_without_frames_are_kept)
{
    struct made *made = make(true);
    struct thread_digest digest = {0};
    for (uint64_t address = 100; address <= 500; address += 200) {
        uint32_t construct = add_node(made, MEASUREMENT_ROOT, 0, 10, ASSOC_1_M);
        uint32_t outer = add_node(made, construct, MEASUREMENT_NO_NOTE, 0, ASSOC_1_M);
        uint32_t inner = add_node(made, outer, MEASUREMENT_NO_NOTE, 0, ASSOC_1_M);
        uint32_t own = add_node(made, MEASUREMENT_ROOT, 0, 11, ASSOC_1_1);
        add_body(made, outer, address + 7);
        add_body(made, inner, address % 400); /* the third is the first again */
        add_body(made, own, address % 400);
        add_node(made, inner, 0, 20, ASSOC_1_1);
        add_node(made, own, 0, 20, ASSOC_1_1);
    }
    thread_digest_make(&digest, &made->m, 0);
    assert_int_equal(digest.nodes.n, 2 + 2 * (3 + 2));
    for (uint32_t i = 0; i < 2; i++) {
        const struct measurement_node *call = &digest.nodes.at[2 + 5 * i];
        uint64_t address = 100 + 200 * i;
        assert_int_equal(call[0].ip_offset, 10);
        assert_int_equal(call[1].lip_value, address);
        assert_int_equal(call[1].parent, 2 + 5 * i);
        assert_int_equal(call[2].ip_offset, 20);
        assert_int_equal(call[2].parent, 2 + 5 * i + 1);
        assert_int_equal(call[3].ip_offset, 11);
        assert_int_equal(call[3].lip_value, address);
        assert_int_equal(call[4].parent, 2 + 5 * i + 3);
    }
    thread_digest_free(&digest);
}
