/* The copies of libgomp in the process. A process may have several: a plug-in may bring its own.
 * Each caller must get the functions of the copy to which the dynamic linker would have bound it.
 * Otherwise regions of one copy would run with the thread numbers of another.
 *
 * A caller is known by its return address. The main program's copy is found once; other callers are
 * looked up in a table of return addresses. */
#ifndef AGENTS_GOMP_GOMP_COPIES_H
#define AGENTS_GOMP_GOMP_COPIES_H

#include "agents/gomp/gomp-functions.h"

#include <stdatomic.h>

struct gomp_program {
    uint64_t start, size; /* the main program's address range; size 0: its copy is not known yet */
    const struct gomp_functions *functions;
};
extern struct gomp_program gomp_program;

/* Normal context. The same as gomp_functions_for, for any caller. Called by wrappers, whose frame it
 * reads. */
const struct gomp_functions *gomp_find_functions(uint64_t caller);

/* Normal context. The functions that a caller of libgomp means, by its return address. */
static inline const struct gomp_functions *gomp_functions_for(uint64_t caller)
{
    if (__builtin_expect(caller - gomp_program.start < gomp_program.size, 1))
        return gomp_program.functions;
    return gomp_find_functions(caller);
}

/* Normal context. The copy whose code has this address, if it is one that was found before. */
const struct gomp_functions *gomp_copy_at(uint64_t address);

/* Normal context. The functions of the library that has this address; NULL if it is not a libgomp. */
struct gomp_functions *gomp_copy_of(uint64_t address);

/* Normal context. A module was unloaded: forgets callers in it, and its copy. */
void gomp_forget_module(uint64_t start, uint64_t end);

#endif
