/* The process that is measured from outside, as /proc shows it. */
#ifndef HPCRUN_OUTSIDE_MEASURED_PROCESS_H
#define HPCRUN_OUTSIDE_MEASURED_PROCESS_H

#include "hpcrun/outside/mapping.h"
#include "lib/measurement-format.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What is known of a process image without /proc, which shows it no longer if it has ended or executes another
 * program. */
struct measured_image {
    int pid, parent;
    enum process_origin origin;
    uint32_t images; /* of the process, measured before this one */
    uint64_t began;  /* CLOCK_MONOTONIC of this image, or of the measurement */
    uint64_t forked; /* the same of the process; 0: it was there before, so /proc shows it */
    char *const *command;          /* its command line, NULL-terminated; NULL: unknown */
    const struct mapping *program; /* its file; NULL: unknown */
    bool has_begun;                /* its fork or exec was seen, so /proc may show a later program */
    const char *name;              /* that of ps; "": unknown */
};

/* Fills in `process` (process/process.h), whose configuration is there already. False if too little is known. */
bool measured_identify(const struct measured_image *image);

/* The user of the process; and CLOCK_REALTIME when its program began, or, if that was not seen, when the process
 * did. */
uid_t measured_owner(void);
uint64_t measured_program_began(void);

/* Whether the calling process may look at it; *thread_of: the process that the number is a thread of. */
enum measured_look { LOOK_ALLOWED, LOOK_ENDED, LOOK_THREAD, LOOK_OTHER_MACHINE, LOOK_KERNEL, LOOK_FORBIDDEN };
enum measured_look measured_look(int pid, int *thread_of);

/* The same; if not, prints why. */
bool measured_may_look(int pid);

/* Reads the CPU time of the process again: process.cpu_elsewhere. It stays when the process is gone. */
void measured_read_cpu(void);

/* Reads the CPU time of the process in the kernel again; and what it was then, ns, since measured_identify. */
void measured_read_system_time(void);
uint64_t measured_system_time(void);

/* That of a thread since it began; 0: it is gone. */
uint64_t measured_system_time_of(int tid);

/* Reads the CPU time of the children that it has waited for since measured_identify: process.children_elsewhere. */
void measured_read_children_cpu(void);

/* How a process has ended that its parent has not waited for yet, as wait reports it; -1: unknown. */
int measured_exit_status(void);

/* What the scheduler has counted for a thread, ns and times; false if the thread is gone. */
struct scheduled {
    uint64_t cpu, ready, timeslices;
};
bool measured_schedule(int tid, struct scheduled *scheduled);

/* Opens a file of /proc/PID/task/TID. A descriptor or a negative errno. */
int measured_open_of_thread(int tid, const char *name);

/* The same as measured_schedule from the open file schedstat. */
bool schedule_read(int fd, struct scheduled *scheduled);

/* A thread of the process that has its memory and files: another one, if the first one has ended. */
int measured_living_thread(int pid);

/* The name of a process's thread; "" if the thread is gone. `room` is at least 16. */
void measured_name(int pid, int tid, char *name, size_t room);

/* Calls `visit` for each thread of a process. False if the process is gone. */
bool measured_visit_threads(int pid, void (*visit)(int tid, void *data), void *data);

/* Bytes of the process's memory. False if not all of them can be read. */
bool measured_read(uint64_t address, void *to, size_t size);

/* Whether it has memory at all: not if it has ended, whether its parent has waited for it or not. */
bool measured_has_memory(void);

/* The target of a link in /proc, without the kernel's mark of a deleted file; "" if it can't be read. */
void measured_link(const char *link, char *to, size_t room);

/* Opens a file of /proc/PID. A descriptor or a negative errno. */
int measured_open(int pid, const char *name, int flags);

#endif
