#include "viewer-tui/tree/start-names.h"

#include <stddef.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

bool name_begins_thread(const char *name)
{
    static const char *const names[] = {"start_thread", "clone", "clone3", "__clone3", "execute_native_thread_routine",
                                        NULL};
    const char *of_rust = strstr(name, "::thread_start");
    return is_one_of(name, names) || (of_rust && strcmp(of_rust, "::thread_start") == 0);
}

/* Rust's main calls std::rt::lang_start. */
bool name_is_of_start(const char *name)
{
    static const char *const names[] = {"_start", "__libc_start_main", "__libc_start_call_main", NULL};
    return is_one_of(name, names) || strstr(name, "std::rt::lang_start") || name_begins_thread(name);
}
