#include "lib/measurement-format.h"

#include <string.h>

static const char *const fates[] = {
    [FATE_FIRED] = "fired",
    [FATE_RECORDED] = "recorded",
    [FATE_IDLE] = "idle thread",
    [FATE_NOBODY_WORKING] = "nobody working",
    [FATE_DROPPED_OWN_CODE] = "dropped: in hpcrun's own code",
    [FATE_DROPPED_NO_MEMORY] = "dropped: out of memory",
    [FATE_DROPPED_ENDING] = "dropped: the thread or process was ending",
    [FATE_DROPPED_BEING_WRITTEN] = "dropped: the thread's data was being written",
    [FATE_PARTIAL_NO_FDE] = "partial: no unwind information",
    [FATE_PARTIAL_NO_RULE] = "partial: unwind rule that cannot be evaluated",
    [FATE_PARTIAL_NOT_READABLE] = "partial: memory not readable",
    [FATE_PARTIAL_NOT_A_RETURN_ADDRESS] = "partial: not a return address",
    [FATE_PARTIAL_TOO_DEEP] = "partial: deeper than the limit",
    [FATE_PARTIAL_NO_PROGRESS] = "partial: the stack did not advance",
    [FATE_PARTIAL_BUDGET] = "partial: search budget spent",
    [FATE_KERNEL_UNATTRIBUTED] = "kernel, unattributed",
};

static const char *const sources[] = {
    [SOURCE_TASK_CLOCK] = "timers and perf task-clock",
    [SOURCE_TASK_CLOCK_USER] = "perf task-clock without kernel samples",
    [SOURCE_CPU_TIMER] = "POSIX timers",
    [SOURCE_MONOTONIC_TIMER] = "POSIX timers on the wall clock",
    [SOURCE_COUNTER] = "perf counter",
    [SOURCE_OUTSIDE] = "perf from outside",
    [SOURCE_OUTSIDE_USER] = "perf from outside, without kernel samples",
};

static const char *const origins[] = {
    [ORIGIN_LAUNCHED] = "launched",
    [ORIGIN_EXEC] = "exec",
    [ORIGIN_FORK] = "fork",
    [ORIGIN_OTHER] = "other",
};

static const char *const process_states[] = {
    [PROCESS_RUNNING] = "unknown", [PROCESS_EXIT] = "exit",     [PROCESS_EXIT_NOW] = "_exit",
    [PROCESS_EXEC] = "exec",       [PROCESS_SIGNAL] = "signal", [PROCESS_QUICK_EXIT] = "quick_exit",
    [PROCESS_RUNS_ON] = "runs on",
};

static const char *const thread_kinds[] = {
    [THREAD_INITIAL] = "initial",
    [THREAD_PTHREAD] = "pthread",
    [THREAD_C11] = "C11",
};

static const char *const unmeasured_reasons[] = {
    [UNMEASURED_STATIC] = "statically linked",
    [UNMEASURED_OTHER_MACHINE] = "not an x86-64 program",
    [UNMEASURED_OTHER_LIBC] = "not linked with glibc",
    [UNMEASURED_SETUID] = "setuid",
    [UNMEASURED_SETGID] = "setgid",
    [UNMEASURED_CAPABILITIES] = "has file capabilities",
    [UNMEASURED_ENVIRONMENT] = "started without hpcrun's LD_PRELOAD",
    [UNMEASURED_OUT_OF_REACH] = "libhpcrun.so is out of its reach",
    [UNMEASURED_OTHER_USER] = "run by a user who may not write to the measurement directory",
    [UNMEASURED_OTHER_RUN] = "measured by an hpcrun of its own",
    [UNMEASURED_SHARED_MEMORY] = "shares the memory of its parent",
    [UNMEASURED_UNSEEN] = "left no record of itself",
    [UNMEASURED_UNKNOWN] = "did not load libhpcrun.so",
};

static const char *name_of(const char *const *names, size_t count, uint64_t code)
{
    return code < count ? names[code] : NULL;
}

#define NAME(names, code) name_of(names, sizeof(names) / sizeof *(names), code)

const char *fate_name(uint64_t code)
{
    return NAME(fates, code);
}

const char *source_name(uint64_t code)
{
    return NAME(sources, code);
}

const char *origin_name(uint64_t code)
{
    return NAME(origins, code);
}

const char *process_state_name(uint64_t state)
{
    return NAME(process_states, state);
}

const char *thread_kind_name(uint64_t kind)
{
    return NAME(thread_kinds, kind);
}

const char *unmeasured_reason(uint64_t code)
{
    return NAME(unmeasured_reasons, code);
}

static const char *text_behind(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return name && strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

const char *fate_drop_reason(uint64_t code)
{
    return text_behind(fate_name(code), "dropped: ");
}

const char *fate_partial_reason(uint64_t code)
{
    return text_behind(fate_name(code), "partial: ");
}
