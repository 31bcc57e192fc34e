/* The list of processes: the images that its lines describe, by doc/FORMAT-hpcrun.md, section 9. */
#include "tests/unit/cmocka_suite.h"

#include "lib/process-list.h"

static struct process_list list;

static void read_list(const char *text)
{
    process_list_free(&list);
    process_list_read(&list, text, strlen(text));
}

static void assert_states(size_t n, const enum image_state *states)
{
    assert_int_equal(list.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(list.images[i].state, states[i]);
}

#define ASSERT_STATES(...)                                                                         \
    assert_states(sizeof((enum image_state[]){__VA_ARGS__}) / sizeof(enum image_state),            \
                  (enum image_state[]){__VA_ARGS__})

#define END(pid, state) "end " pid " 5 " state " 0 90 0 0 70 60\n"

TEST(an_end_gives_its_account)
{
    read_list("begin 4 7 5 6 0 10 /bin/a b\n" END("7", "1"));
    ASSERT_STATES(IMAGE_ENDED);
    const struct process_image *image = &list.images[0];
    assert_int_equal(image->rank, 3);
    assert_int_equal(image->parent, 6);
    assert_int_equal(image->ended_at, 90);
    assert_int_equal(image->process_cpu, 70);
    assert_int_equal(image->children_cpu, 60);
    assert_int_equal(image->program_length, strlen("/bin/a b"));
    assert_memory_equal(image->program, "/bin/a b", image->program_length);
}

TEST(a_parent_tells_how_a_silent_child_ended)
{
    read_list("begin 0 7 5 6 3 10 a\nbegin 0 8 5 6 3 11 b\nbegin 0 9 5 6 3 12 c\nwaited 7 9 20\n"
              "waited 8 0 21\n");
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_BEGUN, IMAGE_BEGUN);
    assert_int_equal(list.images[0].signal, 9);
    assert_int_equal(list.images[0].ended_at, 20);
    assert_true(list.images[1].seen_by_parent && list.images[1].signal == 0);
    assert_false(list.images[2].seen_by_parent);
    /* It has said itself how. */
    read_list("begin 0 7 5 6 0 10 a\n" END("7", "1") "waited 7 9 95\n");
    ASSERT_STATES(IMAGE_ENDED);
    assert_true(list.images[0].seen_by_parent && list.images[0].signal == 0);
    assert_int_equal(list.images[0].ended_at, 90);
}

TEST(an_exec_goes_on_as_another_image)
{
    read_list("begin 0 7 5 6 0 10 a\n" END("7", "3") "begin 0 7 5 6 3 20 b\n" END("7", "1"));
    ASSERT_STATES(IMAGE_REPLACED, IMAGE_ENDED);
    read_list("begin 0 7 5 6 0 10 a\n" END("7", "3"));
    ASSERT_STATES(IMAGE_EXEC);
}

/* The two lines in either order, and without a line before them, as in the child of a vfork. */
TEST(an_exec_of_what_is_not_measured)
{
    read_list("begin 0 7 5 6 0 10 a\n" END("7", "3") "unmeasured 0 7 4 20 /bin/su\n");
    ASSERT_STATES(IMAGE_REPLACED, IMAGE_UNMEASURED);
    read_list("begin 0 7 5 6 0 10 a\nunmeasured 0 7 4 20 /bin/su\n" END("7", "3"));
    ASSERT_STATES(IMAGE_REPLACED, IMAGE_UNMEASURED);
    assert_int_equal(list.images[1].why, UNMEASURED_SETUID);
    read_list("unmeasured 0 8 1 20 x\nwaited 8 0 21\n");
    ASSERT_STATES(IMAGE_UNMEASURED);
}

TEST(an_exec_that_fails_is_none)
{
    read_list("begin 0 7 5 6 0 10 a\nunmeasured 0 7 4 20 x\n" END("7", "3") "failed 7 21\n" END(
        "7", "1"));
    ASSERT_STATES(IMAGE_ENDED, IMAGE_EXEC_FAILED);
    read_list("begin 0 7 5 6 0 10 a\nunmeasured 0 7 4 20 x\n" END("7", "3") "failed 7 21\n");
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_EXEC_FAILED); /* it goes on */
    read_list("begin 0 7 5 6 0 10 a\n" END("7", "3") "failed 7 21\n");
    ASSERT_STATES(IMAGE_BEGUN);
    read_list("unmeasured 0 8 1 20 x\nfailed 8 21\nunmeasured 0 8 1 22 y\n");
    ASSERT_STATES(IMAGE_EXEC_FAILED, IMAGE_UNMEASURED);
}

TEST(numbers_of_processes_come_again)
{
    read_list("begin 0 7 5 6 0 10 a\n" END("7", "1") "begin 0 7 99 6 3 20 b\nwaited 7 9 30\n");
    ASSERT_STATES(IMAGE_ENDED, IMAGE_BEGUN);
    assert_int_equal(list.images[0].signal, 0);
    assert_int_equal(list.images[1].signal, 9);
    read_list("begin 0 7 99 6 3 20 b\n" END("7", "1")); /* the end of an older one */
    ASSERT_STATES(IMAGE_BEGUN);
}

TEST(a_child_without_a_line_is_known_by_its_parent)
{
    read_list("begin 3 7 5 6 0 10 /bin/a\nwaited 8 9 20 3000 7\n");
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_UNSEEN);
    const struct process_image *child = &list.images[1];
    assert_int_equal(child->why, UNMEASURED_UNSEEN);
    assert_int_equal(child->pid, 8);
    assert_int_equal(child->parent, 7);
    assert_int_equal(child->rank, 2);
    assert_int_equal(child->signal, 9);
    assert_int_equal(child->waited_cpu, 3000);
    assert_int_equal(child->program_length, strlen("/bin/a"));
    assert_memory_equal(child->program, "/bin/a", child->program_length);
    read_list("begin 0 7 5 6 0 10 a\nwaited 8 0 20 3000 7\nwaited 8 0 21 3000 9\n");
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_UNSEEN); /* by a tracer, too */
    read_list("waited 8 0 20\n");             /* of an older version */
    ASSERT_STATES();
}

TEST(children_of_a_vfork_that_did_not_exec)
{
    read_list("begin 0 7 5 6 0 10 a\nfailed 8 19\nwaited 8 0 20 3000 7\n");
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_EXEC_FAILED);
    read_list("begin 0 8 5 6 3 10 a\nwaited 8 0 20 3000 7\nfailed 8 30\nwaited 8 0 31 9 7\n");
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_EXEC_FAILED);
    assert_int_equal(list.images[0].waited_cpu, 3000);
}

/* The first process of a namespace has the number 1 there, and 0 for its parent. */
TEST(numbers_of_namespaces)
{
    read_list("begin 0 7 5 6 0 10 a\nbegin 0 1 8 0 2 11 a\n" END(
        "1", "1") "waited 8 0 20 3000 7\nwaited 9 0 21 4000 7\n");
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_BEGUN, IMAGE_EXEC_FAILED, IMAGE_UNSEEN);
    /* The parent's children used 0.2 s, which is that of the one it waits for. */
    read_list("begin 0 7 5 6 0 10 a\nbegin 0 1 8 0 2 11 a\nend 1 8 1 0 20 0 0 190000000 0\n"
              "waited 8 0 21 200000000 7\nend 7 5 1 0 30 0 0 1000 200000000\n");
    assert_int_equal(list.images[0].unrecorded_cpu, 0);
    read_list("begin 0 1 5 0 0 10 a\nwaited 9 0 21 4000 1\n"); /* launched in a container */
    ASSERT_STATES(IMAGE_BEGUN, IMAGE_UNSEEN);
}

TEST(an_end_tells_what_could_not_be_written)
{
    read_list("begin 0 7 5 6 0 10 a\nend 7 5 1 0 90 2 28 70 60\n");
    ASSERT_STATES(IMAGE_ENDED);
    assert_int_equal(list.images[0].loss, LOSS_ALL);
    assert_int_equal(list.images[0].error, 28);
    read_list("begin 0 7 5 6 0 10 a\n" END("7", "1"));
    assert_int_equal(list.images[0].loss, LOSS_NONE);
    /* Of earlier versions. */
    read_list("begin 0 7 5 6 0 10 a\nend 7 5 1 0 90 2 70 60 80 1 3 2 12 4 9 8 1 5 71 61\n");
    assert_int_equal(list.images[0].loss, LOSS_PART);
    assert_int_equal(list.images[0].error, 5);
    assert_int_equal(list.images[0].children_cpu, 61);
    read_list("begin 0 7 5 6 0 10 a\nend 7 5 1 0 90 2 70 60 80 1 3 1 12 4\n");
    assert_int_equal(list.images[0].loss, LOSS_NONE);
}

TEST(what_is_damaged_is_passed_over)
{
    read_list("");
    ASSERT_STATES();
    read_list(
        "begin\nbegin x\nbegin 0 7\nend\nend 7 5\nunmeasured 0 7 0 1 x\nfailed\nfailed 8 1\n"
        "waited 9\nwaited 9 9 9\nwaited 9 9 9 9\nwaited 9 9 9 9 x\nnews 1 2\n\n\nbegin 0 7 5 6 0 10 a\n"
        "end 7 5 1 0 90 2\nend 7 5 1 0 90 2 70 60 80 1 3 99999999999999\nbegin 0 8 5");
    ASSERT_STATES(IMAGE_EXEC_FAILED, IMAGE_BEGUN);
}
