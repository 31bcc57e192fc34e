/* The list of processes that hpcrun keeps beside the measurement files (doc/FORMAT-hpcrun.md,
 * section 9): which program images began and ended, which could not be measured, and how the
 * parents saw their children end.
 *
 * Part of libhpcrun.so, too, where it runs at the end of a process, in a signal handler perhaps: it
 * allocates nothing and calls nothing but mem* and str*. The caller gives the text and the memory,
 * and both have to stay as long as the list is used. Lines of an unknown kind, and those that are
 * damaged or cut off, are passed over. */
#ifndef LIB_PROCESS_LIST_H
#define LIB_PROCESS_LIST_H

#include "lib/measurement-format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Events of which a line may tell. */
#define PROCESS_LIST_EVENTS 8

enum image_state {
    IMAGE_BEGUN,      /* it has not said that it ends */
    IMAGE_ENDED,      /* it has; `end` says how */
    IMAGE_EXEC,       /* it has, for an exec, and no other image of the process is known */
    IMAGE_REPLACED,   /* the same, and the process went on as another image */
    IMAGE_UNMEASURED, /* not an image of ours: a program that can't load the library */
    IMAGE_TAKEN_BACK, /* it was to be one, and the exec failed: nothing */
};

/* What an image counted, from its beginning to its end. Times in ns. */
struct image_counts {
    uint64_t threads, cpu;                                             /* CPU time of the process */
    uint64_t thread_cpu, thread_wall;                                  /* lives of its threads */
    uint64_t dropped, partial;                                         /* samples */
    uint64_t fired[PROCESS_LIST_EVENTS], sources[PROCESS_LIST_EVENTS]; /* sets of sample_source */
};

struct process_image {
    enum image_state state;
    enum unmeasured why; /* IMAGE_UNMEASURED */
    int pid, parent;     /* parent: 0 for IMAGE_UNMEASURED */
    int64_t rank;        /* -1: none */
    uint64_t start;      /* of the process, as in the names of measurement files */
    enum process_origin origin;
    enum process_state end;
    int signal;          /* of `end`, or as the parent saw it; else 0 */
    size_t end_order;    /* of the line with which it ended among all lines; 0: none */
    bool seen_by_parent; /* a parent that is measured, too, has waited for it */
    uint64_t began_at;   /* CLOCK_MONOTONIC, ns */
    uint64_t ended_at;   /* the same; as the parent saw it, if the image said nothing. 0: unknown */
    struct image_counts counts;
    const char *program; /* in the text, not terminated; as printable_copy made it */
    size_t program_length;
    unsigned mark; /* the caller's own; 0 at first */
};

struct process_list {
    struct process_image *images; /* in the order in which they began */
    size_t n;
    uint32_t *by_pid; /* hash table: index of the process's last image + 1 */
    size_t slots;     /* a power of two */
};

/* Bytes of memory that a list of this text takes. */
size_t process_list_memory(const char *text, size_t size);

/* Reads the text into `memory`, which is zeroed and as large as process_list_memory says. */
void process_list_read(struct process_list *list, const char *text, size_t size, void *memory);

#endif
