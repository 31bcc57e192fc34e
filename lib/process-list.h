/* The list of processes that hpcrun keeps beside the measurement files (doc/FORMAT-hpcrun.md,
 * section 9): which program images began and ended, which could not be measured, and how the
 * parents saw their children end. Unknown, damaged and truncated lines are skipped. */
#ifndef LIB_PROCESS_LIST_H
#define LIB_PROCESS_LIST_H

#include "lib/measurement-format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_state {
    IMAGE_BEGUN,       /* it did not report its end */
    IMAGE_ENDED,       /* it reported its end; `end` says how */
    IMAGE_EXEC,        /* it ended with an exec, and the next image of the process is unknown */
    IMAGE_REPLACED,    /* it ended with an exec, and the process continued as another image */
    IMAGE_UNMEASURED,  /* a program that cannot load libhpcrun.so */
    IMAGE_EXEC_FAILED, /* an unmeasured program whose exec failed: it never ran; or the child of a
                          vfork that ended without an exec */
    IMAGE_UNSEEN,      /* a process of which only its parent knows */
};

struct process_image {
    enum image_state state;
    enum unmeasured why; /* IMAGE_UNMEASURED, IMAGE_UNSEEN */
    int pid, parent;     /* parent: 0 if unknown */
    int64_t rank;        /* -1: none */
    uint64_t start;      /* of the process, as in measurement file names */
    enum process_origin origin;
    enum process_state end;
    int signal;          /* that killed it, by its own or its parent's account; else 0 */
    size_t end_order;    /* number of its end line among all lines, from 1; 0: none */
    bool seen_by_parent; /* a measured parent waited for it */
    uint64_t began_at;   /* CLOCK_MONOTONIC, ns */
    uint64_t ended_at;   /* the same, by its own account, else its parent's; 0: unknown */
    enum image_loss loss; /* by its own account */
    int error;            /* errno of the last failure to write, if there is a loss */
    /* CPU times, ns; 0: unknown. By its own account at its end: of the process, and of the children that
     * it had waited for. By its parent's account: both together. */
    uint64_t process_cpu, children_cpu, waited_cpu;
    /* Of a process's last image, from these: CPU time of a process that did not report its end, without
     * that of children in the list; CPU time of children that are not in the list. */
    uint64_t lost_cpu, unrecorded_cpu;
    /* Points into the text, not terminated; in printable form. Of IMAGE_UNSEEN: its parent's. */
    const char *program;
    size_t program_length;
    unsigned mark; /* for the caller; initially 0 */
};

struct process_list {
    struct process_image *images; /* in order of their beginnings */
    size_t n;
    uint32_t *by_pid; /* hash table: index of the process's last image + 1 */
    size_t slots;     /* a power of two */
};

/* Reads the text, which the caller keeps while the list is used. */
void process_list_read(struct process_list *list, const char *text, size_t size);

void process_list_free(struct process_list *list);

#endif
