#include "hpcrun/sample/lock-wait-record.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/agent-locks.h"
#include "hpcrun/logical/agent-names.h"
#include "hpcrun/logical/claims.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/own-path.h"

#include <string.h>

/* Number of a name table that is no agent's. */
#define LOCK_NAMES MAX_AGENTS

_Static_assert(AGENT_MAX_EVENTS == MAX_EVENTS, "slots have room for all events");

/* The l-note of a constant name, which can be read, also if the measured process is another one; 0: without memory. */
static uint32_t named_lip(struct thread *self, const char *constant)
{
    uint64_t at = (uint64_t)(uintptr_t)constant;
    const struct agent_name name = {
        .key = {at}, .procedure = {at, (uint32_t)strlen(constant), 1}, .file = {at, 0, 1}};
    struct memory own = {.guard = MEMORY_GUARD_ARMED};
    uint32_t number = agent_names_number(LOCK_NAMES, &name, &own);
    const struct lnote note = {ip_named(LOCK_NAMES, number), ip_named(LOCK_NAMES, 0)};
    return number ? lnotes_lip(&self->logical.lnotes, note) : 0;
}

/* The node, below that of the path, of a lock to which an agent has given a name. */
static uint32_t named_lock_node(struct thread *self, uint32_t path, const char *name)
{
    const struct cct_note note = {
        .ip = ip_placeholder(PLACEHOLDER_LOCK), .lip = named_lip(self, name), .first = true};
    return cct_child(&self->cct, path, &note);
}

uint32_t lock_node(struct thread *self, uint32_t path, uint64_t lock)
{
    const struct agent_lock *named = agent_lock_at((const volatile void *)(uintptr_t)lock);
    struct unwinder *u = &self->unwinder;
    struct cct_note note = {.ip = ip_placeholder(PLACEHOLDER_LOCK), .first = true};
    if (named)
        return named_lock_node(self, path, named->name);
    uint64_t ip = rule_cache_ask(&u->guard, rule_cache_ip, u->cache, lock);
    if (ip_instance(ip) != INSTANCE_NO_MODULE)
        note.ip = ip;
    return cct_child(&self->cct, path, &note);
}

uint32_t lock_kept_node(struct thread *self)
{
    const struct agent_lock *lock = atomic_load_explicit(&agent_lock, memory_order_acquire);
    const struct bichords *bichords = self->logical.query.current;
    const struct unwinder *u = &self->unwinder;
    if (!lock || !bichords || !bichords->count)
        return CCT_NO_MEMORY;
    uint32_t code = bichords->at[0].last, called = code + 1;
    while (called < u->depth && claims_agent(u->path[called].pc) >= 0)
        called++;
    bool is_library = called < u->depth && !modules_in_libc(u->path[called].pc);
    uint32_t node = u->path[is_library ? called : code].node;
    return named_lock_node(self, node, lock->kept);
}

void lock_wait_pay(struct thread *self, struct agent_slot *slot, uint32_t node)
{
    atomic_store_explicit(&slot->is_charged, 0, memory_order_relaxed);
    if (node == CCT_NO_MEMORY)
        return;
    for (unsigned i = 0; i < self->event_count; i++) {
        unsigned metric = self->events[i].lock_wait;
        uint64_t amount = atomic_exchange_explicit(&slot->delay[i], 0, memory_order_relaxed);
        if (amount && metric != NO_METRIC)
            cct_add(&self->cct, node, metric, amount);
    }
}

/* `name`: NULL: that of the lock. */
static void record(struct agent_slot *slot, const volatile void *lock, const char *name)
{
    struct thread *self = thread_self;
    ucontext_t context;
    atomic_store_explicit(&slot->is_charged, 0, memory_order_relaxed);
    uint64_t mask;
    if (!self || !own_path_begin(self, &mask))
        return;
    if (getcontext(&context) == 0) {
        uint32_t path = own_path_enter(self, &context);
        path = path ? path : logical_unknown(&self->cct);
        lock_wait_pay(self, slot,
                      name ? named_lock_node(self, path, name) : lock_node(self, path, (uint64_t)(uintptr_t)lock));
    }
    own_path_end(self, mask);
}

void lock_wait_record(struct agent_slot *slot, const volatile void *lock)
{
    record(slot, lock, NULL);
}

void hpctoolkit_waited_for_lock(const volatile void *lock, const char *name)
{
    if (own_slot)
        record(own_slot, lock, name);
}

void semaphore_wait_record(struct agent_slot *slot, const volatile void *lock, bool is_semaphore)
{
    const struct agent_lock *kind = atomic_load_explicit(&agent_lock, memory_order_acquire);
    record(slot, lock, !kind ? NULL : is_semaphore ? kind->semaphore_name : kind->byte_name);
}
