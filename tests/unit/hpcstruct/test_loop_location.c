/* Source locations of loops: the rules of hpcstruct/structure/loop-location.h, on procedures whose
 * blocks, edges, lines and inline chains are made by hand. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/structure/loop-location.h"

enum { MAIN, OTHER, TAGGED, FILES }; /* files */
enum { NONE, G, H };                 /* inline chains: of the first call, and of the second */

struct made_block {
    uint32_t size, chain, file, line;
};
struct location {
    uint32_t chain, file, line;
};
struct made_call {
    uint32_t line, parent, file; /* of the call, and the chain of the caller */
};
struct scenario {
    struct made_call calls[2]; /* of functions of OTHER that are inlined */
    struct made_block blocks[6];
    const char *edges; /* from and to, in the order of the blocks; NULL: SIMPLE */
    struct location loops[2];
    uint32_t cold; /* a block in a fragment of its own, if not 0 */
};

/* A loop of blocks 1 and 2, between 0 and 3, with the condition at the end of 2. */
#define SIMPLE "01 12 21 23"

static void make_calls(const struct scenario *s, struct inline_chains *chains,
                       struct debug_info *info)
{
    static const char *const names[] = {"g", "h"};
    for (int i = 0; i < 2 && s->calls[i].line; i++) {
        const struct made_call *call = &s->calls[i];
        struct inline_chain chain = {
            .parent = call->parent, .call_file = call->file, .call_line = call->line};
        chain.depth = chains->all.at[call->parent].depth + 1;
        chain.function = debug_info_function(info, names[i], OTHER, 1);
        vec_push(&chains->all, chain);
    }
}

/* The last byte of a block is its branch. */
static void make_blocks(const struct scenario *s, struct cfg *cfg, struct source_ranges *ranges)
{
    const char *edge = s->edges ? s->edges : SIMPLE;
    uint64_t begin = 0x1000;
    for (uint32_t i = 0; i < 6 && s->blocks[i].size; i++) {
        const struct made_block *made = &s->blocks[i];
        struct block block = {
            .begin = begin, .end = begin + made->size, .last = begin + made->size - 1};
        const struct source_range range = {begin,       block.end,  NO_LOOP,
                                           made->chain, made->file, made->line};
        block.fragment = i > 0 && i == s->cold;
        block.first_successor = (uint32_t)cfg->successors.n;
        for (; *edge && (uint32_t)(edge[0] - '0') == i;
             edge += edge[2] ? 3 : 2, block.successor_count++)
            vec_push(&cfg->successors, (uint32_t)(edge[1] - '0'));
        vec_push(&cfg->blocks, block);
        vec_push(&ranges->all, range);
        begin = block.end;
    }
    assert_int_equal(*edge, '\0');
}

static void check(const char *name, const struct scenario *s)
{
    static const bool tagged[FILES] = {[TAGGED] = true};
    struct cfg cfg = {0};
    struct loops loops = {0};
    struct source_ranges ranges = {0};
    struct inline_chains chains = {0};
    struct debug_info info = {0};
    struct loop_locations found = {0};
    strtab_id(&info.files, "main.c");
    strtab_id(&info.files, "other.h");
    strtab_id(&info.files, "hpctoolkit:parallel-overhead");
    inline_chains_reset(&chains, &info);
    make_calls(s, &chains, &info);
    make_blocks(s, &cfg, &ranges);
    loops_find(&loops, &cfg);
    for (size_t i = 0; i < ranges.all.n; i++)
        ranges.all.at[i].loop = loops.of_block.at[i];
    const struct loop_context context = {.cfg = &cfg,
                                         .loops = &loops,
                                         .ranges = &ranges,
                                         .chains = &chains,
                                         .tagged = tagged,
                                         .procedure_file = MAIN};
    loop_locations_find(&found, &context);
    const bool has_two = s->loops[1].line > 0;
    if (found.all.n != 1u + has_two)
        fail_msg("%s: %zu loops", name, found.all.n);
    for (size_t i = 0; i < found.all.n; i++) {
        const struct location *is = &s->loops[i];
        if (found.all.at[i].chain != is->chain || found.all.at[i].file != is->file ||
            found.all.at[i].line != is->line)
            fail_msg("%s: loop %zu is at line %u of file %u, chain %u", name, i,
                     found.all.at[i].line, found.all.at[i].file, found.all.at[i].chain);
    }
    cfg_free(&cfg);
    loops_free(&loops);
    vec_free(&ranges.all);
    inline_chains_free(&chains);
    debug_info_free(&info);
    loop_locations_free(&found);
}

#define CALLS(...)       .calls = {__VA_ARGS__}
#define BLOCKS(...)      .blocks = {__VA_ARGS__}
#define LOOPS(...)       .loops = {__VA_ARGS__}
#define CHECK(name, ...) check(name, &(const struct scenario){__VA_ARGS__})

#define BEFORE                                                                                     \
    {                                                                                              \
        8, NONE, MAIN, 4                                                                           \
    }
#define AFTER                                                                                      \
    {                                                                                              \
        8, NONE, MAIN, 20                                                                          \
    }

TEST(lines_of_conditions)
{
    CHECK("its own condition", BLOCKS(BEFORE, {8, NONE, MAIN, 11}, {8, NONE, MAIN, 10}, AFTER),
          LOOPS({NONE, MAIN, 10}));
    CHECK("no line of a condition: the first code with one",
          BLOCKS(BEFORE, {8, NONE, MAIN, 12}, {8, NONE, MAIN, 0}, AFTER), LOOPS({NONE, MAIN, 12}));
#define UNKNOWN {8, NONE, DEBUG_NONE, 0}
    CHECK("no lines", BLOCKS(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN), LOOPS({NONE, MAIN, 0}));
    CHECK("the first of several conditions; or a loop inside that comes before that, of one block",
          BLOCKS(BEFORE, {8, NONE, MAIN, 12}, {8, NONE, MAIN, 15} /* break */,
                 {8, NONE, MAIN, 18} /* while */, AFTER,
                 {8, NONE, MAIN, 11} /* do: no condition */),
          .edges = "05 11 12 24 23 35 34 51", LOOPS({NONE, MAIN, 11}, {NONE, MAIN, 12}));
}

TEST(loops_and_inlined_code)
{
    CHECK("all is inlined", CALLS({5}),
          BLOCKS(BEFORE, {8, G, OTHER, 102}, {8, G, OTHER, 101}, {8, NONE, MAIN, 6}),
          LOOPS({G, OTHER, 101}));
    CHECK("only the body is", CALLS({11}),
          BLOCKS(BEFORE, {80, G, OTHER, 102}, {4, NONE, MAIN, 10}, AFTER), LOOPS({NONE, MAIN, 10}));
    CHECK("the condition of an iterator: the loop is at its call", CALLS({11}, {10}),
          BLOCKS(BEFORE, {8, G, OTHER, 120}, {8, H, OTHER, 130}, AFTER), LOOPS({NONE, MAIN, 10}));
    CHECK("only the condition is, and the body has other lines than the call", CALLS({10}),
          BLOCKS(BEFORE, {2, NONE, MAIN, 11}, {80, G, OTHER, 130}, AFTER), LOOPS({NONE, MAIN, 10}));
    CHECK("the inner loop is inlined, the outer one is outside", CALLS({11}, {140, G}),
          BLOCKS(BEFORE, {8, NONE, MAIN, 11}, {8, H, OTHER, 151}, {8, H, OTHER, 150},
                 {8, NONE, MAIN, 10}, AFTER),
          .edges = "01 12 23 32 34 41 45", LOOPS({NONE, MAIN, 10}, {H, OTHER, 150}));
    CHECK("one header, one loop: the procedure's part keeps it there", CALLS({11}),
          BLOCKS(BEFORE, {8, NONE, MAIN, 12}, {8, G, OTHER, 101}, AFTER), .edges = "01 11 12 21 23",
          LOOPS({NONE, MAIN, 11}));
}

/* A few bytes of the caller at the line of the call leave the loop inlined; many move it outwards. */
TEST(code_of_the_caller)
{
    for (uint32_t bytes = 1; bytes < 60; bytes++) {
        const bool is_outside = 4 * bytes > 60 + bytes;
        CHECK("bytes at the line of the call", CALLS({10}),
              BLOCKS(BEFORE, {bytes, NONE, MAIN, 10}, {60, G, OTHER, 130}, AFTER),
              LOOPS({is_outside ? NONE : G, is_outside ? MAIN : OTHER, is_outside ? 10 : 130}));
    }
    CHECK("a line in another file is not the call's", CALLS({10}),
          BLOCKS(BEFORE, {3, NONE, OTHER, 10}, {60, G, OTHER, 130}, AFTER),
          LOOPS({NONE, MAIN, 10}));
    CHECK("no line", CALLS({10}), BLOCKS(BEFORE, {3, NONE, MAIN, 0}, {60, G, OTHER, 130}, AFTER),
          LOOPS({G, OTHER, 130}));
    /* g calls h at line 140. The line of the call of g (11) does not count there. */
    static const uint32_t lines[] = {140, 11, 141};
    for (size_t i = 0; i < 3; i++)
        CHECK("code of g", CALLS({11}, {140, G, OTHER}),
              BLOCKS(BEFORE, {3, G, OTHER, lines[i]}, {60, H, OTHER, 151}, AFTER),
              LOOPS({i == 0 ? H : G, OTHER, i == 0 ? 151 : 140}));
#define OF_G {3, G, OTHER, 12}
#define OF_MAIN                                                                                    \
    {                                                                                              \
        3, NONE, MAIN, 12                                                                          \
    }
    CHECK("of two callers: the outermost has the loop", CALLS({11}, {140, G}),
          BLOCKS(BEFORE, OF_MAIN, OF_G, {60, H, OTHER, 151}, AFTER), .edges = "01 12 23 31 34",
          LOOPS({NONE, MAIN, 11}));
    CHECK("of two callers, swapped", CALLS({11}, {140, G}),
          BLOCKS(BEFORE, OF_G, OF_MAIN, {60, H, OTHER, 151}, AFTER), .edges = "01 12 23 31 34",
          LOOPS({NONE, MAIN, 11}));
}

/* Lines of the procedure's own file are preferred, and untagged files to tagged ones. */
TEST(files)
{
    static const struct made_block conditions[][2] = {
        {{8, NONE, OTHER, 1}, {8, NONE, MAIN, 10}},
        {{8, NONE, TAGGED, 1}, {8, NONE, MAIN, 10}},
        {{8, NONE, MAIN, 10}, {8, NONE, TAGGED, 1}},
    };
    for (size_t i = 0; i < 3; i++)
        CHECK("files", BLOCKS(BEFORE, conditions[i][0], conditions[i][1], AFTER),
              .edges = "01 12 13 21 23", LOOPS({NONE, MAIN, 10}));
}

/* Conditions in another fragment of the procedure count only if there are no near ones. */
TEST(cold_conditions)
{
    for (int near = 0; near < 2; near++)
        CHECK("cold",
              BLOCKS({8, NONE, MAIN, 30}, {8, NONE, MAIN, 31}, {8, NONE, MAIN, 32},
                     {8, NONE, MAIN, 33}, {8, NONE, MAIN, 3}),
              .cold = 4, .edges = near ? "01 12 14 21 23 41 43" : "01 12 14 24 41 43",
              LOOPS({NONE, MAIN, near ? 32 : 3}));
}

/* do { first; while (a) f(); } while (b): the outer loop has its conditions after the inner one, and
 * begins at the first line of its header; not later than the inner loop. */
TEST(an_outer_loop_that_tests_at_its_end)
{
    static const uint32_t first_lines[] = {9, 11, 30}, expected[] = {9, 10, 10};
    for (size_t i = 0; i < 3; i++)
        CHECK("first line",
              BLOCKS(BEFORE, {8, NONE, MAIN, first_lines[i]} /* its header */,
                     {8, NONE, MAIN, 10} /* the inner loop */,
                     {8, NONE, MAIN, 7} /* not in the header */, AFTER, {8, NONE, MAIN, 40}),
              .edges = "01 12 22 23 34 41 45", LOOPS({NONE, MAIN, expected[i]}, {NONE, MAIN, 10}));
}
