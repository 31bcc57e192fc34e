#include "hpcrun/process/process-notes.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/common-files.h"
#include "hpcrun/process/process.h"
#include "lib/printable.h"

#include <stdatomic.h>
#include <string.h>

/* Bytes of a program's path that are written. */
#define MAX_PROGRAM 512

/* Lines about children that are kept while they can't be written: more than 1,000. */
#define PENDING_BYTES 65536

/* The text of a note, on the stack, since the child of a vfork shares our memory. A number has up to 20
 * digits. */
#define NOTE(note)                                                                                 \
    char note##_buffer[MAX_PROGRAM + 192] = "";                                                    \
    struct text note = TEXT(note##_buffer)

static void add_number(struct text *note, uint64_t number)
{
    text_add(note, " ");
    text_add_number(note, number);
}

/* Whether the printable form has at most `most` bytes. */
static bool fits(const char *text, size_t most)
{
    char form[PRINTABLE_BYTES];
    for (size_t size = 0; *text;)
        if ((size += printable_next(&text, form)) > most)
            return false;
    return true;
}

/* Of a path that is too long, the end is written, which has the program's name: ".../bin/app". */
static void add_program(struct text *note, const char *program)
{
    static const char cut[] = "...";
    char form[MAX_PROGRAM];
    const char *from = program;
    if (!fits(from, sizeof form - 1))
        while (!fits(from, sizeof form - 1 - strlen(cut)))
            from += 1 + strcspn(from + 1, "/");
    text_add(note, from == program ? " " : " ...");
    text_add_bytes(note, form, printable_copy(form, sizeof form, from));
}

/* Lines about children that could not be written. The list gets them if it can be written again; else
 * the launched process says how many they are. */
static struct {
    _Atomic bool taken;
    struct text lines;
    long error;
    char buffer[PENDING_BYTES];
} pending = {.lines = {.at = pending.buffer, .room = sizeof pending.buffer}};

/* A child that shares our memory leaves them alone. */
static bool take_pending(void)
{
    return process_is_ours() && !atomic_exchange(&pending.taken, true);
}

static void release_pending(void)
{
    atomic_store(&pending.taken, false);
}

static void write_pending(void)
{
    struct text *lines = &pending.lines;
    if (lines->length == 0 || !take_pending())
        return;
    if (common_file_append(COMMON_LIST, lines->at, lines->length) == 0)
        lines->length = 0;
    release_pending();
}

static void keep_pending(const struct text *note, long error)
{
    if (!take_pending())
        return;
    pending.error = error;
    if (pending.lines.length + note->length < pending.lines.room)
        text_add_bytes(&pending.lines, note->at, note->length);
    release_pending();
}

const struct text *notes_pending(void)
{
    return &pending.lines;
}

long notes_pending_error(void)
{
    return pending.lines.length ? pending.error : 0;
}

void notes_after_fork(void)
{
    pending.lines.length = 0;
    release_pending();
}

static long commit(struct text *note)
{
    text_add(note, "\n");
    write_pending();
    return common_file_append(COMMON_LIST, note->at, note->length);
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

bool note_end(enum process_state state, int detail, const struct image_account *account)
{
    NOTE(note);
    text_add(&note, "end");
    add_number(&note, (uint64_t)process.pid);
    add_number(&note, process.start_ticks);
    add_number(&note, state);
    add_number(&note, (uint64_t)detail);
    add_clock(&note);
    add_number(&note, account->loss);
    add_number(&note, (uint64_t)(account->error < 0 ? -account->error : account->error));
    add_number(&note, account->process_cpu);
    add_number(&note, account->children_cpu);
    return commit(&note) == 0;
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

void note_child_end(int pid, int signal, uint64_t cpu)
{
    NOTE(note);
    text_add(&note, "waited");
    add_number(&note, (uint64_t)pid);
    add_number(&note, (uint64_t)signal);
    add_clock(&note);
    add_number(&note, cpu);
    add_number(&note, (uint64_t)process.pid);
    long error = commit(&note);
    if (error != 0)
        keep_pending(&note, error);
}
