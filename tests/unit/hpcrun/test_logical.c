/* The logical unwinder on made-up paths and a made-up agent: whatever the path before was, a path
 * is entered into the tree as its bichords say. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/code/modules.h"
#include "hpcrun/logical/logical.h"
#include "hpcrun/process.h"
#include "hpcrun/thread.h"

#include <stdlib.h>
#include <string.h>

struct process process;
struct sampling sampling;
struct agents agents;

/* Addresses in no module. */
#define NATIVE  0x10000u
#define CLAIMED 0x20000u
#define SITES   0x30000u

#define MOST_FRAMES 12
#define MOST_NOTES  5

/* What the agent will say of each frame, if its pc is claimed. */
static struct script {
    enum agent_association association;
    uint32_t pnotes; /* at most */
    uint32_t lnotes;
    uint64_t sites[MOST_NOTES]; /* innermost first */
} script[MOST_FRAMES];

static uint32_t taken, said, at;

static bool start(const struct agent_host *host)
{
    return host != NULL;
}

static enum agent_thread begin(struct agent_cursor *cursor)
{
    (void)cursor;
    return AGENT_WORKING;
}

/* A frame's sp is its index here. */
static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    (void)cursor;
    at = (uint32_t)frame->sp;
    taken = 1;
    said = 0;
    return script[at].association;
}

static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    (void)cursor;
    assert_int_equal(frame->sp, at - taken);
    return taken++ < script[at].pnotes;
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    (void)cursor;
    if (said == script[at].lnotes)
        return false;
    *note = (struct agent_lnote){.value = script[at].sites[said], .site = script[at].sites[said]};
    said++;
    return true;
}

static const struct agent fake = {
    .interface = AGENT_INTERFACE,
    .start = start,
    .begin = begin,
    .step_bichord = step_bichord,
    .step_pnote = step_pnote,
    .step_lnote = step_lnote,
};

static unsigned choose(unsigned limit)
{
    return (unsigned)rand() % limit;
}

static void make_script(struct script *s)
{
    *s = (struct script){.association = (enum agent_association)choose(5), .pnotes = 1};
    if (s->association == AGENT_M_0 || s->association == AGENT_M_1)
        s->pnotes = 1 + choose(3);
    if (s->association == AGENT_1_M)
        s->lnotes = 1 + choose(MOST_NOTES);
    else if (s->association == AGENT_1_1 || s->association == AGENT_M_1)
        s->lnotes = 1;
    for (uint32_t i = 0; i < s->lnotes; i++)
        s->sites[i] = SITES + choose(3);
}

/* Replaces the path by one that keeps some of its outermost frames, and changes what the agent says
 * of some frames, kept or not. */
static void change(struct unwinder *u)
{
    u->kept = choose(u->depth + 1);
    u->depth = u->kept + choose(MOST_FRAMES - u->kept + 1);
    for (uint32_t i = u->kept; i < u->depth; i++) {
        u->path[i] = (struct frame){.pc = (choose(2) ? NATIVE : CLAIMED) + choose(3), .sp = i};
        make_script(&script[i]);
    }
    if (u->depth > 0 && choose(2))
        make_script(&script[choose(u->depth)]);
}

/* A note as it must stand in the tree. */
struct expected {
    uint64_t ip, lip; /* 0: none */
    bool first;
};

static uint64_t ip_of(uint64_t address)
{
    return IP_NO_MODULE | address;
}

/* The notes of the path, innermost first. */
static uint32_t expect(const struct unwinder *u, struct expected *notes)
{
    uint32_t count = 0;
    for (uint32_t i = u->depth; i > 0;) {
        uint64_t pc = u->path[--i].pc;
        if (pc < CLAIMED) {
            notes[count++] = (struct expected){ip_of(pc), ip_of(pc), true};
            continue;
        }
        const struct script *s = &script[i];
        uint32_t p = s->pnotes < i + 1 ? s->pnotes : i + 1;
        uint32_t size = p > s->lnotes ? p : s->lnotes;
        i -= p - 1;
        for (uint32_t k = size; k > 0; k--) { /* k-th from outside */
            notes[count] = (struct expected){.first = k == 1};
            if (k <= p)
                notes[count].ip = ip_of(u->path[i + k - 1].pc);
            if (k <= s->lnotes)
                notes[count].lip = ip_of(s->sites[s->lnotes - k]);
            count++;
        }
    }
    return count;
}

static uint64_t lip_of(const struct thread *thread, const struct cct_node *node)
{
    if (node->lip == LIP_IS_IP)
        return node->ip;
    return node->lip == LIP_NONE ? 0 : lnotes_get(&thread->logical.lnotes, node->lip)->value;
}

static void check(const struct thread *thread, uint32_t node)
{
    struct expected notes[2 * MOST_FRAMES * MOST_NOTES];
    uint32_t count = expect(&thread->unwinder, notes);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_not_equal(node, CCT_ROOT);
        const struct cct_node *found = cct_node(&thread->cct, node);
        assert_int_equal(found->ip, notes[i].ip);
        assert_int_equal(lip_of(thread, found), notes[i].lip);
        assert_int_equal(found->first, notes[i].first);
        node = found->parent;
    }
    assert_int_equal(node, CCT_ROOT);
}

static struct thread *new_thread(void)
{
    struct thread *thread = sys_pages(sizeof *thread);
    thread->unwinder.cache = sys_pages(sizeof *thread->unwinder.cache);
    thread->unwinder.path = sys_pages(UNWIND_FRAMES * sizeof(struct frame));
    cct_init(&thread->cct, 1);
    return thread;
}

static void every_path_is_entered_as_it_is(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 50; round++) {
        struct thread *thread = new_thread();
        for (int sample = 0; sample < 2000; sample++) {
            change(&thread->unwinder);
            assert_int_equal(logical_stance(thread).class, AGENT_WORKING);
            check(thread, logical_enter(thread, UNWIND_COMPLETE));
        }
        assert_in_range(cct_end(&thread->cct), 100, 1 << 20); /* paths did differ */
        cct_free(&thread->cct);
        logical_free(&thread->logical);
    }
}

static void claims_are_found_and_given_up(void **state)
{
    (void)state;
    assert_false(agents_claim(0, CLAIMED + 50, CLAIMED + 150)); /* overlaps */
    assert_false(agents_claim(0, CLAIMED + 500, CLAIMED + 500));
    for (uint64_t i = 0; i < 100; i++)
        assert_true(
            agents_claim(1 + i % 3, 0x100000 + i * 37 % 100 * 32, 0x100010 + i * 37 % 100 * 32));
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(agents_of(0x100000 + i * 37 % 100 * 32), 1 + i % 3);
        assert_int_equal(agents_of(0x10000f + i * 37 % 100 * 32), 1 + i % 3);
        assert_int_equal(agents_of(0x100010 + i * 37 % 100 * 32), -1);
    }
    agents_give_up(0x100000, 0x100000 + 50 * 32);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(agents_of(0x100000 + i * 32) >= 0, i >= 50);
    assert_int_equal(agents_of(CLAIMED), 0);
}

static void l_notes_are_one_each(void **state)
{
    (void)state;
    struct lnotes lnotes = {0};
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            struct lnote note = {.value = i / 7, .site = i % 7};
            uint32_t lip = lnotes_lip(&lnotes, note);
            assert_int_equal(lip, LIP_OWN + i);
            assert_int_equal(lnotes_get(&lnotes, lip)->value, note.value);
            assert_int_equal(lnotes_get(&lnotes, lip)->site, note.site);
        }
    lnotes_free(&lnotes);
}

static int install_agent(void **state)
{
    (void)state;
    agents.at[0] = &fake;
    atomic_store(&agents.count, 1);
    return modules_init("/nowhere", &process) && agents_claim(0, CLAIMED, CLAIMED + 100) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_is_entered_as_it_is),
        cmocka_unit_test(claims_are_found_and_given_up),
        cmocka_unit_test(l_notes_are_one_each),
    };
    return cmocka_run_group_tests(tests, install_agent, NULL);
}
