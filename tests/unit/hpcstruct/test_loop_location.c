/* Source locations of loops: the rules of hpcstruct/structure/loop-location.h, on procedures whose
 * blocks, edges, lines and inline chains are made by hand. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/structure/loop-location.h"

#include <stdlib.h>
#include <string.h>

enum { MAIN_FILE, OTHER_FILE, TAGGED_FILE };

struct fixture {
    struct cfg cfg;
    struct loops loops;
    struct source_ranges ranges;
    struct inline_chains chains;
    struct debug_info info;
    struct loop_locations locations;
    bool tagged[3];
};

static struct fixture *new_fixture(void)
{
    struct fixture *f = mem_alloc(sizeof *f);
    strtab_id(&f->info.files, "main.c");
    strtab_id(&f->info.files, "other.h");
    strtab_id(&f->info.files, "hpctoolkit:parallel-overhead");
    f->tagged[TAGGED_FILE] = true;
    inline_chains_reset(&f->chains, &f->info);
    return f;
}

static void free_fixture(struct fixture *f)
{
    cfg_free(&f->cfg);
    loops_free(&f->loops);
    vec_free(&f->ranges.all);
    inline_chains_free(&f->chains);
    debug_info_free(&f->info);
    loop_locations_free(&f->locations);
    free(f);
}

/* The chain `parent` extended by a call in main.c, at this line, of a function of other.h. */
static uint32_t inlined(struct fixture *f, uint32_t parent, const char *name, uint32_t call_line)
{
    struct inline_chain chain = {.parent = parent, .call_file = MAIN_FILE, .call_line = call_line};
    chain.depth = f->chains.all.at[parent].depth + 1;
    chain.function = debug_info_function(&f->info, name, OTHER_FILE, 1);
    vec_push(&f->chains.all, chain);
    return (uint32_t)f->chains.all.n - 1;
}

/* Adds a block of `size` bytes of code with one line and chain. Its last byte is its branch. */
static void block(struct fixture *f, uint32_t size, uint32_t chain, uint32_t file, uint32_t line)
{
    uint64_t begin = f->cfg.blocks.n ? f->cfg.blocks.at[f->cfg.blocks.n - 1].end : 0x1000;
    const struct block block = {.begin = begin, .end = begin + size, .last = begin + size - 1};
    const struct source_range range = {begin, begin + size, NO_LOOP, chain, file, line};
    vec_push(&f->cfg.blocks, block);
    vec_push(&f->ranges.all, range);
}

/* Adds edges from a block. Must be called in the order of the blocks. */
static void edges(struct fixture *f, uint32_t from, uint32_t one, uint32_t two)
{
    struct block *block = &f->cfg.blocks.at[from];
    block->first_successor = (uint32_t)f->cfg.successors.n;
    for (int i = 0; i < 2; i++) {
        uint32_t to = i ? two : one;
        if (to == NO_BLOCK)
            continue;
        vec_push(&f->cfg.successors, to);
        block->successor_count++;
    }
}

static void find_locations(struct fixture *f)
{
    loops_find(&f->loops, &f->cfg);
    for (size_t i = 0; i < f->ranges.all.n; i++)
        f->ranges.all.at[i].loop = f->loops.of_block.at[i];
    const struct loop_context context = {
        .cfg = &f->cfg,
        .loops = &f->loops,
        .ranges = &f->ranges,
        .chains = &f->chains,
        .tagged = f->tagged,
        .procedure_file = MAIN_FILE,
    };
    loop_locations_find(&f->locations, &context);
}

static void check(const struct fixture *f, uint32_t loop, uint32_t chain, uint32_t file,
                  uint32_t line)
{
    assert_true(loop < f->locations.all.n);
    assert_int_equal(f->locations.all.at[loop].chain, chain);
    assert_int_equal(f->locations.all.at[loop].file, file);
    assert_int_equal(f->locations.all.at[loop].line, line);
}

/* Edges of a loop of blocks 1 and 2, between 0 and 3, with the condition at the end of 2. */
static void simple_loop(struct fixture *f)
{
    edges(f, 0, 1, NO_BLOCK);
    edges(f, 1, 2, NO_BLOCK);
    edges(f, 2, 1, 3);
    edges(f, 3, NO_BLOCK, NO_BLOCK);
}

TEST(test_own_loop)
{
    struct fixture *f = new_fixture();
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 1);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 11);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 10);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    simple_loop(f);
    find_locations(f);
    assert_int_equal(f->locations.all.n, 1);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
    free_fixture(f);
}

/* All code is in an inlined function: so is the loop. */
TEST(test_inlined_loop)
{
    struct fixture *f = new_fixture();
    uint32_t g = inlined(f, EMPTY_CHAIN, "g", 5);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 8, g, OTHER_FILE, 102);
    block(f, 8, g, OTHER_FILE, 101);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 6);
    simple_loop(f);
    find_locations(f);
    check(f, 0, g, OTHER_FILE, 101);
    free_fixture(f);
}

/* The body is inlined, the condition is not: the loop is around the call. */
TEST(test_loop_around_call)
{
    struct fixture *f = new_fixture();
    uint32_t g = inlined(f, EMPTY_CHAIN, "g", 11);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 80, g, OTHER_FILE, 102);
    block(f, 4, EMPTY_CHAIN, MAIN_FILE, 10);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    simple_loop(f);
    find_locations(f);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
    free_fixture(f);
}

/* The condition is in one inlined function, the body in another: the loop is around both, at the
 * line of the call of the condition. */
TEST(test_condition_of_iterator)
{
    struct fixture *f = new_fixture();
    uint32_t next = inlined(f, EMPTY_CHAIN, "next", 11), more = inlined(f, EMPTY_CHAIN, "more", 10);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 8, next, OTHER_FILE, 120);
    block(f, 8, more, OTHER_FILE, 130);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    simple_loop(f);
    find_locations(f);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
    free_fixture(f);
}

/* Only the condition is inlined; the body has other lines than the call: the loop is around the
 * call. */
TEST(test_condition_inlined_alone)
{
    struct fixture *f = new_fixture();
    uint32_t more = inlined(f, EMPTY_CHAIN, "more", 10);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 2, EMPTY_CHAIN, MAIN_FILE, 11);
    block(f, 80, more, OTHER_FILE, 130);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    simple_loop(f);
    find_locations(f);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
    free_fixture(f);
}

/* A few bytes of the caller at the line of the call leave the loop inlined; many move it outwards.
 */
TEST(test_caller_code)
{
    for (uint32_t bytes = 1; bytes < 60; bytes++) {
        struct fixture *f = new_fixture();
        uint32_t g = inlined(f, EMPTY_CHAIN, "g", 10);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
        block(f, bytes, EMPTY_CHAIN, MAIN_FILE, 10);
        block(f, 60, g, OTHER_FILE, 130);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
        simple_loop(f);
        find_locations(f);
        if (4 * bytes > 60 + bytes)
            check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
        else
            check(f, 0, g, OTHER_FILE, 130);
        free_fixture(f);
    }
}

/* Code of the caller at the line of the call, but in another file, is not the preparation of the call: the
 * loop is outside of that. */
TEST(test_caller_code_of_another_file)
{
    struct fixture *f = new_fixture();
    uint32_t g = inlined(f, EMPTY_CHAIN, "g", 10);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 3, EMPTY_CHAIN, OTHER_FILE, 10);
    block(f, 60, g, OTHER_FILE, 130);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    simple_loop(f);
    find_locations(f);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
    free_fixture(f);
}

/* g calls h, both inlined: a few bytes of g at its call of h (line 140) leave the loop in h, on another line
 * they move it to g; the line of the call of g does not count there. */
TEST(test_caller_code_in_a_chain)
{
    static const uint32_t lines[] = {140, 11, 141};
    for (size_t i = 0; i < 3; i++) {
        struct fixture *f = new_fixture();
        uint32_t g = inlined(f, EMPTY_CHAIN, "g", 11), h = inlined(f, g, "h", 140);
        f->chains.all.at[h].call_file = OTHER_FILE;
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
        block(f, 3, g, OTHER_FILE, lines[i]);
        block(f, 60, h, OTHER_FILE, 151);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
        simple_loop(f);
        find_locations(f);
        check(f, 0, i == 0 ? h : g, OTHER_FILE, i == 0 ? 151 : 140);
        free_fixture(f);
    }
}

/* Code of two callers, both off their calls: the outermost of them has the loop, whichever comes first. */
TEST(test_code_of_two_callers)
{
    for (int swapped = 0; swapped < 2; swapped++) {
        struct fixture *f = new_fixture();
        uint32_t g = inlined(f, EMPTY_CHAIN, "g", 11), h = inlined(f, g, "h", 140);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
        block(f, 3, swapped ? g : EMPTY_CHAIN, swapped ? OTHER_FILE : MAIN_FILE, 12);
        block(f, 3, swapped ? EMPTY_CHAIN : g, swapped ? MAIN_FILE : OTHER_FILE, 12);
        block(f, 60, h, OTHER_FILE, 151);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
        edges(f, 0, 1, NO_BLOCK);
        edges(f, 1, 2, NO_BLOCK);
        edges(f, 2, 3, NO_BLOCK);
        edges(f, 3, 1, 4);
        edges(f, 4, NO_BLOCK, NO_BLOCK);
        find_locations(f);
        check(f, 0, EMPTY_CHAIN, MAIN_FILE, 11);
        free_fixture(f);
    }
}

/* Without a line of a condition, the loop has that of its first code with one. */
TEST(test_conditions_without_line)
{
    struct fixture *f = new_fixture();
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 12);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 0);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    simple_loop(f);
    find_locations(f);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 12);
    free_fixture(f);
}

/* The same for code of the caller without a line. */
TEST(test_caller_code_without_line)
{
    struct fixture *f = new_fixture();
    uint32_t g = inlined(f, EMPTY_CHAIN, "g", 10);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 3, EMPTY_CHAIN, MAIN_FILE, 0);
    block(f, 60, g, OTHER_FILE, 130);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    simple_loop(f);
    find_locations(f);
    check(f, 0, g, OTHER_FILE, 130);
    free_fixture(f);
}

/* Two nested loops, the inner one in an inlined function: the outer one is outside that. */
TEST(test_nest)
{
    struct fixture *f = new_fixture();
    uint32_t g = inlined(f, EMPTY_CHAIN, "g", 11), h = inlined(f, g, "h", 140);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 11);
    block(f, 8, h, OTHER_FILE, 151);
    block(f, 8, h, OTHER_FILE, 150);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 10);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    edges(f, 0, 1, NO_BLOCK);
    edges(f, 1, 2, NO_BLOCK);
    edges(f, 2, 3, NO_BLOCK);
    edges(f, 3, 2, 4);
    edges(f, 4, 1, 5);
    edges(f, 5, NO_BLOCK, NO_BLOCK);
    find_locations(f);
    assert_int_equal(f->locations.all.n, 2);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
    check(f, 1, h, OTHER_FILE, 150);
    free_fixture(f);
}

/* An outer loop in an inlined function that has no code of its own but a few bytes of the caller:
 * the location of the inner loop keeps it in the inlined function. */
TEST(test_outer_follows_inner)
{
    struct fixture *f = new_fixture();
    uint32_t g = inlined(f, EMPTY_CHAIN, "g", 11);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 12); /* the inner loop is in the procedure itself */
    block(f, 8, g, OTHER_FILE, 101);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    edges(f, 0, 1, NO_BLOCK);
    edges(f, 1, 1, 2);
    edges(f, 2, 1, 3); /* back to 1: one header, so one loop */
    edges(f, 3, NO_BLOCK, NO_BLOCK);
    find_locations(f);
    assert_int_equal(f->locations.all.n, 1);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 11);
    free_fixture(f);
}

/* The line of a loop with early exits is that of its first condition, unless a loop inside it comes
 * before that. */
TEST(test_smallest_line)
{
    struct fixture *f = new_fixture();
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 12); /* an inner loop of one block */
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 15); /* break */
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 18); /* while */
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
    block(f, 8, EMPTY_CHAIN, MAIN_FILE, 11); /* do: no condition */
    edges(f, 0, 5, NO_BLOCK);
    edges(f, 1, 1, 2);
    edges(f, 2, 4, 3);
    edges(f, 3, 5, 4);
    edges(f, 4, NO_BLOCK, NO_BLOCK);
    edges(f, 5, 1, NO_BLOCK);
    find_locations(f);
    assert_int_equal(f->locations.all.n, 2);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 11);
    check(f, 1, EMPTY_CHAIN, MAIN_FILE, 12);
    free_fixture(f);
}

/* Lines of the procedure's own file are preferred, and untagged files to tagged ones. */
TEST(test_files)
{
    const struct {
        uint32_t file, line;
    } conditions[][2] = {
        {{OTHER_FILE, 1}, {MAIN_FILE, 10}},
        {{TAGGED_FILE, 1}, {MAIN_FILE, 10}},
        {{MAIN_FILE, 10}, {TAGGED_FILE, 1}},
    };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        struct fixture *f = new_fixture();
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
        block(f, 8, EMPTY_CHAIN, conditions[i][0].file, conditions[i][0].line);
        block(f, 8, EMPTY_CHAIN, conditions[i][1].file, conditions[i][1].line);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
        edges(f, 0, 1, NO_BLOCK);
        edges(f, 1, 2, 3);
        edges(f, 2, 1, 3);
        edges(f, 3, NO_BLOCK, NO_BLOCK);
        find_locations(f);
        check(f, 0, EMPTY_CHAIN, MAIN_FILE, 10);
        free_fixture(f);
    }
}

/* Conditions in another fragment of the procedure count only if there are no near ones. */
TEST(test_cold_condition)
{
    for (int near = 0; near < 2; near++) {
        struct fixture *f = new_fixture();
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 30);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 31);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 32);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 33);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 3); /* cold */
        f->cfg.blocks.at[4].fragment = 1;
        edges(f, 0, 1, NO_BLOCK);
        edges(f, 1, 2, 4);
        edges(f, 2, near ? 1 : 4, near ? 3 : NO_BLOCK);
        edges(f, 3, NO_BLOCK, NO_BLOCK);
        edges(f, 4, 1, 3);
        find_locations(f);
        check(f, 0, EMPTY_CHAIN, MAIN_FILE, near ? 32 : 3);
        free_fixture(f);
    }
}

TEST(test_nothing_known)
{
    struct fixture *f = new_fixture();
    for (int i = 0; i < 4; i++)
        block(f, 8, EMPTY_CHAIN, DEBUG_NONE, 0);
    simple_loop(f);
    find_locations(f);
    check(f, 0, EMPTY_CHAIN, MAIN_FILE, 0);
    free_fixture(f);
}

/* do { first; while (a) f(); } while (b): the outer loop has its conditions behind the inner one, and
 * begins at the first line of its header; not later than the inner loop. */
TEST(test_outer_loop_that_tests_at_its_end)
{
    static const uint32_t first_lines[] = {9, 11, 30}, expected[] = {9, 10, 10};
    for (size_t i = 0; i < 3; i++) {
        struct fixture *f = new_fixture();
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 4);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, first_lines[i]); /* header of the outer loop */
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 10);             /* the inner loop */
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 7);              /* not in the header */
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 20);
        block(f, 8, EMPTY_CHAIN, MAIN_FILE, 40);
        edges(f, 0, 1, NO_BLOCK);
        edges(f, 1, 2, NO_BLOCK);
        edges(f, 2, 2, 3);
        edges(f, 3, 4, NO_BLOCK);
        edges(f, 4, 1, 5);
        edges(f, 5, NO_BLOCK, NO_BLOCK);
        find_locations(f);
        assert_int_equal(f->locations.all.n, 2);
        check(f, 0, EMPTY_CHAIN, MAIN_FILE, expected[i]);
        check(f, 1, EMPTY_CHAIN, MAIN_FILE, 10);
        free_fixture(f);
    }
}
