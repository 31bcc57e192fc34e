/* Preloaded into hpcstruct, makes libdwarf come to no end with any file, and limits of CPU time
 * shorter: what hpcstruct does then happens after a second. */
#include <dlfcn.h>
#include <sys/resource.h>

#define MOST_SECONDS 1

int dwarf_object_init_b(void);

int dwarf_object_init_b(void)
{
    for (volatile int endless = 1; endless;)
        ;
    return 0;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    int (*real)(__rlimit_resource_t, const struct rlimit *);
    struct rlimit less = *limit;
    real = (int (*)(__rlimit_resource_t, const struct rlimit *))dlsym(RTLD_NEXT, "setrlimit");
    if (resource == RLIMIT_CPU && less.rlim_cur > MOST_SECONDS)
        less = (struct rlimit){MOST_SECONDS, MOST_SECONDS + less.rlim_max - less.rlim_cur};
    return real(resource, &less);
}
