/* Blocks and edges of procedures, and calls that never return, on a handmade module. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcstruct/made_module.h"

#include "hpcstruct/flow/cfg.h"
#include "hpcstruct/flow/no-return.h"

#define NONE 0u

/* A block: its addresses, the address of its last instruction, the addresses of up to two
 * successors. */
struct expected_block {
    uint64_t begin, end, last, to, also_to;
    bool leaves;
};

static void check_cfg(struct made_module *made, uint64_t entry,
                      const struct expected_block *expected, size_t count)
{
    struct cfg cfg = {0};
    const struct module_code *module = &made->module;
    uint32_t number = procedures_find(&module->procedures, &module->map, entry);
    cfg_build(&cfg, module, &module->procedures.all.at[number]);
    assert_int_equal(cfg.blocks.n, count);
    assert_int_equal(cfg.blocks.at[cfg.entry].begin, entry);
    for (size_t i = 0; i < count; i++) {
        const struct block *block = &cfg.blocks.at[i];
        assert_int_equal(block->begin, expected[i].begin);
        assert_int_equal(block->end, expected[i].end);
        assert_int_equal(block->last, expected[i].last);
        assert_int_equal(block->leaves, expected[i].leaves);
        const uint64_t to[] = {expected[i].to, expected[i].also_to};
        assert_int_equal(block->successor_count, (to[0] != NONE) + (to[1] != NONE));
        for (uint32_t k = 0; k < block->successor_count; k++)
            assert_int_equal(cfg.blocks.at[cfg.successors.at[block->first_successor + k]].begin,
                             to[k]);
    }
    cfg_free(&cfg);
}

#define CHECK_CFG(made, entry, ...)                                                                \
    check_cfg(made, entry, (const struct expected_block[]){__VA_ARGS__},                           \
              sizeof((const struct expected_block[]){__VA_ARGS__}) /                               \
                  sizeof(struct expected_block))

static void finish(struct made_module *made)
{
    made_module_map(made, NULL, 0);
    made_module_procedures(made, NULL, 0);
    mark_calls_that_never_return(&made->module, 3);
}

/* A loop with a branch out of it, a tail call, and padding, which belongs to the block before it.
 */
TEST(test_blocks)
{
    struct made_module *made = made_module_new();
    made_symbol(made, 0x1100, 0x40, "f");
    made_symbol(made, 0x1200, 0x10, "g");
    made->at = 0x1100;
    made_work(made, 1);
    made_branch(made, 0x1111); /* at 0x1103 */
    made_work(made, 1);
    made_jump(made, 0x1103); /* at 0x110c */
    made_jump(made, 0x1200); /* at 0x1111; int3 up to 0x1140 */
    made->at = 0x1200;
    made_return(made);
    finish(made);
    CHECK_CFG(made, 0x1100, {0x1100, 0x1103, 0x1103, 0x1103, NONE, false},
              {0x1103, 0x1109, 0x1103, 0x1111, 0x1109, false},
              {0x1109, 0x1111, 0x110c, 0x1103, NONE, false},
              {0x1111, 0x1140, 0x1111, NONE, NONE, true});
}

/* `dies` never returns because it calls a stub of a function that never does, and `calls_dies`
 * because it calls `dies`. `may_return` also has a path without such a call. */
TEST(test_never_returning_calls)
{
    struct made_module *made = made_module_new();
    made_stub(made, 0x1010, "abort@plt");
    made_stub(made, 0x1020, "puts@plt");
    made->at = 0x1010;
    made_code(made, 0xff, 0x25, 0, 0, 0, 0); /* jmp *SLOT(%rip) */
    made->at = 0x1020;
    made_code(made, 0xff, 0x25, 0, 0, 0, 0);
    static const struct {
        const char *name;
        uint64_t at;
    } functions[] = {
        {"dies", 0x1100}, {"calls_dies", 0x1200}, {"may_return", 0x1300}, {"f", 0x1400}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        made_symbol(made, functions[i].at, 0x20, functions[i].name);
    made->at = 0x1100;
    made_call(made, 0x1020);
    made_call(made, 0x1010);
    made->at = 0x1200;
    made_jump(made, 0x1100);
    made->at = 0x1300;
    made_branch(made, 0x1310);
    made_call(made, 0x1200);
    made->at = 0x1310;
    made_return(made);
    made->at = 0x1400;
    made_call(made, 0x1300); /* returns */
    made_call(made, 0x1200); /* at 0x1405; does not return */
    made_work(made, 1);
    made_return(made);
    finish(made);
    CHECK_CFG(made, 0x1400, {0x1400, 0x140a, 0x1405, NONE, NONE, false},
              {0x140a, 0x1420, 0x140d, NONE, NONE, false});
    CHECK_CFG(made, 0x1300, {0x1300, 0x1306, 0x1300, 0x1310, 0x1306, false},
              {0x1306, 0x1310, 0x1306, NONE, NONE, false},
              {0x1310, 0x1320, 0x1310, NONE, NONE, false});
}

/* Whether any direct call of the module never returns. */
static bool has_call_that_never_returns(const struct made_module *made)
{
    bool found = false;
    for (size_t i = 0; i < made->module.map.fragments.n; i++)
        for (size_t k = 0; k < made->module.flows[i].transfers.n; k++)
            found |= made->module.flows[i].transfers.at[k].never_returns;
    return found;
}

/* Each function of a chain calls the next one, and the last one, the leaf, returns. So with one worker,
 * which begins with the first function, it takes as many rounds as functions to know that this one
 * returns. Each calls the next one on two ways, and one of them ends in an endless loop. */
TEST(test_returns_that_are_known_late)
{
    enum { CHAIN = 20, SIZE = 0x40 };
    static const char *const names[] = {"chain", "leaf"};
    for (unsigned returning = 0; returning < 2; returning++) {
        struct made_module *made = made_module_new();
        for (uint64_t i = 0; i <= CHAIN; i++)
            made_symbol(made, CODE_AT + i * SIZE, SIZE, names[i == CHAIN]);
        for (uint64_t i = 0; i < CHAIN; i++) {
            uint64_t begin = made->at = CODE_AT + i * SIZE, next = begin + SIZE;
            made_branch(made, begin + SIZE / 2);
            for (unsigned way = 0; way < 2; way++) {
                made->at = begin + (way ? SIZE / 2 : 8);
                made_call(made, next);
                if (way == returning)
                    made_return(made);
                else
                    made_jump(made, made->at);
            }
        }
        made->at = CODE_AT + CHAIN * SIZE;
        made_return(made);
        finish(made);
        assert_false(has_call_that_never_returns(made));
    }
}

/* Functions at lower addresses than the leaf that they all call: they return since it does. */
TEST(test_many_callers)
{
    enum { CALLERS = 20, SIZE = 0x20 };
    struct made_module *made = made_module_new();
    uint64_t leaf = CODE_AT + CALLERS * SIZE;
    for (uint64_t at = CODE_AT; at <= leaf; at += SIZE)
        made_symbol(made, at, SIZE, at == leaf ? "leaf" : "caller");
    for (uint64_t at = CODE_AT; at < leaf; at += SIZE) {
        made->at = at;
        made_call(made, leaf);
        if (at > CODE_AT)
            made_call(made, at - SIZE);
        made_return(made);
    }
    made->at = leaf;
    made_return(made);
    finish(made);
    assert_false(has_call_that_never_returns(made));
}

/* Functions that only call each other never return, and the analysis ends. */
TEST(test_mutual_recursion)
{
    struct made_module *made = made_module_new();
    made_symbol(made, 0x1100, 0x20, "one");
    made_symbol(made, 0x1200, 0x20, "two");
    made->at = 0x1100;
    made_call(made, 0x1200);
    made_return(made);
    made->at = 0x1200;
    made_call(made, 0x1100);
    made_return(made);
    finish(made);
    CHECK_CFG(made, 0x1100, {0x1100, 0x1105, 0x1100, NONE, NONE, false},
              {0x1105, 0x1120, 0x1105, NONE, NONE, false});
}

/* All parts of a procedure are in one graph. */
TEST(test_parts)
{
    struct made_module *made = made_module_new();
    made_symbol(made, 0x1100, 0x20, "f");
    made_symbol(made, 0x1400, 0x10, "f.cold");
    made->at = 0x1100;
    made_branch(made, 0x1400);
    made_return(made); /* at 0x1106 */
    made->at = 0x1400;
    made_work(made, 1);
    made_jump(made, 0x1106);
    finish(made);
    CHECK_CFG(made, 0x1100, {0x1100, 0x1106, 0x1100, 0x1400, 0x1106, false},
              {0x1106, 0x1120, 0x1106, NONE, NONE, false},
              {0x1400, 0x1410, 0x1403, 0x1106, NONE, false});
}
