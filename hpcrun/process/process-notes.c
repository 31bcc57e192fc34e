#include "hpcrun/process/process-notes.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "lib/printable.h"

#include <string.h>

/* Bytes of a program's path that are noted. */
#define MAX_PROGRAM 512

/* On the stack: the child of a vfork shares our memory. */
struct note {
    char buffer[MAX_PROGRAM + 768];
    struct text text;
};

static void add_number(struct note *note, uint64_t number)
{
    text_add(&note->text, " ");
    text_add_number(&note->text, number);
}

static void start(struct note *note, const char *word)
{
    note->text = TEXT(note->buffer);
    note->buffer[0] = '\0';
    text_add(&note->text, word);
}

static void add_program(struct note *note, const char *program)
{
    char form[MAX_PROGRAM];
    text_add(&note->text, " ");
    text_add_bytes(&note->text, form, printable_copy(form, sizeof form, program));
}

static void commit(struct note *note)
{
    text_add(&note->text, "\n");
    report_append(process.list_name, note->text.at, note->text.length);
}

static void add_clock(struct note *note)
{
    add_number(note, sys_clock(CLOCK_MONOTONIC));
}

void note_begin(void)
{
    struct note note;
    start(&note, "begin");
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
    struct note note;
    const uint64_t numbers[] = {counts->threads,     counts->cpu,     counts->thread_cpu,
                                counts->thread_wall, counts->dropped, counts->partial};
    start(&note, "end");
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
    struct note note;
    start(&note, "unmeasured");
    add_number(&note, (uint64_t)(process.rank + 1));
    add_number(&note, (uint64_t)pid);
    add_number(&note, why);
    add_clock(&note);
    add_program(&note, program);
    commit(&note);
}

void note_exec_failed(void)
{
    struct note note;
    start(&note, "failed");
    add_number(&note, (uint64_t)sys_getpid());
    add_clock(&note);
    commit(&note);
}

void note_child_end(int pid, int signal)
{
    struct note note;
    start(&note, "waited");
    add_number(&note, (uint64_t)pid);
    add_number(&note, (uint64_t)signal);
    add_clock(&note);
    commit(&note);
}
