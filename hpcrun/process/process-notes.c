#include "hpcrun/process/process-notes.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "lib/printable.h"

#include <string.h>

/* Bytes of a program's path that are written. */
#define MAX_PROGRAM 512

/* The text of a note, on the stack, since the child of a vfork shares our memory. (note_end has a
 * static one: it is never called in such a child.) */
#define NOTE(note)                                                                                 \
    char note##_buffer[MAX_PROGRAM + 128] = "";                                                    \
    struct text note = TEXT(note##_buffer)

static void add_number(struct text *note, uint64_t number)
{
    text_add(note, " ");
    text_add_number(note, number);
}

static void add_program(struct text *note, const char *program)
{
    char form[MAX_PROGRAM];
    text_add(note, " ");
    text_add_bytes(note, form, printable_copy(form, sizeof form, program));
}

static void commit(struct text *note)
{
    text_add(note, "\n");
    report_append(process.list_name, note->at, note->length);
}

static void add_clock(struct text *note)
{
    add_number(note, sys_clock(CLOCK_MONOTONIC));
}

void note_begin(void)
{
    NOTE(note);
    text_add(&note, "begin");
    add_number(&note, (uint64_t)(process.rank + 1));
    add_number(&note, (uint64_t)process.pid);
    add_number(&note, process.start_ticks);
    add_number(&note, (uint64_t)process.parent);
    add_number(&note, process.origin);
    add_number(&note, process.began_wall);
    add_program(&note, process.executable);
    commit(&note);
}

void note_end(enum process_state state, int detail, const struct image_counts *counts)
{
    static char buffer[1024]; /* only one thread ends a process; its signal stack may be small */
    struct text note = TEXT(buffer);
    const uint64_t numbers[] = {counts->threads,     counts->cpu,     counts->thread_cpu,
                                counts->thread_wall, counts->dropped, counts->partial};
    buffer[0] = '\0';
    text_add(&note, "end");
    add_number(&note, (uint64_t)process.pid);
    add_number(&note, process.start_ticks);
    add_number(&note, state);
    add_number(&note, (uint64_t)detail);
    add_clock(&note);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(&note, numbers[i]);
    add_number(&note, process.config.event_count);
    for (unsigned i = 0; i < process.config.event_count; i++) {
        add_number(&note, counts->fired[i]);
        add_number(&note, counts->sources[i]);
    }
    commit(&note);
}

void note_unmeasured(int pid, enum unmeasured why, const char *program)
{
    NOTE(note);
    text_add(&note, "unmeasured");
    add_number(&note, (uint64_t)(process.rank + 1));
    add_number(&note, (uint64_t)pid);
    add_number(&note, why);
    add_clock(&note);
    add_program(&note, program);
    commit(&note);
}

void note_exec_failed(void)
{
    NOTE(note);
    text_add(&note, "failed");
    add_number(&note, (uint64_t)sys_getpid());
    add_clock(&note);
    commit(&note);
}

void note_child_end(int pid, int signal)
{
    NOTE(note);
    text_add(&note, "waited");
    add_number(&note, (uint64_t)pid);
    add_number(&note, (uint64_t)signal);
    add_clock(&note);
    commit(&note);
}
