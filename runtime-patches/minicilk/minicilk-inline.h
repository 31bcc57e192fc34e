/* The parts of minicilk's macros: the frame, the worker's side of the deque, and the functions that
 * are inlined into bodies. Programs include minicilk.h instead.
 *
 * The functions are below #line directives, so that tools charge their code to parallel overhead (a
 * macro can't contain #line). With -DMINICILK_UNTAGGED the machine code is the same.
 *
 * The deque follows the THE protocol: the owner works at the tail; thieves work at the head, one at
 * a time under the worker's lock. Each announces its step first and then looks at the other's end.
 * If they meet, the owner takes the lock.
 *
 * Every slot of the deque has a spare frame for the child that is spawned from it. A child that
 * returns to its caller leaves its frame there, so most spawns allocate nothing. A stolen frame
 * leaves the slot, which gets another one from the pool (pool.c). */
#ifndef MINICILK_INLINE_H
#define MINICILK_INLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "minicilk-introspect.h"
#include "minicilk-modes.h"

#define MINICILK_API         __attribute__((visibility("default")))
#define MINICILK_INLINE      static inline __attribute__((always_inline))
#define MINICILK_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* One C frame is one activation: bodies are never inlined, cloned or split. */
#if defined(__clang__)
#define MINICILK_OPAQUE __attribute__((noinline))
#else
#define MINICILK_OPAQUE __attribute__((noipa))
#endif

/* ThreadSanitizer does not know membarrier, so its builds need the barriers of slow pops. */
#ifdef __SANITIZE_THREAD__
#define MINICILK_SLOW_POPS true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MINICILK_SLOW_POPS true
#endif
#endif
#ifndef MINICILK_SLOW_POPS
#define MINICILK_SLOW_POPS false
#endif

/* The first entry of a body is 0; the others are numbered from here. The number is large, so that a
 * spawn inside a `switch` of the program, which is not allowed, does not collide with its cases. */
#define MINICILK_ENTRY 0x4000

#define MINICILK_ABI (MINICILK_LAYOUT << 8 | MINICILK_MODES)

/* How a body returns. The callers of a stolen body return at once, without a pop, since their
 * frames were stolen before. A body that must wait is always a base: only frames that were stolen
 * and resumed by the scheduler have children on other workers. */
enum minicilk_outcome { MINICILK_DONE, MINICILK_STOLEN, MINICILK_SUSPEND };

struct minicilk_worker;
struct minicilk_frame;

typedef int minicilk_body(struct minicilk_worker *worker, struct minicilk_frame *frame,
                          unsigned entry);

struct minicilk_frame {
    struct minicilk_frame *parent; /* in a pool: the next frame */
    minicilk_body *body;
    const void *site; /* return address of the call that spawned it, stored at its first entry */
    _Atomic uint32_t join; /* children on other workers, | flags; no children if free */
    uint16_t entry;        /* where the body resumes; set before every push and suspension */
    uint16_t units;        /* size in units of 64 bytes, set by the allocation */
#if MINICILK_MODES & MINICILK_MAGICAL
    uint64_t magic;
    uint64_t depth;
#endif
};

/* Flags in the join count. SUSPENDED: set by the scheduler in a waiting frame. The worker that
 * decrements the count to 0 resumes the frame. OBSERVED: in all frames whose syncs the observer is
 * told of, so that these take the slow path. */
#define MINICILK_SUSPENDED      (UINT32_C(1) << 31)
#define MINICILK_OBSERVED       (UINT32_C(1) << 30)
#define MINICILK_CHILDREN(join) ((join) & ~(MINICILK_SUSPENDED | MINICILK_OBSERVED))

/* Frames of up to 1024 bytes are pooled; larger ones use malloc and free. */
#define MINICILK_UNITS(size)      (((size) + 63) / 64)
#define MINICILK_MAX_POOLED_UNITS 16
#define MINICILK_IS_POOLED(size)                                                                   \
    (!MINICILK_IN_MODE(MINICILK_MALLOC) && MINICILK_UNITS(size) <= MINICILK_MAX_POOLED_UNITS)

struct minicilk_slot {
    struct minicilk_frame *frame; /* what a thief takes */
    struct minicilk_frame *spare; /* the frame of its current or last child; or NULL */
};

/* The part of a worker that inlined code uses. The slots hold the frames of those bodies on the
 * worker's C stack that have spawned, oldest first. After a theft they stay valid until the
 * scheduler resets the deque. */
struct minicilk_worker {
    _Atomic(struct minicilk_slot *) tail; /* behind the newest frame; written by the owner */
    _Atomic(struct minicilk_slot *) head; /* the oldest frame; written under the lock */
    struct minicilk_slot *limit;          /* end of the slots */
    struct minicilk_frame *orphan;        /* the stolen parent of the last child that ended here */
    struct minicilk_slot *slow; /* pops of the slots before this one take the slow path: the kernel
                                   has no membarrier, or the observer is told of them */
};

/* Whether some worker sleeps and none searches for work: the next push must wake one. */
MINICILK_API extern _Atomic unsigned char minicilk_need_wake;

MINICILK_API int minicilk_init_abi(int workers, unsigned abi);
MINICILK_API int minicilk_prepare(const char *name, minicilk_body *body, size_t size,
                                  struct minicilk_frame **root);
MINICILK_API void minicilk_run(struct minicilk_frame *root);

/* Slow paths. */
MINICILK_API struct minicilk_frame *minicilk_refill(struct minicilk_worker *worker,
                                                    struct minicilk_slot *slot,
                                                    minicilk_body *body, size_t size);
MINICILK_API void minicilk_free_spare(struct minicilk_slot *slot);
MINICILK_API void minicilk_wake_one(void);
MINICILK_API bool minicilk_pop_slowly(struct minicilk_worker *worker, struct minicilk_slot *slot,
                                      size_t size);
MINICILK_API bool minicilk_pop_contended(struct minicilk_worker *worker,
                                         struct minicilk_slot *slot);
MINICILK_API bool minicilk_sync_slowly(struct minicilk_worker *worker, struct minicilk_frame *frame,
                                       unsigned entry);
MINICILK_API void minicilk_chaos(void);
MINICILK_API void minicilk_check(const struct minicilk_frame *frame);
MINICILK_API void minicilk_mark(struct minicilk_frame *frame, bool live);
MINICILK_API __attribute__((noreturn, cold)) void minicilk_too_deep(void);
MINICILK_API __attribute__((noreturn, cold)) void minicilk_lost(const char *name);

#define MINICILK_FRAME(name, ...)                                                                  \
    struct name {                                                                                  \
        struct minicilk_frame minicilk;                                                            \
        __VA_ARGS__                                                                                \
    }

#define MINICILK_PROTOTYPE(name)                                                                   \
    MINICILK_OPAQUE int name(struct minicilk_worker *minicilk_worker,                              \
                             struct minicilk_frame *minicilk_frame, unsigned minicilk_entry)

/* The call is in the macro itself and so on the user's line: the return address, which is the spawn
 * site, maps to it. */
#define MINICILK_SPAWN(entry_, name, ...)                                                          \
    do {                                                                                           \
        {                                                                                          \
            struct minicilk_slot *const minicilk_slot = minicilk_next_slot(minicilk_worker);       \
            struct name *const a = (struct name *)minicilk_new_child(                              \
                minicilk_worker, minicilk_slot, &f->minicilk, name, sizeof(struct name));          \
            __VA_ARGS__;                                                                           \
            minicilk_push(minicilk_worker, minicilk_slot, &f->minicilk, entry_);                   \
            const int minicilk_result = name(minicilk_worker, &a->minicilk, 0);                    \
            if (!minicilk_pop(minicilk_worker, minicilk_slot, sizeof(struct name),                 \
                              minicilk_result))                                                    \
                return MINICILK_STOLEN;                                                            \
        }                                                                                          \
        __attribute__((fallthrough));                                                              \
    case (entry_):;                                                                                \
    } while (0)

#define MINICILK_SYNC(entry_)                                                                      \
    do {                                                                                           \
        if (minicilk_must_wait(minicilk_worker, &f->minicilk, entry_))                             \
            return MINICILK_SUSPEND;                                                               \
        __attribute__((fallthrough));                                                              \
    case (entry_):;                                                                                \
    } while (0)

#ifndef MINICILK_UNTAGGED
#line 173 "hpctoolkit:parallel-overhead:spawn"
#endif
MINICILK_INLINE void minicilk_disturb(void)
{
    if (MINICILK_IN_MODE(MINICILK_CHAOS))
        minicilk_chaos();
}

MINICILK_INLINE void minicilk_expect(const struct minicilk_frame *frame)
{
    if (MINICILK_IN_MODE(MINICILK_MAGICAL))
        minicilk_check(frame);
}

/* At a body's first entry. */
MINICILK_INLINE void minicilk_enter(struct minicilk_frame *frame, const void *site)
{
    minicilk_disturb();
    frame->site = site;
}

MINICILK_INLINE struct minicilk_slot *minicilk_next_slot(struct minicilk_worker *worker)
{
    struct minicilk_slot *slot = atomic_load_explicit(&worker->tail, memory_order_relaxed);
    if (MINICILK_UNLIKELY(slot == worker->limit))
        minicilk_too_deep();
    return slot;
}

MINICILK_INLINE struct minicilk_frame *minicilk_new_child(struct minicilk_worker *worker,
                                                          struct minicilk_slot *slot,
                                                          struct minicilk_frame *parent,
                                                          minicilk_body *body, size_t size)
{
    struct minicilk_frame *child = slot->spare;
    const bool too_small = MINICILK_UNITS(size) > 1 && child && child->units < MINICILK_UNITS(size);
    if (MINICILK_UNLIKELY(child == NULL || too_small))
        child = minicilk_refill(worker, slot, body, size);
    child->parent = parent;
    child->body = body;
    if (MINICILK_IN_MODE(MINICILK_MAGICAL))
        minicilk_mark(child, true);
    return child;
}

/* After this a thief may resume the frame at `entry`. */
MINICILK_INLINE void minicilk_push(struct minicilk_worker *worker, struct minicilk_slot *slot,
                                   struct minicilk_frame *frame, unsigned entry)
{
    minicilk_expect(frame);
    frame->entry = (uint16_t)entry;
    slot->frame = frame;
    minicilk_disturb();
    atomic_store_explicit(&worker->tail, slot + 1, memory_order_release);
    if (MINICILK_UNLIKELY(atomic_load_explicit(&minicilk_need_wake, memory_order_relaxed)))
        minicilk_wake_one();
    minicilk_disturb();
}

/* After the child's call has returned `outcome`: whether this body may continue; else it is stolen.
 *
 * The tail is stored before the head is loaded. A barrier between them would cost more than the
 * rest of a spawn. So the thief's membarrier acts as a barrier here, too, and only the compiler
 * must be kept from reordering. */
MINICILK_INLINE bool minicilk_pop(struct minicilk_worker *worker, struct minicilk_slot *slot,
                                  size_t size, int outcome)
{
    if (MINICILK_UNLIKELY(outcome != MINICILK_DONE)) {
        minicilk_disturb();
        return false;
    }
    if (MINICILK_IN_MODE(MINICILK_MAGICAL))
        minicilk_mark(slot->spare, false);
    if (MINICILK_UNLIKELY(MINICILK_SLOW_POPS || slot < worker->slow))
        return minicilk_pop_slowly(worker, slot, size);
    if (!MINICILK_IS_POOLED(size))
        minicilk_free_spare(slot);
    minicilk_disturb();
    atomic_store_explicit(&worker->tail, slot, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    minicilk_disturb();
    if (MINICILK_UNLIKELY(atomic_load_explicit(&worker->head, memory_order_seq_cst) > slot))
        return minicilk_pop_contended(worker, slot);
    return true;
}

#ifndef MINICILK_UNTAGGED
#line 260 "hpctoolkit:parallel-overhead:sync"
#endif
/* Whether children run on other workers; then the body must suspend, and resumes at `entry`. */
MINICILK_INLINE bool minicilk_must_wait(struct minicilk_worker *worker,
                                        struct minicilk_frame *frame, unsigned entry)
{
    if (!MINICILK_UNLIKELY(atomic_load_explicit(&frame->join, memory_order_acquire) != 0))
        return false;
    return minicilk_sync_slowly(worker, frame, entry);
}

#endif
