/* The logical unwinder on made-up paths and a made-up agent: whatever the path before was, a path
 * is entered into the tree as its bichords say; and an agent that is deterministic is not asked as
 * long as what it read is the same. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/claims.h"
#include "hpcrun/logical/logical.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/thread/thread.h"

#include <gnu/libc-version.h>
#include <signal.h>
#include <sys/auxv.h>

struct process process;
struct sampling sampling;

void report_log(const struct text *text)
{
}

void report_error(const struct text *text)
{
}

void report_loss(const struct text *text)
{
}

/* Addresses in no module. An l-note's value, its site or both may be the address of its p-note. */
#define NATIVE  0x10000u
#define CLAIMED 0x20000u
#define SITES   CLAIMED
#define VALUES  (CLAIMED + 1)

#define MOST_FRAMES 12
#define MOST_NOTES  5

/* The agent's answer for each frame, if its pc is claimed. It reads this like a runtime's memory.
 */
static struct script {
    uint64_t association;
    uint64_t pnotes; /* at most */
    uint64_t lnotes;
    uint64_t notes[MOST_NOTES]; /* innermost first; site_of and value_of */
    uint64_t include_callees, include_libc, replaces_callers, is_innermost;
    uint64_t owner; /* agent_cursor.owner */
} script[MOST_FRAMES];

static uint64_t site_of(uint64_t note)
{
    return SITES + note % 3;
}

static uint64_t value_of(uint64_t note)
{
    return VALUES + note / 3;
}

/* Its answers for the thread. */
static uint32_t class, workers;

static const struct agent_host *host;
static uint32_t asked; /* number of calls of the agent */

struct state {
    uint64_t at, taken, said, from_begin;
};
#define BEGUN 77

static bool start(const struct agent_host *its)
{
    host = its;
    return host != NULL;
}

static enum agent_thread_status unwind_begin(struct agent_cursor *cursor)
{
    asked++;
    ((struct state *)cursor->state)->from_begin = BEGUN;
    return (enum agent_thread_status)agent_u32(host, cursor, (uint64_t) & class);
}

static struct agent_worker_counts worker_counts(struct agent_cursor *cursor)
{
    asked++;
    return (struct agent_worker_counts){.workers = agent_u32(host, cursor, (uint64_t)&workers)};
}

static const struct agent asked_always;
static const struct unwinder *sampled;
static uint64_t trampoline; /* pc of a signal frame */

/* The callee of a frame is the next one inwards. A signal handler was not called by it. */
static void check_callee(const struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct agent_frame callee;
    bool has_callee = frame->sp + 1 < sampled->depth &&
                      (!trampoline || sampled->path[frame->sp + 1].pc != trampoline);
    assert_int_equal(host->callee(cursor, &callee), has_callee);
    assert_true(!has_callee || callee.sp == frame->sp + 1);
}

/* In this test a frame's sp is its index. */
static enum agent_association step_bichord(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    asked++;
    assert_int_equal(state->from_begin, BEGUN);
    *state = (struct state){frame->sp, .taken = 1, .said = 0, .from_begin = BEGUN};
    if (agents.at[0] == &asked_always)
        check_callee(cursor, frame);
    cursor->include_callees = agent_u64(host, cursor, (uint64_t)&script[frame->sp].include_callees);
    cursor->include_libc = agent_u64(host, cursor, (uint64_t)&script[frame->sp].include_libc);
    cursor->replaces_callers =
        agent_u64(host, cursor, (uint64_t)&script[frame->sp].replaces_callers);
    cursor->is_innermost = agent_u64(host, cursor, (uint64_t)&script[frame->sp].is_innermost);
    uint64_t owner = agent_u64(host, cursor, (uint64_t)&script[frame->sp].owner);
    cursor->owner = owner ? owner : cursor->owner;
    return (enum agent_association)agent_u64(host, cursor,
                                             (uint64_t)&script[frame->sp].association);
}

static bool step_pnote(struct agent_cursor *cursor, const struct agent_frame *frame)
{
    struct state *state = cursor->state;
    assert_int_equal(frame->sp, state->at - state->taken);
    return state->taken++ < agent_u64(host, cursor, (uint64_t)&script[state->at].pnotes);
}

static bool step_lnote(struct agent_cursor *cursor, struct agent_lnote *note)
{
    struct state *state = cursor->state;
    const struct script *its = &script[state->at];
    uint64_t said = state->said++;
    if (said == agent_u64(host, cursor, (uint64_t)&its->lnotes))
        return false;
    uint64_t its_note = agent_u64(host, cursor, (uint64_t)&its->notes[said]);
    *note = (struct agent_lnote){.value = value_of(its_note), .site = site_of(its_note)};
    return true;
}

#define AGENT(is_deterministic)                                                                    \
    {                                                                                              \
        .interface = AGENT_INTERFACE, .start = start, .deterministic = (is_deterministic),         \
        .state_bytes = sizeof(struct state), .unwind_begin = unwind_begin,                         \
        .worker_counts = worker_counts, .step_bichord = step_bichord, .step_pnote = step_pnote,    \
        .step_lnote = step_lnote                                                                   \
    }

static const struct agent asked_always = AGENT(false), asked_seldom = AGENT(true);

static unsigned choose(unsigned limit)
{
    return (unsigned)rand() % limit;
}

/* A thread with index 1, none, and a thread of the process that forked this one. */
static const uint64_t owners[] = {2, 0, (uint64_t)1 << 32 | 2};

static void make_script(struct script *s)
{
    *s = (struct script){.association = choose(5), .pnotes = 1, .owner = owners[choose(3)]};
    if (s->association == AGENT_M_0 || s->association == AGENT_M_1)
        s->pnotes = 1 + choose(3);
    if (s->association == AGENT_1_M) {
        s->lnotes = 1 + choose(MOST_NOTES);
        s->replaces_callers = choose(2);
        s->is_innermost = choose(2);
    } else if (s->association == AGENT_1_1 || s->association == AGENT_M_1)
        s->lnotes = 1;
    else
        s->include_callees = choose(2);
    for (uint32_t i = 0; i < s->lnotes; i++)
        s->notes[i] = choose(6);
}

/* The slot of the thread with index 1. In this test, all frames are on its stack, or on none. */
static struct agent_slot *other;

static bool is_borrowed(const struct unwinder *u)
{
    return u->depth > 0 && u->stack_low == u->stack_high && atomic_load(&other->stack_high) > 0;
}

static void change_stacks(struct unwinder *u)
{
    atomic_store(&other->stack_high, choose(2) * MOST_FRAMES);
    u->stack_high = choose(4) ? 0 : MOST_FRAMES;
}

/* Replaces the path by one that keeps some of its outermost frames, and changes what the agent says
 * of some frames, kept or not. */
static void change(struct unwinder *u)
{
    u->reused = choose(u->depth + 1);
    u->depth = u->reused + choose(MOST_FRAMES - u->reused + 1);
    for (uint32_t i = u->reused; i < u->depth; i++) {
        u->path[i] = (struct frame){.pc = (choose(2) ? NATIVE : CLAIMED) + choose(3), .sp = i};
        make_script(&script[i]);
    }
    if (u->depth > 0 && choose(2))
        make_script(&script[choose(u->depth)]);
    if (choose(4) == 0)
        change_stacks(u);
}

/* An expected note of the tree. */
struct expected {
    uint64_t ip;          /* 0: none */
    struct lnote lip;     /* zeros: none */
    uint32_t association; /* of its bichord */
    bool first;
};

static uint64_t ip_of(uint64_t address)
{
    return IP_NO_MODULE | address;
}

/* The l-note i of a bichord, 0 being the innermost. The one outside of those that the agent says is
 * the owner. */
static struct lnote lnote_of(const struct script *s, uint64_t i)
{
    return i < s->lnotes ? (struct lnote){ip_of(value_of(s->notes[i])), ip_of(site_of(s->notes[i]))}
                         : (struct lnote){ip_placeholder(PLACEHOLDER_STACK_OF + 1), 0};
}

/* The notes of the path, innermost first. */
static uint32_t expect(const struct unwinder *u, struct expected *notes)
{
    uint32_t count = 0, callees = 0; /* these begin after the last bichord */
    for (uint32_t i = u->depth; i > 0;) {
        uint64_t pc = u->path[--i].pc;
        if (pc < CLAIMED) {
            notes[count++] = (struct expected){ip_of(pc), {ip_of(pc), ip_of(pc)}, AGENT_1_1, true};
            continue;
        }
        const struct script *s = &script[i];
        uint32_t p = s->pnotes < i + 1 ? (uint32_t)s->pnotes : i + 1;
        uint32_t l = (uint32_t)s->lnotes + (s->lnotes && s->owner == owners[0]);
        uint32_t size = p > l ? p : l;
        uint32_t association = s->include_callees && callees < count ? AGENT_M_0 : s->association;
        for (; s->include_callees && callees < count; callees++)
            notes[callees] = (struct expected){.ip = notes[callees].ip, .association = AGENT_M_0};
        i -= p - 1;
        for (uint32_t k = size; k > 0; k--) { /* k-th from outside */
            notes[count] = (struct expected){.first = k == 1, .association = association};
            if (s->is_innermost && k == size)
                notes[count].ip = ip_of(u->path[i].pc);
            else if (!s->is_innermost && k <= p)
                notes[count].ip = ip_of(u->path[i + k - 1].pc);
            if (k <= l)
                notes[count].lip = lnote_of(s, l - k);
            count++;
        }
        callees = count;
        for (; s->replaces_callers && i > 0; i--)
            notes[count++] = (struct expected){
                .ip = ip_of(u->path[i - 1].pc), .association = AGENT_M_0, .first = i == 1};
    }
    if (is_borrowed(u))
        notes[count++] = (struct expected){.lip = {ip_placeholder(PLACEHOLDER_STACK_OF + 1), 0},
                                           .association = AGENT_1_M,
                                           .first = true};
    return count;
}

static struct lnote lip_of(const struct thread *thread, const struct cct_node *node)
{
    if (node->lip == LIP_IS_IP)
        return (struct lnote){node->ip, node->ip};
    return node->lip == LIP_NONE ? (struct lnote){0}
                                 : *lnotes_get(&thread->logical.lnotes, node->lip);
}

static void check(const struct thread *thread, uint32_t node)
{
    struct expected notes[2 * MOST_FRAMES * MOST_NOTES];
    uint32_t count = expect(&thread->unwinder, notes);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_not_equal(node, CCT_ROOT);
        const struct cct_node *found = cct_node(&thread->cct, node);
        assert_int_equal(found->ip, notes[i].ip);
        struct lnote lip = lip_of(thread, found);
        assert_int_equal(lip.value, notes[i].lip.value);
        assert_int_equal(lip.site, notes[i].lip.site);
        assert_int_equal(found->first, notes[i].first);
        assert_true(found->seen & 1u << notes[i].association);
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

static void use(const struct agent *agent)
{
    agents.at[0] = agent;
    atomic_fetch_add(&agents.epoch, 1);
}

/* Takes a sample; returns the path's node. */
static uint32_t sample(struct thread *thread)
{
    struct agent_query *query = &thread->logical.query;
    sampled = &thread->unwinder;
    const struct thread_status *status = agent_query_status(query, &thread->unwinder, 1);
    assert_int_equal(status->kind, class);
    assert_int_equal(status->counts.workers, class == AGENT_FOREIGN ? 0 : workers);
    return logical_enter(&thread->logical, &thread->unwinder, &thread->cct, UNWIND_COMPLETE,
                         agent_query_path(query));
}

static void free_thread(struct thread *thread)
{
    cct_free(&thread->cct);
    logical_free(&thread->logical);
    sys_pages_free(thread->unwinder.cache, sizeof *thread->unwinder.cache);
    sys_pages_free(thread->unwinder.path, UNWIND_FRAMES * sizeof(struct frame));
    sys_pages_free(thread, sizeof *thread);
}

static void enter_paths(const struct agent *agent)
{
    use(agent);
    for (int round = 0; round < 10; round++) {
        struct thread *thread = new_thread();
        for (int i = 0; i < 500; i++) {
            change(&thread->unwinder);
            class = choose(2) ? AGENT_WORKING : AGENT_FOREIGN;
            workers = choose(3);
            check(thread, sample(thread));
        }
        assert_in_range(cct_end(&thread->cct), 100, 1 << 20); /* paths did differ */
        free_thread(thread);
    }
}

TEST(every_path_is_entered_as_it_is)
{
    srand(1);
    enter_paths(&asked_always);
    enter_paths(&asked_seldom);
}

/* How often the agent is asked at a sample of a path whose outermost `kept` frames are as before,
 * and whose new ones have these pcs. */
static uint32_t asked_at(struct thread *thread, uint32_t kept, uint64_t new_pc)
{
    struct unwinder *u = &thread->unwinder;
    u->reused = kept;
    u->depth = kept + 2;
    for (uint32_t i = kept; i < u->depth; i++)
        u->path[i] = (struct frame){.pc = new_pc, .sp = i};
    asked = 0;
    check(thread, sample(thread));
    return asked;
}

TEST(what_is_the_same_is_not_asked)
{
    struct thread *thread = new_thread();
    use(&asked_seldom);
    class = AGENT_WORKING;
    workers = 2;
    for (uint32_t i = 0; i < MOST_FRAMES; i++)
        script[i] =
            (struct script){.association = AGENT_1_M, .pnotes = 1, .lnotes = 2, .notes = {0, i}};
    assert_int_equal(asked_at(thread, 0, CLAIMED), 4); /* begin, counts, two bichords */
    assert_int_equal(asked_at(thread, 2, NATIVE), 0);
    assert_int_equal(asked_at(thread, 3, NATIVE + 1), 0);
    script[1].notes[1]++;
    assert_int_equal(asked_at(thread, 2, NATIVE), 2);
    assert_int_equal(asked_at(thread, 2, NATIVE), 0);
    workers++;
    assert_int_equal(asked_at(thread, 2, NATIVE), 1);
    class = AGENT_FOREIGN;
    assert_int_equal(asked_at(thread, 2, NATIVE), 1);
    class = AGENT_WORKING;
    assert_int_equal(asked_at(thread, 2, NATIVE), 2);
    assert_int_equal(asked_at(thread, 2, CLAIMED), 4); /* a new claimed frame */
    assert_int_equal(asked_at(thread, 1, NATIVE), 1);  /* it is gone, and there is another one */
    assert_int_equal(asked_at(thread, 1, NATIVE), 0);
    use(&asked_seldom); /* modules have changed */
    assert_int_equal(asked_at(thread, 1, NATIVE), 3);
    use(&asked_always);
    assert_int_equal(asked_at(thread, 1, NATIVE), 3);
    assert_int_equal(asked_at(thread, 1, NATIVE), 3);
    free_thread(thread);
}

/* ---- an agent that follows a list without an end, as in memory that is no longer its runtime's ---- */

static enum { NOWHERE, IN_STATUS, IN_COUNTS, IN_PATH } endless;
static uint64_t circle[2];

static void follow(const struct agent_cursor *cursor, unsigned where)
{
    uint64_t at = (uint64_t)circle;
    while (endless == where)
        at = agent_u64(host, cursor, at);
}

static enum agent_thread_status begin_endless(struct agent_cursor *cursor)
{
    follow(cursor, IN_STATUS);
    return AGENT_WORKING;
}

static struct agent_worker_counts count_endless(struct agent_cursor *cursor)
{
    follow(cursor, IN_COUNTS);
    return (struct agent_worker_counts){.workers = 3};
}

static enum agent_association step_endless(struct agent_cursor *cursor,
                                           const struct agent_frame *frame)
{
    follow(cursor, IN_PATH);
    return AGENT_1_0;
}

TEST(an_agent_that_does_not_end_is_left)
{
    const struct agent agent = {.interface = AGENT_INTERFACE,
                                .start = start,
                                .unwind_begin = begin_endless,
                                .worker_counts = count_endless,
                                .step_bichord = step_endless};
    struct thread *thread = new_thread();
    struct unwinder *u = &thread->unwinder;
    struct agent_query *query = &thread->logical.query;
    circle[0] = (uint64_t)&circle[1];
    circle[1] = (uint64_t)circle;
    use(&agent);
    for (endless = NOWHERE; endless <= IN_PATH; endless++) {
        u->reused = 0;
        u->depth = 2;
        u->path[0] = (struct frame){.pc = CLAIMED, .sp = 0};
        u->path[1] = (struct frame){.pc = NATIVE, .sp = 1};
        const struct thread_status *status = agent_query_status(query, u, 1);
        bool is_known = endless == NOWHERE || endless == IN_PATH;
        assert_int_equal(status->kind, is_known ? AGENT_WORKING : AGENT_FOREIGN);
        assert_int_equal(status->counts.workers, is_known ? 3 : 0);
        agent_query_path(query);
        assert_int_equal(query->current->count, endless == NOWHERE);
    }
    free_thread(thread);
}

static void on_signal(int signal)
{
    trampoline = (uint64_t)__builtin_return_address(0) - 1;
}

/* include_callees ends at a signal frame: the handler is the program's. */
TEST(callees_are_taken_up_to_a_signal)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    struct thread *thread = new_thread();
    struct unwinder *u = &thread->unwinder;
    use(&asked_always);
    class = AGENT_WORKING;
    script[1] = (struct script){.association = AGENT_1_0, .pnotes = 1, .include_callees = true};
    for (int i = 0; i < 2; i++) {
        u->depth = 4;
        u->path[0] = (struct frame){.pc = NATIVE, .sp = 0};
        u->path[1] = (struct frame){.pc = CLAIMED, .sp = 1};
        u->path[2] = (struct frame){.pc = i == 0 ? NATIVE : trampoline, .sp = 2};
        u->path[3] = (struct frame){.pc = NATIVE, .sp = 3};
        const struct cct_node *leaf = cct_node(&thread->cct, sample(thread));
        assert_int_equal(leaf->lip, i == 0 ? LIP_NONE : LIP_IS_IP);
        assert_int_equal(leaf->association, i == 0 ? AGENT_M_0 : AGENT_1_1);
        assert_int_equal(cct_node(&thread->cct, u->path[1].node)->lip, LIP_NONE);
    }
    free_thread(thread);
}

/* include_libc: a runtime that also calls user code includes the frames of libc that it has called.
 */
TEST(functions_of_libc_are_taken)
{
    struct thread *thread = new_thread();
    struct unwinder *u = &thread->unwinder;
    const uint64_t libc = (uint64_t)gnu_get_libc_version; /* not a sanitizer's own */
    const struct {
        uint64_t inner[2]; /* callees of the claimed frame */
        bool is_taken[2];
    } cases[] = {{{libc, libc + 1}, {true, true}},
                 {{libc, NATIVE}, {true, false}}, /* qsort and the user's comparison */
                 {{NATIVE, libc}, {false, false}} /* the user's hook */};
    use(&asked_always);
    class = AGENT_WORKING;
    script[1] = (struct script){.association = AGENT_1_0, .pnotes = 1, .include_libc = true};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        u->depth = 4;
        u->path[0] = (struct frame){.pc = NATIVE, .sp = 0};
        u->path[1] = (struct frame){.pc = CLAIMED, .sp = 1};
        for (unsigned k = 0; k < 2; k++)
            u->path[2 + k] = (struct frame){.pc = cases[i].inner[k], .sp = 2 + k};
        sample(thread);
        for (unsigned k = 0; k < 2; k++) {
            const struct cct_node *node = cct_node(&thread->cct, u->path[2 + k].node);
            assert_int_equal(node->lip == LIP_NONE, cases[i].is_taken[k]);
            assert_int_equal(node->association, cases[i].is_taken[k] ? AGENT_M_0 : AGENT_1_1);
        }
    }
    free_thread(thread);
}

static int install_agent(void **state)
{
    use(&asked_always);
    asked_always.start(host_for_agents());
    atomic_store(&agents.count, 1);
    const struct agent_claim claim = {CLAIMED, CLAIMED + 100, 0};
    const struct known_code known = {.libc = (uintptr_t)getauxval, .own = (uintptr_t)&process};
    return modules_init("/nowhere", &known) && claims_add(0, &claim, 1) ? 0 : -1;
}

static int prepare(void **state)
{
    slot_take(1, 1, 0, 0);
    other = own_slot;
    own_slot = NULL;
    return install_agent(state);
}

ALL_TESTS(prepare, NULL);
