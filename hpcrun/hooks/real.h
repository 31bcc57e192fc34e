/* The functions that the hooks stand in front of.
 *
 * This folder is where hpcrun is entered: by the program's calls of hooked functions, by the kernel
 * with a signal (handler.h, signals.h), by the loader (begin.c). So it is the library's top: it
 * calls all other folders, and none of them calls it, nor is given a function of it to call.
 *
 * A hook is a function of the same name in the preloaded library; REAL(name) is the one that the
 * program would have called without us. It is looked up when the library is initialised, which is
 * before other constructors run: later the look-up might have to wait for the loader's lock, which
 * a dlopen holds while constructors run, and these may wait for the thread that asks. */
#ifndef HPCRUN_HOOKS_REAL_H
#define HPCRUN_HOOKS_REAL_H

#include <dlfcn.h>

/* Makes a function visible to the dynamic linker; everything else in the library is hidden. */
#define HOOK __attribute__((visibility("default")))

/* Before the constructor of begin.c, which may start sampling. */
#define HOOKS_FIRST 200

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
    }                                                                                              \
    __attribute__((constructor(HOOKS_FIRST))) static void find_early_##name(void)                  \
    {                                                                                              \
        find_##name();                                                                             \
    }

#define REAL(name) find_##name()

#endif
