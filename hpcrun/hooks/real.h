/* The functions that the hooks stand in front of.
 *
 * A hook is a function of the same name in the preloaded library; REAL(name) is the one that the
 * program would have called without us. It is looked up at initialisation, or at first use when a
 * hook runs before that (a constructor of another library, a program without a configuration). */
#ifndef HPCRUN_HOOKS_REAL_H
#define HPCRUN_HOOKS_REAL_H

#include <dlfcn.h>

/* Makes a function visible to the dynamic linker; everything else in the library is hidden. */
#define HOOK __attribute__((visibility("default")))

/* Declares real_NAME, a pointer to the real function, and its lookup. Once per hooks file. */
#define REAL_FUNCTION(name)                                                                        \
    static __typeof__(&name) real_##name;                                                          \
    static __typeof__(&name) find_##name(void)                                                     \
    {                                                                                              \
        __typeof__(&name) found = __atomic_load_n(&real_##name, __ATOMIC_ACQUIRE);                 \
        if (!found) {                                                                              \
            found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                    \
            __atomic_store_n(&real_##name, found, __ATOMIC_RELEASE);                               \
        }                                                                                          \
        return found;                                                                              \
    }

#define REAL(name) find_##name()

#endif
