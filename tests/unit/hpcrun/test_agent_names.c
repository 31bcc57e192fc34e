/* hpcrun/logical/agent-names.h: names are copied at their first sight, and known again by their keys. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/agent-names.h"
#include "hpcrun/logical/agent-table.h"

#include <pthread.h>
#include <sys/mman.h>

struct agents agents; /* of hpcrun/logical/agent-table.h */

/* Reads without a fault handler go through the kernel. */
static struct memory memory = {.guard = MEMORY_GUARD_KERNEL, .budget = 1 << 30};

static struct agent_text latin(const char *text)
{
    return (struct agent_text){(uint64_t)(uintptr_t)text, (uint32_t)strlen(text), 1};
}

static struct agent_name name_of(uint64_t key, const char *procedure)
{
    return (struct agent_name){
        .key = {key}, .procedure = latin(procedure), .file = latin("m.py"), .line = 5};
}

static const struct named_code *find(uint32_t number)
{
    const struct named_code *at = agent_names_newest();
    while (at && at->number != number)
        at = at->older;
    assert_non_null(at);
    return at;
}

TEST(a_name_is_known_by_its_whole_key)
{
    struct agent_name first = name_of(0x1000, "first"), second = name_of(0x1000, "second");
    uint32_t news = atomic_load(&agents.news);
    uint32_t number = agent_names_number(0, &first, &memory);
    assert_int_not_equal(number, 0);
    assert_int_not_equal(atomic_load(&agents.news), news);
    assert_int_equal(agent_names_number(0, &first, &memory), number);
    second.key[AGENT_NAME_KEY - 1] = 1; /* the first one was freed */
    uint32_t other = agent_names_number(0, &second, &memory);
    assert_int_not_equal(other, number);
    assert_int_not_equal(agent_names_number(1, &first, &memory), number); /* another agent's */
    assert_string_equal(find(number)->procedure, "first");
    assert_string_equal(find(number)->file, "m.py");
    assert_int_equal(find(number)->line, 5);
    assert_string_equal(find(other)->procedure, "second");
}

TEST(texts_are_copied_as_utf_8)
{
    static const uint16_t narrow[] = {'f', 0xe9, 0x20ac, 0xd800, 0};
    static const uint32_t wide[] = {0x1f40d, 'x', 0x110000};
    struct agent_name name = name_of(0x2000, "\xe9t\xe9");
    assert_string_equal(find(agent_names_number(0, &name, &memory))->procedure, "\u00e9t\u00e9");
    name = name_of(0x2010, "");
    name.procedure = (struct agent_text){(uint64_t)(uintptr_t)narrow, 5, 2};
    assert_string_equal(find(agent_names_number(0, &name, &memory))->procedure, "f\u00e9\u20ac??");
    name = name_of(0x2020, "");
    name.procedure = (struct agent_text){(uint64_t)(uintptr_t)wide, 3, 4};
    assert_string_equal(find(agent_names_number(0, &name, &memory))->procedure, "\U0001f40dx?");
    name = name_of(0x2030, "");
    name.procedure.width = 3;
    assert_int_equal(agent_names_number(0, &name, &memory), 0);
}

TEST(a_copy_has_the_characters_that_fit)
{
    char copy[9];
    struct agent_text text = latin("ab\xe9");
    agent_names_copy(&text, &memory, copy, sizeof copy);
    assert_string_equal(copy, "ab\u00e9");
    text = latin("\xe9\xe9\xe9\xe9\xe9");
    agent_names_copy(&text, &memory, copy, sizeof copy);
    assert_string_equal(copy, "\u00e9\u00e9\u00e9\u00e9");
    text = latin("abcdefghi");
    agent_names_copy(&text, &memory, copy, sizeof copy);
    assert_string_equal(copy, "abcdefgh");
    text = latin("abcdefg\xe9h");
    agent_names_copy(&text, &memory, copy, sizeof copy);
    assert_string_equal(copy, "abcdefg");
    text.at = 8;
    agent_names_copy(&text, &memory, copy, sizeof copy);
    assert_string_equal(copy, "");
}

TEST(what_cannot_be_read_has_no_name)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    memset(page, 'a', 4096);
    assert_int_equal(munmap(page + 4096, 4096), 0);
    struct agent_name name = name_of(0x3000, "f");
    name.procedure = (struct agent_text){(uint64_t)(uintptr_t)page + 4000, 200, 1};
    assert_int_equal(agent_names_number(0, &name, &memory), 0);
    name.procedure.length = 96;
    uint32_t number = agent_names_number(0, &name, &memory);
    assert_int_equal(strlen(find(number)->procedure), 96);
    munmap(page, 4096);
}

/* From outside, a sample may have the texts and not the table. Names have 64 MiB, from which each attempt would take
 * more than 4,000 bytes. */
TEST(a_name_waits_for_its_line_table)
{
    uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    memset(page, 'a', 8192);
    struct agent_name name = name_of(0x3010, "f");
    name.lines = AGENT_LINES_PYTHON;
    name.table = (uint64_t)(uintptr_t)page;
    name.table_bytes = 4100;
    assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
    for (int i = 0; i < (64 << 20) / 4000; i++)
        assert_int_equal(agent_names_number(0, &name, &memory), 0);
    assert_int_equal(mprotect(page + 4096, 4096, PROT_READ), 0);
    const struct named_code *found = find(agent_names_number(0, &name, &memory));
    assert_int_equal(found->table_bytes, 4100);
    assert_memory_equal(found->table, page, 4100);
    munmap(page, 8192);
}

/* Names have 64 MiB, from which each attempt at this one would take more than 128 bytes. */
TEST(a_name_without_a_width_takes_no_memory)
{
    struct agent_name name = name_of(0x3020, "f");
    name.file.width = 0;
    for (int i = 0; i < (64 << 20) / 128; i++)
        assert_int_equal(agent_names_number(0, &name, &memory), 0);
    name.file.width = 1;
    assert_int_not_equal(agent_names_number(0, &name, &memory), 0);
}

TEST(line_tables_are_copied)
{
    static uint8_t bytes[200000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    struct agent_name name = name_of(0x4000, "f");
    name.lines = AGENT_LINES_PYTHON;
    name.table = (uint64_t)(uintptr_t)bytes;
    name.table_bytes = sizeof bytes;
    const struct named_code *found = find(agent_names_number(0, &name, &memory));
    assert_int_equal(found->table_bytes, sizeof bytes);
    assert_memory_equal(found->table, bytes, sizeof bytes);
    assert_int_equal(found->lines, AGENT_LINES_PYTHON);
}

enum { THREADS = 4, EACH = 5000 };

static void *add_names(void *data)
{
    struct memory own = memory;
    for (uint64_t i = 0; i < EACH; i++) {
        struct agent_name name = name_of(0x100000 + i, "shared");
        if (!agent_names_number(2, &name, &own))
            return "no number";
    }
    return NULL;
}

/* Every name is in the list, once for each thread at most. */
TEST(threads_add_names_at_the_same_time)
{
    pthread_t threads[THREADS];
    static uint8_t seen[EACH];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_names, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failure;
        pthread_join(threads[i], &failure);
        assert_null(failure);
    }
    for (const struct named_code *at = agent_names_newest(); at; at = at->older)
        if (at->agent == 2) {
            assert_string_equal(at->procedure, "shared");
            seen[at->key[0] - 0x100000]++;
        }
    for (int i = 0; i < EACH; i++)
        assert_in_range(seen[i], 1, THREADS);
}
