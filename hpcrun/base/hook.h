/* Hooks: functions of the preloaded library with the name of a function that the program calls.
 *
 * REAL(name) is the function that the program would have called without us. It is looked up when
 * the library is initialized, before other constructors run. A later look-up could deadlock: it may
 * have to wait for the loader's lock, which a dlopen holds while it runs constructors, and these
 * may wait for the thread that looks up. */
#ifndef HPCRUN_BASE_HOOK_H
#define HPCRUN_BASE_HOOK_H

#include <dlfcn.h>
#include <stddef.h>

/* Makes a function visible to the dynamic linker; everything else in the library is hidden. */
#define HOOK __attribute__((visibility("default")))

static inline void *find_real(const char *name, const char *version)
{
    void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    return found ? found : dlsym(RTLD_NEXT, name);
}

/* Constructor priority: before the constructor of hooks/begin.c, which may start sampling. */
#define HOOKS_FIRST 200

/* Declares real_NAME, a pointer to the real function, and its lookup. Once per hooks file. */
#define REAL_FUNCTION(name) REAL_VERSION(name, NULL)

/* The same for one version of a function that has several in glibc. Before glibc 2.36, dlsym finds the oldest version.
 * The oldest pthread_cond_wait misses signals of the newest pthread_cond_signal. */
#define REAL_VERSION(name, version)                                                                \
    static __typeof__(&name) real_##name;                                                          \
    static __typeof__(&name) find_##name(void)                                                     \
    {                                                                                              \
        __typeof__(&name) found = __atomic_load_n(&real_##name, __ATOMIC_ACQUIRE);                 \
        if (!found) {                                                                              \
            found = (__typeof__(&name))find_real(#name, version);                                  \
            __atomic_store_n(&real_##name, found, __ATOMIC_RELEASE);                               \
        }                                                                                          \
        return found;                                                                              \
    }                                                                                              \
    __attribute__((constructor(HOOKS_FIRST))) static void find_early_##name(void)                  \
    {                                                                                              \
        find_##name();                                                                             \
    }

#define REAL(name) find_##name()

/* Assembly, one string each: saves a register on the stack and restores it, with the unwind
 * information for that. For a call of ours in the middle of one that the program makes. */
#define PUSH(reg) "    push %" #reg "\n    .cfi_adjust_cfa_offset 8\n"
#define POP(reg)  "    pop %" #reg "\n    .cfi_adjust_cfa_offset -8\n"

#endif
