/* Memory for the tools: allocation that never returns NULL (without memory the tool ends with a
 * message) and growable arrays. Not for libhpcrun.so, which never calls malloc. */
#ifndef LIB_ALLOC_H
#define LIB_ALLOC_H

#include <stddef.h>

/* As calloc, reallocarray, strdup and strndup. The caller frees. */
void *mem_alloc(size_t size);
void *mem_resize(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length);
/* As mem_alloc, for tables that are read at random places before these are written: all pages are there
 * at once. Without that, reading maps a shared page of zeros, and writing interrupts all CPUs on which
 * the process runs, to replace it. */
void *mem_alloc_table(size_t size);
/* A formatted string; the caller frees. */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A growable array. VEC(T) v = {0} is empty; its elements are v.at[0] .. v.at[v.n - 1]. */
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        size_t n, cap;                                                                             \
    }

/* Makes room for `extra` more elements. */
#define vec_reserve(v, extra)                                                                      \
    do {                                                                                           \
        if ((v)->n + (extra) > (v)->cap) {                                                         \
            (v)->cap = ((v)->n + (extra)) * 2 + 8;                                                 \
            (v)->at = mem_resize((v)->at, (v)->cap, sizeof *(v)->at);                              \
        }                                                                                          \
    } while (0)

/* Appends one element. */
#define vec_push(v, ...)                                                                           \
    do {                                                                                           \
        vec_reserve(v, 1);                                                                         \
        (v)->at[(v)->n++] = (__VA_ARGS__);                                                         \
    } while (0)

/* Sorts the elements, as qsort. */
#define vec_sort(v, compare)                                                                       \
    do {                                                                                           \
        if ((v)->n > 1)                                                                            \
            qsort((v)->at, (v)->n, sizeof *(v)->at, compare);                                      \
    } while (0)

#define vec_free(v)                                                                                \
    do {                                                                                           \
        free((v)->at);                                                                             \
        (v)->at = NULL;                                                                            \
        (v)->n = (v)->cap = 0;                                                                     \
    } while (0)

/* Where the block of such a variable ends, the memory of the pointer or array in it is freed:
 *
 *     autofree char *path = mem_printf("%s/%s", folder, name);
 *     autofree VEC(size_t) found = {0}; */
#define autofree __attribute__((cleanup(mem_free_in)))
void mem_free_in(void *variable);

/* Memory for many small things that are freed together: it takes hardly any time to allocate and to free
 * them, and threads with a pool each do not wait for each other, as they do in malloc. For one thread at
 * a time. A pool of zeros is empty. */
struct mem_pool {
    VEC(void *) blocks;
    char *next;  /* what is left of the last block */
    size_t left; /* its size */
};

/* Memory for any type; not zero. Valid until mem_pool_free. */
void *mem_pool_take(struct mem_pool *pool, size_t size);
void mem_pool_free(struct mem_pool *pool);

#endif
