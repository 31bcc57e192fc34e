/* perf's records of measured processes: what they say. perf-rings.h has where they come from.
 *
 *   sample    the kernel's frames, the user's registers, and a copy of the bytes from the stack pointer on
 *   others    mappings of code, execs, begins and ends of processes and threads; the number of records, of
 *             any kind, for which a ring had no room */
#ifndef HPCRUN_OUTSIDE_PERF_RECORDS_H
#define HPCRUN_OUTSIDE_PERF_RECORDS_H

#include "hpcrun/outside/mapping.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

/* Bits of registers that a sample has, by perf's number, and their number. */
#define SAMPLED_REGISTERS      0xff0fffu
#define SAMPLED_REGISTER_COUNT 20

/* Indices of these. */
#define SAMPLED_SP 7
#define SAMPLED_PC 8

/* A record of this type is none of the kernel's: memory of the process, read at the sample before (caught-memory.h). */
#define PERF_RECORD_CAUGHT 0x10000u

/* The sample_period of an event of context switches. Its samples have registers, but no stack, and don't count. */
#define SWITCH_PERIOD 1u

/* What a sample's record begins with. */
struct sample_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time, id, period, chain_length, chain[];
};

struct perf_sample {
    int tid;
    bool is_waiting;       /* it comes from no event: the thread was off the CPU (foreign-waits.h) */
    uint64_t lock;         /* is_waiting: address of the lock that it waits for; 0: none */
    int holder;            /* tid of the thread that has it */
    uint64_t event;        /* its id */
    uint64_t time, period; /* CLOCK_MONOTONIC; ns of CPU time */
    bool is_64_bit;        /* and the thread has registers of its own: it is none of the kernel's */
    uint64_t registers[SAMPLED_REGISTER_COUNT];
    const uint8_t *stack;
    size_t stack_bytes, copy_bytes; /* that are there; that the event's copies have at most */
    const struct caught *caught; /* memory that was read at its instant (caught-memory.h); NULL: none */
    const uint64_t *kernel; /* frames of the kernel, innermost first: struct increment */
    unsigned kernel_count;
};

/* What a process's worker is interested in. */
struct perf_visitor {
    void (*map)(const struct mapping *mapping);
    void (*sample)(const struct perf_sample *sample);
    void (*lost)(uint64_t records);
    void (*throttled)(void); /* the kernel stops an event until its next tick, since it had too many samples */
    void (*begin)(int tid, uint64_t time);
    void (*end)(int tid, uint64_t time);
    void (*switched)(int tid, bool runs, bool is_preempted);
};
void perf_record_visit(const struct perf_event_header *record, const struct perf_visitor *visitor);

/* CLOCK_MONOTONIC of a record, the id of its event, and the process and thread that it is of: of a begin, the new
 * process. */
uint64_t perf_record_time(const struct perf_event_header *record);
uint64_t perf_record_event(const struct perf_event_header *record);
int perf_record_pid(const struct perf_event_header *record);
int perf_record_tid(const struct perf_event_header *record);

/* No sample stands for less. Where an event has got another period after it was opened, the kernel (Linux 6.18) keeps
 * the former one in the records of a clock. */
void perf_records_expect(uint64_t period);

/* ns of CPU time that a sample stands for; 0: it is another record. */
uint64_t perf_record_period(const struct perf_event_header *record);

/* Whether a record is of an event of context switches: the thread leaves its CPU. */
bool perf_record_is_switch(const struct perf_event_header *record);

/* Whether two samples have the same registers, of 64-bit code. */
bool perf_records_have_equal_registers(const struct perf_event_header *a, const struct perf_event_header *b);

/* The number of records, of any kind, that PERF_RECORD_LOST reports; 0: it is another record. */
uint64_t perf_record_lost(const struct perf_event_header *record);

/* A PERF_RECORD_LOST, which is valid until the next call. */
const struct perf_event_header *perf_record_of_losses(uint64_t records);

/* PERF_RECORD_FORK and PERF_RECORD_EXIT: begin and end of a thread. The first one of a process has another
 * process as its parent. */
struct task_record {
    struct perf_event_header header;
    uint32_t pid, parent, tid, parent_tid;
    uint64_t time;
};

/* The record of a begin; NULL: it is another one. */
const struct task_record *perf_record_begin(const struct perf_event_header *record);

/* Whether the process has a new program from here on, and its name. */
#define PROCESS_NAME 16
bool perf_record_is_exec(const struct perf_event_header *record, char name[PROCESS_NAME]);

/* A sample's record has room for the largest copy of a stack, also if the stack ends before: the bytes that a copy of
 * the record does without. perf_record_copy makes it. */
size_t perf_record_unused(const struct perf_event_header *record);
void perf_record_copy(struct perf_event_header *to, const struct perf_event_header *record, size_t unused);

/* What PERF_RECORD_MMAP2 says; without a path if it is damaged. */
void perf_record_mapping(const struct perf_event_header *record, struct mapping *mapping);

/* Makes the record of a mapping that was there before, as large as a path needs. The caller frees. NULL
 * without memory. */
struct perf_event_header *perf_record_of_mapping(int pid, const struct mapping *mapping);

#endif
