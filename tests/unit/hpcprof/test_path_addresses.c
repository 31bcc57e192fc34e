/* The addresses whose structure matters, of made-up threads. */
#include "tests/unit/cmocka_suite.h"

#include "hpcprof/measurement/path-addresses.h"

enum { THREADS = 40, MODULES = 3 };

/* Modules of the file that the tests' threads ran in are modules 2 and 0 of all. */
static struct measurement_module of_file[2];
static uint32_t module_of[2] = {2, 0};
static struct measurement_thread threads[THREADS];
static struct measurement m = {.modules = {.at = of_file, .n = 2}, .threads = {.at = threads}};
static struct measurement_file file = {.m = &m, .module_of = module_of};
static struct load_module modules[MODULES];
static struct measurements measurements = {.files = {.at = &file, .n = 1},
                                           .modules = {.all = {.at = modules, .n = MODULES}}};

static struct measurement_thread *add_thread(void)
{
    struct measurement_thread *thread = &threads[m.threads.n++];
    *thread = (struct measurement_thread){.start_space = MEASUREMENT_NO_NOTE};
    for (int i = 0; i < 2; i++) /* the root and the lost node */
        vec_push(&thread->nodes, (struct measurement_node){.ip_space = MEASUREMENT_NO_NOTE,
                                                           .lip_space = MEASUREMENT_NO_NOTE});
    return thread;
}

static void add_node(struct measurement_thread *thread, uint32_t space, uint64_t address)
{
    vec_push(&thread->nodes, (struct measurement_node){.ip_space = space,
                                                       .ip_offset = address,
                                                       .lip_space = MEASUREMENT_NO_NOTE});
}

STEP(remove_threads)
{
    for (size_t i = 0; i < m.threads.n; i++)
        vec_free(&threads[i].nodes);
    m.threads.n = 0;
}

static void check(unsigned workers, const uint64_t (*expected)[8])
{
    struct module_addresses found;
    path_addresses_find(&found, &measurements, workers);
    assert_int_equal(found.n, MODULES);
    for (size_t i = 0; i < MODULES; i++) {
        size_t n = 0;
        while (expected[i][n])
            n++;
        assert_int_equal(found.of_module[i].all.n, n);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(found.of_module[i].all.at[k], expected[i][k]);
    }
    module_addresses_free(&found);
}

/* Nodes' places, those of their logical callers, and their call sites. */
TEST(test_notes)
{
    struct measurement_thread *thread = add_thread();
    add_node(thread, 0, 0x30);
    add_node(thread, 1, 0x10);
    add_node(thread, 0, 0x20);
    add_node(thread, 0, 0x30);
    add_node(thread, MEASUREMENT_NO_MODULE, 0x70);
    add_node(thread, MEASUREMENT_NAMES, 0x71);
    struct measurement_node *node = &thread->nodes.at[2];
    node->lip_space = 1;
    node->lip_value = 0x40;
    node->site = 0x72; /* none */
    node = &thread->nodes.at[3];
    node->lip_space = 0;
    node->lip_value = 0x50;
    node->has_site = true;
    node->site = 0x58;
    check(1, (uint64_t[MODULES][8]){[0] = {0x10, 0x40}, [2] = {0x20, 0x30, 0x50, 0x58}});
}

/* Code that no sample is in, but that the threads themselves name. */
TEST(test_starts_and_joins)
{
    struct measurement_thread *thread = add_thread();
    thread->start_space = 1;
    thread->start_offset = 0x10;
    thread->join = (struct measurement_join){.space = 0, .offset = 0x20}; /* not known */
    thread = add_thread();
    thread->join = (struct measurement_join){.known = true, .space = 0, .offset = 0x30};
    check(1, (uint64_t[MODULES][8]){[0] = {0x10}, [2] = {0x30}});
}

TEST(test_workers_find_addresses_once)
{
    for (int i = 0; i < THREADS; i++) {
        struct measurement_thread *thread = add_thread();
        add_node(thread, 0, 0x20 + 0x10 * ((uint64_t)i % 4));
        add_node(thread, 1, 0x10);
    }
    check(4, (uint64_t[MODULES][8]){[0] = {0x10}, [2] = {0x20, 0x30, 0x40, 0x50}});
}

EACH_TEST(NULL, remove_threads);
