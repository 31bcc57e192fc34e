/* The copies of a runtime's library in the process, and the copy that a caller means. Normal context.
 *
 * A plug-in may bring a copy of its own. An agent that interposes the library's functions passes each
 * call on to the copy to which the dynamic linker would have bound the caller: a computation whose
 * calls go to two copies hangs. Callers are known by their return addresses.
 *
 * The caller's copy, in this order:
 *
 *     1. a function of the library that the caller's own module defines: the caller is the library
 *     2. the next one in the global scope
 *     3. the one in the tree of libraries that the caller's module needs
 *     4. any copy that is known, if the caller is in no module (code of a JIT compiler) or in the
 *        agent, if there is no memory for its copy, or if the process ends */
#ifndef AGENTS_RUNTIME_COPIES_H
#define AGENTS_RUNTIME_COPIES_H

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The agent's structure for a copy begins with it. Never freed: threads may be in the functions of
 * the copy. */
struct runtime_copy {
    _Atomic uint64_t start, end; /* address range; 1: it was unloaded */
    struct runtime_copy *next;
};

struct known_caller;

#define CALLER_SLOTS 16384 /* power of two */

struct runtime_copies {
    const char *symbol; /* a function that all copies define */
    size_t copy_bytes;  /* of the agent's structure */
    void *reserve;      /* memory for one copy, zeroed, where malloc has none */
    atomic_bool is_reserve_taken;
    /* Sets the agent's part of a new copy, whose memory is zero; its module stays loaded meanwhile. */
    void (*fill)(struct runtime_copy *copy, const struct link_map *map, void *library);

    struct runtime_copy *_Atomic first;
    _Atomic(const struct known_caller *) callers[CALLER_SLOTS];
};

/* The copy that a caller means, by its return address. NULL: its module has none. */
struct runtime_copy *copy_of_caller(struct runtime_copies *copies, uint64_t caller);

/* The copy in the module that has an address; NULL: it does not define `symbol`, or there is no
 * memory. */
struct runtime_copy *copy_of_module(struct runtime_copies *copies, uint64_t address);

/* The known copy whose code has this address; NULL: none. */
struct runtime_copy *copy_at(struct runtime_copies *copies, uint64_t address);

/* Some copy that is known; NULL: none. */
struct runtime_copy *copy_any(struct runtime_copies *copies);

/* A module was unloaded: forgets callers in it, and its copy. */
void copies_forget_module(struct runtime_copies *copies, uint64_t start, uint64_t end);

#endif
