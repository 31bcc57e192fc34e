/* What an agent knows of its runtime, as handlers of other threads read it while it changes: they load a
 * pointer to a copy that nothing changes or frees. It changes when the runtime is unloaded and loaded
 * again, at another address or in another version. */
#ifndef AGENTS_PUBLISHED_COPY_H
#define AGENTS_PUBLISHED_COPY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* All values that there were: a runtime that is loaded again and again has a few. */
struct published_copy {
    struct published_copy *next;
    _Alignas(16) char value[];
};

/* Normal context. A copy of `bytes`; NULL without memory. All values of a list have the same size. */
static inline const void *published_copy(struct published_copy **list, const void *value,
                                         size_t bytes)
{
    for (struct published_copy *copy = *list; copy; copy = copy->next)
        if (memcmp(copy->value, value, bytes) == 0)
            return copy->value;
    struct published_copy *copy = malloc(sizeof *copy + bytes);
    if (!copy)
        return NULL;
    copy->next = *list;
    *list = copy;
    return memcpy(copy->value, value, bytes);
}

#endif
