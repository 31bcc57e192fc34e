/* Libraries for python3 -c (test_python.Ends): base, which a second one needs, must not begin twice; the last one closes a
 * library when the process ends. */
#include <dlfcn.h>
#include <stdlib.h>

#ifdef BASE
int base_begins;

__attribute__((constructor)) static void begin(void)
{
    if (++base_begins > 1)
        abort();
}
#elif defined USER
extern int base_begins;

int user(void)
{
    return base_begins;
}
#else
static void *library;

__attribute__((constructor)) static void begin(void)
{
    library = dlopen("libBrokenLocale.so.1", RTLD_LAZY);
}

__attribute__((destructor)) static void end(void)
{
    if (library)
        dlclose(library);
}
#endif
