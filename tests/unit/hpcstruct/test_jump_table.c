/* Jump tables in the forms that compilers emit, written by hand; indirect jumps without table. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcstruct/made_module.h"

enum { FUNCTION = 0x1100, FUNCTION_END = 0x1200, CASES = 0x1180 };

/* Case number i: four bytes of code. */
static uint32_t case_at(unsigned i)
{
    return CASES + 4 * i;
}

static struct made_module *new_function(void)
{
    struct made_module *made = made_module_new();
    made_symbol(made, FUNCTION, FUNCTION_END - FUNCTION, "function");
    made->at = CASES;
    while (made->at < FUNCTION_END)
        made_code(made, 0x48, 0x01, 0xd8, 0xc3); /* add %rbx, %rax; ret */
    made->at = FUNCTION;
    return made;
}

/* ---- code ---- */

static void compare_with(struct made_module *made, uint8_t limit)
{
    made_code(made, 0x83, 0xff, limit);         /* cmp $LIMIT, %edi */
    made_code(made, 0x77, (uint8_t)(0x40 - 2)); /* ja ... */
    made_code(made, 0x89, 0xff);                /* mov %edi, %edi */
}

/* lea ADDRESS(%rip), %rdx */
static void load_address(struct made_module *made, uint64_t address)
{
    made_code(made, 0x48, 0x8d, 0x15);
    int32_t distance = (int32_t)(address - (made->at + 4));
    made_bytes(made, (const uint8_t *)&distance, sizeof distance);
}

static void jump_relative(struct made_module *made)
{
    made_code(made, 0x48, 0x63, 0x04, 0xba); /* movslq (%rdx,%rdi,4), %rax */
    made_code(made, 0x48, 0x01, 0xd0);       /* add %rdx, %rax */
    made_code(made, 0xff, 0xe0);             /* jmp *%rax */
}

/* jmp *ADDRESS(,%rdi,8) */
static void jump_absolute(struct made_module *made, uint32_t address)
{
    made_code(made, 0xff, 0x24, 0xfd);
    made_bytes(made, (const uint8_t *)&address, sizeof address);
}

/* ---- tables ---- */

/* Entries `first` to `last` point to the cases with these numbers. */
static void relative_table(struct made_module *made, uint64_t address, unsigned first,
                           unsigned last)
{
    for (unsigned i = first; i <= last; i++)
        made_u32(made, address + 4 * (i - first), case_at(i) - (uint32_t)address);
}

/* Checks the jumps of the function: jump number i goes to the cases `first` to `last`; it has no
 * table if `last` is below `first`. */
struct expected_jump {
    int first, last;
};

static void check_jumps(struct made_module *made, const struct expected_jump *expected,
                        size_t count)
{
    made_module_map(made, NULL, 0);
    uint32_t number = code_map_find(&made->module.map, FUNCTION);
    const struct fragment_flow *flow = &made->module.flows[number];
    size_t jumps = 0;
    for (size_t i = 0; i < flow->transfers.n; i++) {
        const struct transfer *transfer = &flow->transfers.at[i];
        if (transfer->kind != TRANSFER_JUMP_INDIRECT)
            continue;
        assert_true(jumps < count);
        int first = expected[jumps].first, last = expected[jumps].last;
        jumps++;
        if (last < first) {
            assert_int_equal(transfer->target, NO_JUMP_TABLE);
            continue;
        }
        assert_int_not_equal(transfer->target, NO_JUMP_TABLE);
        const struct jump_table *table = &flow->tables.at[transfer->target];
        assert_int_equal(table->count, last - first + 1);
        for (int k = first; k <= last; k++)
            assert_int_equal(flow->targets.at[table->first + (uint32_t)(k - first)],
                             case_at((unsigned)k));
    }
    assert_int_equal(jumps, count);
}

#define CHECK_JUMPS(made, ...)                                                                     \
    check_jumps(made, (const struct expected_jump[]){__VA_ARGS__},                                 \
                sizeof((const struct expected_jump[]){__VA_ARGS__}) /                              \
                    sizeof(struct expected_jump))

TEST(test_relative)
{
    struct made_module *made = new_function();
    relative_table(made, DATA_AT, 0, 9); /* the code limits the index to 5 */
    compare_with(made, 5);
    load_address(made, DATA_AT);
    jump_relative(made);
    CHECK_JUMPS(made, {0, 5});
}

TEST(test_absolute)
{
    for (int relocated = 0; relocated < 2; relocated++) {
        struct made_module *made = new_function();
        for (unsigned i = 0; i < 8; i++) {
            if (relocated)
                made_pointer(made, DATA_AT + 8 * i, case_at(i));
            else
                made_u64(made, DATA_AT + 8 * i, case_at(i));
        }
        compare_with(made, 6);
        jump_absolute(made, DATA_AT);
        CHECK_JUMPS(made, {0, 6});
    }
}

TEST(test_masked)
{
    struct made_module *made = new_function();
    relative_table(made, DATA_AT, 0, 9);
    made_code(made, 0x83, 0xe7, 0x03); /* and $3, %edi */
    load_address(made, DATA_AT);
    jump_relative(made);
    CHECK_JUMPS(made, {0, 3});
}

/* The address is loaded far away, at the other end of a loop. */
TEST(test_hoisted)
{
    struct made_module *made = new_function();
    relative_table(made, DATA_AT, 0, 9);
    load_address(made, DATA_AT);
    made_work(made, 8);
    uint64_t loop = made->at;
    compare_with(made, 4);
    jump_relative(made);
    made_jump(made, loop);
    CHECK_JUMPS(made, {0, 4});
}

/* Without a bound, a table ends at the first invalid entry, or where another table begins. */
TEST(test_without_bound)
{
    struct made_module *made = new_function();
    relative_table(made, DATA_AT, 0, 3);
    relative_table(made, DATA_AT + 16, 4, 9);
    made_u32(made, DATA_AT + 40, 0x100000);
    load_address(made, DATA_AT);
    jump_relative(made);
    load_address(made, DATA_AT + 16);
    jump_relative(made);
    CHECK_JUMPS(made, {0, 3}, {4, 9});
}

/* Clang lets entries that are never used point to the end of the function. */
TEST(test_impossible_entries)
{
    struct made_module *made = new_function();
    made_u32(made, DATA_AT, FUNCTION_END - DATA_AT);
    relative_table(made, DATA_AT + 4, 0, 2);
    for (unsigned i = 0; i < 3; i++)
        made_u32(made, DATA_AT + 4 + 4 * i, case_at(i) - DATA_AT);
    compare_with(made, 3);
    load_address(made, DATA_AT);
    jump_relative(made);
    CHECK_JUMPS(made, {0, 2});
}

/* The same without a bound: they do not end the table, wherever they are. */
TEST(test_impossible_entries_without_bound)
{
    for (unsigned unused = 0; unused < 5; unused++) {
        struct made_module *made = new_function();
        for (unsigned i = 0, number = 0; i < 5; i++)
            made_u32(made, DATA_AT + 4 * i,
                     (i == unused ? (uint32_t)FUNCTION_END : case_at(number++)) - DATA_AT);
        made_u32(made, DATA_AT + 20, 0x100000);
        load_address(made, DATA_AT);
        jump_relative(made);
        CHECK_JUMPS(made, {0, 3});
    }
}

/* A table of nothing else is none. */
TEST(test_only_impossible_entries)
{
    struct made_module *made = new_function();
    for (unsigned i = 0; i < 4; i++)
        made_u32(made, DATA_AT + 4 * i, FUNCTION_END - DATA_AT);
    compare_with(made, 3);
    load_address(made, DATA_AT);
    jump_relative(made);
    CHECK_JUMPS(made, {0, -1});
}

/* Entries out of the function lead to parts that were split off from it, but to no other function. */
TEST(test_entries_out_of_the_function)
{
    static const struct {
        const char *name;
        bool is_part;
    } others[] = {{"function.cold", true}, {"other", false}};
    for (size_t i = 0; i < 2; i++) {
        struct made_module *made = new_function();
        made_symbol(made, FUNCTION_END + 0x100, 0x20, others[i].name);
        relative_table(made, DATA_AT, 0, 2);
        made_u32(made, DATA_AT + 12, FUNCTION_END + 0x100 - DATA_AT);
        compare_with(made, 3);
        load_address(made, DATA_AT);
        jump_relative(made);
        made_module_map(made, NULL, 0);
        const struct fragment_flow *flow =
            &made->module.flows[code_map_find(&made->module.map, FUNCTION)];
        assert_int_equal(flow->tables.n, 1);
        assert_int_equal(flow->tables.at[0].count, others[i].is_part ? 4 : 3);
    }
}

/* Cases that share their code are one target. */
TEST(test_repeated_entries)
{
    static const unsigned cases[] = {2, 0, 1, 0, 2, 2};
    struct made_module *made = new_function();
    for (unsigned i = 0; i < 6; i++)
        made_u32(made, DATA_AT + 4 * i, case_at(cases[i]) - DATA_AT);
    compare_with(made, 5);
    load_address(made, DATA_AT);
    jump_relative(made);
    CHECK_JUMPS(made, {0, 2});
}

/* A bound counts more than the begin of another table. */
TEST(test_bound_beyond_another_table)
{
    struct made_module *made = new_function();
    for (unsigned i = 0; i < 6; i++)
        made_u64(made, DATA_AT + 8 * i, case_at(i));
    compare_with(made, 5);
    jump_absolute(made, DATA_AT);
    compare_with(made, 1);
    jump_absolute(made, DATA_AT + 16);
    CHECK_JUMPS(made, {0, 5}, {2, 3});
}

/* Code without optimization leaves the target on the stack (clang's computed goto at -O0). */
TEST(test_through_stack)
{
    static const struct {
        uint8_t between[4]; /* an instruction between the store and the load */
        int last;           /* case of the table; -1: no table */
    } cases[] = {
        {{0x48, 0x89, 0x4d, 0xd8}, 4},  /* mov %rcx, -40(%rbp) */
        {{0x48, 0x39, 0x4d, 0xe0}, 4},  /* cmp %rcx, -32(%rbp) */
        {{0x48, 0x89, 0x4d, 0xe0}, -1}, /* mov %rcx, -32(%rbp) */
        {{0x48, 0x83, 0xc5, 0x08}, -1}, /* add $8, %rbp */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made_module *made = new_function();
        for (unsigned k = 0; k < 5; k++)
            made_u64(made, DATA_AT + 8 * k, case_at(k));
        load_address(made, DATA_AT);
        made_code(made, 0x48, 0x8b, 0x04, 0xfa); /* mov (%rdx,%rdi,8), %rax */
        made_code(made, 0x48, 0x89, 0x45, 0xe0); /* mov %rax, -32(%rbp) */
        made_bytes(made, cases[i].between, sizeof cases[i].between);
        made_jump(made, made->at + 5 + 1);       /* the size of the jump and of ret */
        made_code(made, 0xc3);                   /* ret */
        made_code(made, 0x48, 0x8b, 0x45, 0xe0); /* mov -32(%rbp), %rax */
        made_code(made, 0xff, 0xe0);             /* jmp *%rax */
        CHECK_JUMPS(made, {0, cases[i].last});
    }
}

/* Two branches lead to the load; the nearer one has the bound, the one before if both are as near. */
TEST(test_nearest_branch)
{
    static const struct {
        uint8_t before, after; /* bytes between the branch and the load */
        int last;
    } cases[] = {{12, 20, 2}, {20, 12, 5}, {15, 15, 2}, {15, 14, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made_module *made = new_function();
        const uint64_t load = FUNCTION + 0x40;
        const uint8_t back = (uint8_t)(-cases[i].after - 2);
        memset(made->code + (FUNCTION - CODE_AT), 0xc3, CASES - FUNCTION); /* ret */
        relative_table(made, DATA_AT, 0, 9);
        load_address(made, DATA_AT);
        made->at = load - cases[i].before - 3;
        made_code(made, 0x83, 0xff, 0x02, 0x76, (uint8_t)(cases[i].before - 2)); /* cmp $2, %edi; jbe */
        made->at = load + cases[i].after - 3;
        made_code(made, 0x83, 0xff, 0x05, 0x76, back); /* cmp $5, %edi; jbe */
        made->at = load;
        jump_relative(made);
        CHECK_JUMPS(made, {0, cases[i].last});
    }
}

TEST(test_tail_calls)
{
    struct made_module *made = new_function();
    made_code(made, 0x48, 0x8b, 0x07);       /* mov (%rdi), %rax */
    made_code(made, 0xff, 0xe0);             /* jmp *%rax */
    made_code(made, 0xff, 0x67, 0x18);       /* jmp *24(%rdi) */
    made_code(made, 0x48, 0x8b, 0x04, 0xf7); /* mov (%rdi,%rsi,8), %rax: a table of functions */
    made_code(made, 0xff, 0xe0);
    CHECK_JUMPS(made, {0, -1}, {0, -1}, {0, -1});
}

/* Whatever the bytes are, the search ends and all targets are instructions of the function. */
TEST(test_any_bytes)
{
    uint64_t random = 1;
    for (unsigned round = 0; round < 300; round++) {
        struct made_module *made = new_function();
        for (unsigned i = 0; i < FUNCTION_END - FUNCTION; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            made->code[FUNCTION - CODE_AT + i] = (uint8_t)(random >> 56);
        }
        for (unsigned i = 0; i < DATA_SIZE / 4; i++)
            made_u32(made, DATA_AT + 4 * i, case_at(i % 16) - DATA_AT);
        for (unsigned i = 0; i < 4; i++) { /* the code of a switch at a random place */
            made->at = FUNCTION + 48 * i;
            load_address(made, DATA_AT + 16 * i);
            jump_relative(made);
        }
        made_module_map(made, NULL, 0);
        const struct fragment_flow *flow =
            &made->module.flows[code_map_find(&made->module.map, FUNCTION)];
        for (size_t i = 0; i < flow->tables.n; i++) {
            const struct jump_table *table = &flow->tables.at[i];
            for (uint32_t k = 0; k < table->count; k++) {
                uint64_t target = flow->targets.at[table->first + k];
                assert_in_range(target, FUNCTION, FUNCTION_END - 1);
                assert_true(k == 0 || target > flow->targets.at[table->first + k - 1]);
            }
        }
    }
}
