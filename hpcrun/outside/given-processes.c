#include "hpcrun/outside/given-processes.h"

#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/perf-rights.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/outside/printed-text.h"
#include "lib/alloc.h"
#include "lib/diag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One that is there already is not added. */
static void add(struct given_processes *given, int pid)
{
    for (size_t i = 0; i < given->count; i++)
        if (given->pids[i] == pid)
            return;
    given->pids = mem_resize(given->pids, given->count + 1, sizeof *given->pids);
    given->pids[given->count++] = pid;
}

struct given_processes given_parse(const char *text)
{
    struct given_processes given = {0};
    const char *others = strchr(text, ';');
    for (char *end; *text; text = end + (*end == ',')) {
        if (text == others)
            text++;
        add(&given, (int)strtol(text, &end, 10));
        if (end == text)
            diag_fatal(text, "not a number of a process");
        if (!others || text < others)
            given.asked = given.count;
    }
    return given;
}

/* ---- those that are left out ---- */

struct left_out {
    size_t ended, other_machine, other;
    int first, error; /* the first one that perf refuses, and why; 0: none */
};

static void leave_out(struct left_out *left_out, int pid, enum measured_look look, int error)
{
    left_out->ended += look == LOOK_ENDED || error == -ESRCH;
    left_out->other_machine += look == LOOK_OTHER_MACHINE;
    left_out->other += look != LOOK_ENDED && look != LOOK_OTHER_MACHINE && error != -ESRCH;
    if (error != 0 && error != -ESRCH && left_out->first == 0) {
        left_out->first = pid;
        left_out->error = error;
    }
}

/* "3 of 17 processes are not measured; ended meanwhile: 2, not x86-64: 1" */
static void report(const struct left_out *left_out, size_t asked)
{
    char buffer[256];
    struct text line = TEXT(buffer);
    size_t count = left_out->ended + left_out->other_machine + left_out->other;
    if (count == 0)
        return;
    text_print(&line, "%zu of %zu processes are not measured; ", count, asked);
    const size_t begin = line.length;
    text_print_part(&line, begin, ", ", left_out->ended, "ended meanwhile: %zu", left_out->ended);
    text_print_part(&line, begin, ", ", left_out->other_machine, "not x86-64: %zu", left_out->other_machine);
    text_print_part(&line, begin, ", ", left_out->other, "not permitted: %zu", left_out->other);
    if (count == asked)
        diag_error(NULL, "%s", buffer);
    else
        diag_note(NULL, "%s", buffer);
}

/* The first that can't be measured ends it. */
static bool open_asked(const struct given_processes *given, int (*open)(int pid))
{
    for (size_t i = 0; i < given->asked; i++) {
        if (!measured_may_look(given->pids[i]))
            return false;
        int error = open ? open(given->pids[i]) : perf_events_probe(given->pids[i]);
        if (!perf_rights_suffice(given->pids[i], error))
            return false;
    }
    return true;
}

bool given_open(struct given_processes *given, int (*open)(int pid))
{
    struct left_out left_out = {0};
    size_t count = given->count, kept = given->asked;
    if (!open_asked(given, open))
        return false;
    for (size_t i = kept; i < count; i++) {
        int pid = given->pids[i], thread_of, error = 0;
        enum measured_look look = measured_look(pid, &thread_of);
        if (look == LOOK_ALLOWED)
            error = open ? open(pid) : perf_events_probe(pid);
        if (look == LOOK_ALLOWED && error == 0)
            given->pids[kept++] = pid;
        else
            leave_out(&left_out, pid, look, error);
    }
    given->count = kept;
    if (kept == 0 && left_out.first)
        perf_rights_suffice(left_out.first, left_out.error);
    else if (open || kept == 0)
        report(&left_out, count);
    return kept > 0;
}
