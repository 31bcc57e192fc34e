/* Loop nests of generated structured programs, whose nest is known; and of random graphs, in which
 * a block is in a loop exactly if it is on a cycle. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/flow/loop-nest.h"

/* ---- graphs ---- */

#define MAX_BLOCKS 400

struct graph {
    VEC(uint32_t) successors[MAX_BLOCKS];
    uint32_t count;
};

static void connect(struct graph *g, uint32_t from, uint32_t to)
{
    vec_push(&g->successors[from], to);
}

static void free_graph(struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        vec_free(&g->successors[i]);
}

static void make_cfg(struct cfg *cfg, const struct graph *g)
{
    cfg->blocks.n = cfg->successors.n = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct block block = {
            .begin = i,
            .end = i + 1,
            .last = i,
            .first_successor = (uint32_t)cfg->successors.n,
            .successor_count = (uint32_t)g->successors[i].n,
        };
        vec_push(&cfg->blocks, block);
        for (size_t k = 0; k < g->successors[i].n; k++)
            vec_push(&cfg->successors, g->successors[i].at[k]);
    }
    cfg->entry = 0;
}

static uint64_t random_state;

static uint32_t choose(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* ---- structured programs ---- */

/* A program under construction: the graph, and for each block the header of its innermost loop (for
 * a header, its own loop). */
struct program {
    struct graph g;
    uint32_t loop_of[MAX_BLOCKS];   /* header, or NO_BLOCK */
    uint32_t parent_of[MAX_BLOCKS]; /* of headers: header of the enclosing loop, or NO_BLOCK */
    bool is_header[MAX_BLOCKS];
};

static uint32_t new_block(struct program *p, uint32_t loop)
{
    p->loop_of[p->g.count] = loop;
    return p->g.count++;
}

/* Adds code after block `from`, inside a loop (given by its header and the block after it). Returns
 * the block in which control is at its end. */
static uint32_t add_code(struct program *p, uint32_t from, uint32_t loop, uint32_t behind,
                         unsigned depth)
{
    for (unsigned statements = 1 + choose(3); statements; statements--) {
        if (p->g.count > MAX_BLOCKS - 20)
            return from;
        uint32_t kind = depth > 5 ? 0 : choose(5);
        if (kind <= 1) { /* straight-line code */
            uint32_t next = new_block(p, loop);
            connect(&p->g, from, next);
            from = next;
        } else if (kind == 2) { /* if, with or without a break or continue */
            uint32_t then = new_block(p, loop), next = new_block(p, loop);
            connect(&p->g, from, then);
            connect(&p->g, from, next);
            uint32_t end = add_code(p, then, loop, behind, depth + 1);
            uint32_t jump = loop == NO_BLOCK ? 0 : choose(4);
            /* Code that is not repeated is outside the loop: a break must be in a branch. */
            uint32_t inner = jump == 1 ? new_block(p, p->parent_of[loop]) : end;
            if (jump == 1) {
                connect(&p->g, end, inner);
                connect(&p->g, end, next);
                connect(&p->g, inner, behind);
            } else if (jump == 2) {
                connect(&p->g, end, loop);
            } else {
                connect(&p->g, end, next);
            }
            from = next;
        } else { /* while (kind 3) or do-while (kind 4) */
            uint32_t header = new_block(p, 0), next = new_block(p, loop);
            p->loop_of[header] = header;
            p->is_header[header] = true;
            p->parent_of[header] = loop;
            connect(&p->g, from, header);
            if (kind == 3)
                connect(&p->g, header, next);
            uint32_t body = new_block(p, header);
            connect(&p->g, header, body);
            uint32_t end = add_code(p, body, header, next, depth + 1);
            connect(&p->g, end, header);
            connect(&p->g, end, next);
            from = next;
        }
    }
    return from;
}

static void check_program(struct program *p, struct cfg *cfg, struct loops *loops)
{
    make_cfg(cfg, &p->g);
    loops_find(loops, cfg);
    assert_int_equal(loops->of_block.n, p->g.count);
    uint32_t headers = 0;
    for (uint32_t i = 0; i < p->g.count; i++) {
        uint32_t loop = loops->of_block.at[i];
        headers += p->is_header[i];
        if (p->loop_of[i] == NO_BLOCK) {
            assert_int_equal(loop, NO_LOOP);
            continue;
        }
        assert_int_not_equal(loop, NO_LOOP);
        assert_int_equal(loops->all.at[loop].header, p->loop_of[i]);
        assert_false(loops->all.at[loop].irreducible);
        uint32_t parent = loops->all.at[loop].parent, expected = p->parent_of[p->loop_of[i]];
        if (expected == NO_BLOCK) {
            assert_int_equal(parent, NO_LOOP);
        } else {
            assert_true(parent < loop);
            assert_int_equal(loops->all.at[parent].header, expected);
        }
    }
    assert_int_equal(loops->all.n, headers);
}

TEST(test_structured)
{
    struct cfg cfg = {0};
    struct loops loops = {0};
    size_t found = 0;
    for (unsigned seed = 0; seed < 2000; seed++) {
        static struct program p;
        p = (struct program){0};
        random_state = seed;
        add_code(&p, new_block(&p, NO_BLOCK), NO_BLOCK, NO_BLOCK, 0);
        check_program(&p, &cfg, &loops);
        found += loops.all.n;
        free_graph(&p.g);
    }
    assert_true(found > 5000);
    cfg_free(&cfg);
    loops_free(&loops);
}

/* ---- random graphs ---- */

#define SMALL 24

static void find_paths(const struct graph *g, bool reaches[SMALL][SMALL])
{
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < g->count; k++)
            reaches[i][k] = false;
    for (uint32_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->successors[i].n; k++)
            reaches[i][g->successors[i].at[k]] = true;
    for (uint32_t via = 0; via < g->count; via++)
        for (uint32_t i = 0; i < g->count; i++)
            for (uint32_t k = 0; k < g->count; k++)
                reaches[i][k] |= reaches[i][via] && reaches[via][k];
}

TEST(test_random)
{
    struct cfg cfg = {0};
    struct loops loops = {0};
    size_t irreducible = 0;
    for (unsigned seed = 0; seed < 20000; seed++) {
        struct graph g = {0};
        bool reaches[SMALL][SMALL];
        random_state = seed;
        g.count = 2 + choose(SMALL - 2);
        for (uint32_t edges = choose(3 * g.count); edges; edges--) {
            uint32_t from = choose(g.count);
            connect(&g, from, choose(g.count));
        }
        make_cfg(&cfg, &g);
        loops_find(&loops, &cfg);
        find_paths(&g, reaches);
        for (uint32_t i = 0; i < g.count; i++) {
            uint32_t loop = loops.of_block.at[i];
            assert_int_equal(loop != NO_LOOP, reaches[i][i]);
            for (; loop != NO_LOOP; loop = loops.all.at[loop].parent) {
                uint32_t header = loops.all.at[loop].header;
                assert_true(reaches[header][i] && reaches[i][header]);
                assert_true(loop_contains(&loops, loop, i));
                assert_int_equal(loops.of_block.at[header], loop);
                assert_true(loops.all.at[loop].parent == NO_LOOP ||
                            loops.all.at[loop].parent < loop);
            }
        }
        for (size_t i = 0; i < loops.all.n; i++)
            irreducible += loops.all.at[i].irreducible;
        free_graph(&g);
    }
    assert_true(irreducible > 1000);
    cfg_free(&cfg);
    loops_free(&loops);
}

/* A loop with two entries: the one that the traversal reaches first is the header. */
TEST(test_two_entries)
{
    struct graph g = {.count = 4};
    connect(&g, 0, 1);
    connect(&g, 0, 2);
    connect(&g, 1, 2);
    connect(&g, 2, 1);
    connect(&g, 2, 3);
    struct cfg cfg = {0};
    struct loops loops = {0};
    make_cfg(&cfg, &g);
    loops_find(&loops, &cfg);
    assert_int_equal(loops.all.n, 1);
    assert_int_equal(loops.all.at[0].header, 1);
    assert_true(loops.all.at[0].irreducible);
    assert_int_equal(loops.of_block.at[2], 0);
    assert_int_equal(loops.of_block.at[0], NO_LOOP);
    assert_int_equal(loops.of_block.at[3], NO_LOOP);
    free_graph(&g);
    cfg_free(&cfg);
    loops_free(&loops);
}

/* A jump into a loop from code that is not reached, as after a call that never returns, is no entry
 * of the loop; a loop that is not reached has its own entries. */
TEST(test_not_reached)
{
    struct graph g = {.count = 7};
    connect(&g, 0, 1);
    connect(&g, 1, 2);
    connect(&g, 2, 1);
    connect(&g, 3, 2); /* not reached */
    connect(&g, 4, 5); /* not reached: a loop of 5 and 6, entered from 4 at both */
    connect(&g, 4, 6);
    connect(&g, 5, 6);
    connect(&g, 6, 5);
    connect(&g, 6, 1);
    struct cfg cfg = {0};
    struct loops loops = {0};
    make_cfg(&cfg, &g);
    loops_find(&loops, &cfg);
    assert_int_equal(loops.all.n, 2);
    assert_int_equal(loops.all.at[0].header, 1);
    assert_false(loops.all.at[0].irreducible);
    assert_int_equal(loops.all.at[1].header, 5);
    assert_true(loops.all.at[1].irreducible);
    assert_int_equal(loops.of_block.at[3], NO_LOOP);
    assert_int_equal(loops.of_block.at[6], 1);
    free_graph(&g);
    cfg_free(&cfg);
    loops_free(&loops);
}

/* A nest as deep as the graph is long: without recursion, no stack overflows. */
TEST(test_deep)
{
    const uint32_t count = 200000;
    struct cfg cfg = {.entry = 0};
    struct loops loops = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct block block = {.begin = i, .end = i + 1, .first_successor = 2 * i};
        vec_push(&cfg.blocks, block);
        cfg.blocks.at[i].successor_count = 2;
        vec_push(&cfg.successors, i + 1 < count ? i + 1 : i);
        vec_push(&cfg.successors, count - 1 - i < i ? count - 1 - i : 0);
    }
    loops_find(&loops, &cfg);
    assert_int_equal(loops.of_block.n, count);
    cfg_free(&cfg);
    loops_free(&loops);
}
