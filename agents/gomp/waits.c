/* Functions of libgomp in which a thread waits for others: barriers, ends of worksharing, waiting
 * for tasks, ordered blocks, critical sections, locks. The thread's state says so meanwhile. */
#include "agents/common/lock-wakers.h"
#include "agents/common/team-waits.h"
#include "agents/gomp/gomp-copies.h"

/* In a wrapper: the caller's functions, and the thread waits from here on: for its team, or (IDLE) for
 * others, without taking tasks. */
#define BEGIN_WAIT(what)                                                                           \
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                             \
    struct agent_slot *slot = slot_mine();                                                         \
    slot_set_state(slot, AGENT_SLOT_##what)
#define END_WAIT slot_set_state(slot, AGENT_SLOT_WORKING)

/* The same at a barrier of the team. */
#define BEGIN_BARRIER                                                                              \
    BEGIN_WAIT(BARRIER);                                                                           \
    team_arrives(&slot->gomp)
#define END_BARRIER                                                                                \
    END_WAIT;                                                                                      \
    team_goes_on(&slot->gomp)

#define TEAM_WAIT(type, name, parameters)                                                          \
    void name(void)                                                                                \
    {                                                                                              \
        BEGIN_BARRIER;                                                                             \
        real->name();                                                                              \
        END_BARRIER;                                                                               \
    }
#define TURN_WAIT(type, name, parameters)                                                          \
    void name(void)                                                                                \
    {                                                                                              \
        BEGIN_WAIT(IDLE);                                                                          \
        real->name();                                                                              \
        END_WAIT;                                                                                  \
    }
GOMP_TEAM_WAITS(TEAM_WAIT)
GOMP_TURN_WAITS(TURN_WAIT)

#define TASK_WAIT(type, name, parameters)                                                          \
    type name(void)                                                                                \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        struct agent_slot *slot = slot_mine();                                                     \
        struct body_link *link = slot->gomp.link;                                                  \
        wait_for_tasks(slot, &slot->gomp);                                                         \
        children_awaited(&slot->gomp, link ? link->record : NULL);                                 \
        real->name();                                                                              \
        END_WAIT;                                                                                  \
        children_ended(&slot->gomp, link ? link->record : NULL);                                   \
        AFTER_##name;                                                                              \
    }
#define AFTER_GOMP_taskwait      (void)0
#define AFTER_GOMP_taskgroup_end group_end(&slot->gomp, link)
GOMP_TASK_WAITS(TASK_WAIT)

#define BOOL_WAIT(type, name, parameters)                                                          \
    type name(void)                                                                                \
    {                                                                                              \
        BEGIN_BARRIER;                                                                             \
        type result = real->name();                                                                \
        END_BARRIER;                                                                               \
        return result;                                                                             \
    }
GOMP_BOOL_WAITS(BOOL_WAIT)

#define ORDERED_LOOP(type, name, parameters)                                                       \
    type name(void *start, void *end)                                                              \
    {                                                                                              \
        BEGIN_WAIT(IDLE);                                                                          \
        type result = real->name(start, end);                                                      \
        END_WAIT;                                                                                  \
        return result;                                                                             \
    }
GOMP_ORDERED_LOOPS(ORDERED_LOOP)

#define DOACROSS(type, name, parameters)                                                           \
    type name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,      \
              long k, long l)                                                                      \
    {                                                                                              \
        BEGIN_WAIT(IDLE);                                                                          \
        real->name(a, b, c, d, e, f, g, h, i, j, k, l);                                            \
        END_WAIT;                                                                                  \
    }
GOMP_DOACROSS(DOACROSS)

void *GOMP_single_copy_start(void)
{
    BEGIN_WAIT(BARRIER);
    void *result = real->GOMP_single_copy_start();
    END_WAIT;
    return result;
}

void GOMP_single_copy_end(void *data)
{
    BEGIN_WAIT(BARRIER);
    real->GOMP_single_copy_end(data);
    END_WAIT;
}

void GOMP_taskwait_depend(void **depend)
{
    BEGIN_WAIT(IDLE);
    real->GOMP_taskwait_depend(depend);
    END_WAIT;
}

void GOMP_workshare_task_reduction_unregister(bool is_cancelled)
{
    BEGIN_WAIT(BARRIER);
    real->GOMP_workshare_task_reduction_unregister(is_cancelled);
    END_WAIT;
}

/* -------- mutual exclusion --------
 *
 * A thread that enters a free critical section or takes a free lock does not wait. So libgomp's
 * functions that take a lock only if it is free are called first. Whether a lock looks free would
 * tell less: where many threads come at once, all see it free, and all but one wait.
 *
 * The mutex of a critical section is that of an omp_lock_t: one word. For the section without a name, and for atomic
 * operations, it is hidden in libgomp; the agent's own one, passed as that of a name, takes its place. */

/* `name`: that of hpctoolkit_waited_for_lock. */
static void enter_critical(const struct gomp_functions *real, void **mutex, const char *name)
{
    struct agent_slot *slot = slot_mine();
    if (!real->test_set_lock(mutex)) {
        uint64_t since = lock_wait_begins(slot, mutex);
        real->GOMP_critical_name_start(mutex);
        lock_wait_ended(slot, mutex, name, since);
    }
    held_note(slot, mutex);
}

void GOMP_critical_name_start(void **mutex)
{
    const struct gomp_functions *real = gomp_functions_for(CALLER_PC);
    if (real->is_traced)
        enter_critical(real, mutex, NULL);
    else
        real->GOMP_critical_name_start(mutex);
}

void GOMP_critical_name_end(void **mutex)
{
    lock_released(mutex);
    gomp_functions_for(CALLER_PC)->GOMP_critical_name_end(mutex);
}

/* A section that has no name. `field`: its mutex. */
#define UNNAMED(field, lock_name)                                                                  \
    void GOMP_##field##_start(void)                                                                \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        if (real->is_traced)                                                                       \
            enter_critical(real, real->field, lock_name);                                          \
        else                                                                                       \
            real->GOMP_##field##_start();                                                          \
    }                                                                                              \
    void GOMP_##field##_end(void)                                                                  \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        if (!real->is_traced) {                                                                    \
            real->GOMP_##field##_end();                                                            \
            return;                                                                                \
        }                                                                                          \
        lock_released(real->field);                                                                \
        real->GOMP_critical_name_end(real->field);                                                 \
    }
UNNAMED(critical, "<lock critical>")
UNNAMED(atomic, "<lock atomic>")

#define LOCK(symbol, field, test_symbol, version)                                                  \
    EXPORTED void gomp_agent_##field(void *lock);                                                  \
    __asm__(".symver gomp_agent_" #field ", " #symbol "@" version);                                \
    void gomp_agent_##field(void *lock)                                                            \
    {                                                                                              \
        const struct gomp_functions *real = gomp_functions_for(CALLER_PC);                         \
        struct agent_slot *slot = slot_mine();                                                     \
        if (!real->test_##field(lock)) {                                                           \
            uint64_t since = lock_wait_begins(slot, lock);                                         \
            real->field(lock);                                                                     \
            lock_wait_ended(slot, lock, NULL, since);                                              \
        }                                                                                          \
        held_note(slot, lock);                                                                     \
    }                                                                                              \
    EXPORTED int gomp_agent_test_##field(void *lock);                                              \
    __asm__(".symver gomp_agent_test_" #field ", " #test_symbol "@" version);                      \
    int gomp_agent_test_##field(void *lock)                                                        \
    {                                                                                              \
        int result = gomp_functions_for(CALLER_PC)->test_##field(lock);                            \
        if (result)                                                                                \
            held_note(slot_own(), lock);                                                           \
        return result;                                                                             \
    }
GOMP_LOCKS(LOCK)

#define UNLOCK(symbol, field, version)                                                             \
    EXPORTED void gomp_agent_##field(void *lock);                                                  \
    __asm__(".symver gomp_agent_" #field ", " #symbol "@" version);                                \
    void gomp_agent_##field(void *lock)                                                            \
    {                                                                                              \
        lock_released(lock);                                                                       \
        gomp_functions_for(CALLER_PC)->field(lock);                                                \
    }
GOMP_UNLOCKS(UNLOCK)
