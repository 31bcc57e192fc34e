#include "hpcrun/launch/options.h"

#include "lib/alloc.h"
#include "lib/arena-format.h"
#include "lib/diag.h"
#include "lib/option-table.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATE      10000 /* higher rates can stall a machine */
#define USUAL_REPEATS 5

enum {
    EVENT,
    LIST_EVENTS,
    OUTPUT,
    SHARED,
    DELAY_SAMPLING,
    PID,
    NAME,
    ALL,
    FOR,
    MEMORY,
    OUTSIDE,
    KERNEL,
    COLLAPSE_RECURSION,
    AGENT,
    TASK_CONTEXTS,
    OPENMP,
    CORES,
    TRACE,
    WORK_SPAN,
    WORKERS,
    REPEAT,
    SERIAL,
    SIGNAL,
    QUIET,
    OPTIONS
};

static const struct option_row rows[OPTIONS] = {
    [EVENT] =
        {"e", "event", "EVENT[@PERIOD|@fRATE]", "@event",
         "sample EVENT (repeatable); default rate 200/s",
         "Sample EVENT; can be given several times. EVENT is `CPUTIME` (time on a CPU, the default), "
         "`REALTIME` (time, waiting included) or a PAPI preset or native event; `hpcrun -L` lists them. "
         "PERIOD is in microseconds for time, else a count. RATE is in samples per second and thread, at most "
         "10000. The default is 200 samples per second. A counter without PERIOD is sampled by rate: its "
         "period follows the thread's counts, and the line at the end of the run says \"by rate\"."},
    [LIST_EVENTS] =
        {"L", "list-events", "[all]", NULL, "list the events that work here; all: the others, too",
         "List the events that can be used on this machine. With `all`, also list the others, each with "
         "the reason."},
    [OUTPUT] =
        {"o", "output", "DIR", "@directory", "measurement directory, new or empty",
         "The measurement directory. Default: `hpctoolkit-COMMAND-measurements`, or the same with a number "
         "after it if that exists. The ranks of a parallel job that Open MPI, MPICH, PMIx or Slurm starts "
         "share one. A directory that exists must be empty and belong to you."},
    [SHARED] =
        {NULL, "shared", NULL, NULL, "let other users read the measurements",
         "Let other users read the measurements, as far as the umask allows it. By default only you can: the "
         "measurements contain paths and the arguments of the command."},
    [DELAY_SAMPLING] =
        {"ds", "delay-sampling", NULL, NULL, "start with sampling off",
         "Start with sampling off. The program switches it on with `hpctoolkit_sampling_start()` of "
         "`<hpctoolkit.h>`."},
    [PID] =
        {"p", "pid", "PID[,PID...]", NULL, "measure running processes (--name: by name; -a: all)",
         "Measure these processes, which run already, and their descendants, from outside: see FROM OUTSIDE. It ends with "
         "these processes, with `--for`, or with Ctrl-C, which does not end them. Descendants that run already and can't be "
         "measured (of 32 bits, or of other users) are left out; a line has their number."},
    [NAME] =
        {NULL, "name", "PATTERN", NULL, NULL,
         "Measure all of your processes, as root all processes, whose name, or whose command's base name, matches the "
         "shell pattern PATTERN now, and what they start, as `-p` does. Those that called hpcrun are left out, as are "
         "processes that can't be measured (of 32 bits) or end before that; a line has their number."},
    [ALL] =
        {"a", "all", NULL, NULL, NULL,
         "Measure all processes of the system, and those that begin later, from outside, until Ctrl-C or for the time of "
         "`--for`. Only CPUTIME; only root may. Threads of the kernel and hpcrun's own processes are left out. A process "
         "without samples has no measurement file."},
    [FOR] =
        {NULL, "for", "TIME", NULL, "with -p or --outside: measure for TIME (30s, 5m)",
         "With `-p`, `--name` or `--outside`: measure for TIME, a number of seconds, or one with `s`, `m` or `h` after it."},
    [MEMORY] =
        {NULL, "memory", "SIZE", NULL, NULL,
         "With `-p`, `--name`, `-a` or `--outside`: use at most SIZE of memory, a number of bytes, or one with `K`, `M` or `G` after "
         "it; default 512M. When it is used up, further samples and processes are not recorded, and a line says how many."},
    [OUTSIDE] =
        {NULL, "outside", NULL, NULL, "run the command, and measure it from outside",
         "Run the command without anything loaded into it, and measure it from outside: see FROM OUTSIDE. This is "
         "what hpcrun does without the option, too, if the command is statically linked, or linked with another C "
         "library than glibc."},
    [KERNEL] =
        {NULL, "kernel", NULL, NULL, "show where in the kernel its time goes",
         "Samples in the kernel, for a system call or a page fault, have the kernel's procedures below the program's; "
         "times in them are in the metric `kernel`, too. perf then times all samples of CPUTIME, which costs more: "
         "doc/metrics.md has numbers. Ordinary users need kernel.perf_event_paranoid at 1 or below. From outside, "
         "samples have these frames without the option."},
    [COLLAPSE_RECURSION] =
        {NULL, "collapse-recursion", NULL, NULL, "record a direct recursion one level deep",
         "Record a call once if it comes from the same place as the call around it. Measurements "
         "of deep recursions stay small; the views then show these recursions one level deep."},
    [AGENT] =
        {NULL, "agent", "NAMES", "auto none", "agents for parallel runtimes; default auto",
         "The agents that hpcrun can use: names joined by commas, `auto` (the default: all that are "
         "installed) or `none`. An agent knows one parallel runtime."},
    [TASK_CONTEXTS] =
        {NULL, "task-contexts", "KIND", "full site off",
         "what to keep of task creations; default full",
         "What is kept at the creation of an OpenMP task for its call path. `full` (the default): the frames of the "
         "code that created it, by copying a part of the stack. `site`: only the call. `off`: nothing; tasks are shown "
         "below the construct in which their creator ran. Less costs less where tasks are tiny: see "
         "doc/openmp.md."},
    [OPENMP] =
        {NULL, "openmp", "RUNTIME", "llvm", "llvm: run gcc's OpenMP programs on LLVM's runtime",
         "With `llvm`: run a program that is linked to GCC's OpenMP (libgomp) on LLVM's (libomp) instead, which must be "
         "installed. Its schedules, its way of waiting and its costs are different, so the times are not those "
         "of the program without the option: see doc/openmp.md."},
    [CORES] =
        {NULL, "cores", "N", NULL, "number of CPUs that idleness counts",
         "Number of CPUs that count for idleness. Default: the CPUs that the program may use. With more than "
         "that, idleness by CPUTIME is about that of a machine with N CPUs, as far as the system shares its "
         "CPUs fairly."},
    [TRACE] =
        {NULL, "trace", "KIND", "full off", "full, off, or records per thread; default 16256",
         "How much of the time line is recorded: when each sample came, and what it found. By default a thread keeps at "
         "most 16256 records, about 0.5 MB of memory and 0.2 MB of its measurement file: of a longer run the line gets "
         "coarser, uniformly, and its shares stay right. A number is another limit, `full` is none, and `off` records "
         "no time line."},
    [WORK_SPAN] =
        {NULL, "work-span", NULL, NULL, "measure work and span of fork-join programs",
         "Measure work, span and burdened span exactly, in every calling context, from what the runtime "
         "reports of spawns, syncs and steals, or of regions and tasks. Needs a runtime that can report it: "
         "minicilk, OpenMP of gcc or LLVM, or OpenCilk if the program is compiled for Cilkscale. Programs with "
         "tasks of less than a microsecond run slower. With `--workers`: in one more run, with the fewest workers, "
         "so that the times of the others do not contain it."},
    [WORKERS] =
        {NULL, "workers", "P,Q,...", NULL, "run with each number of workers; -o SET has the runs",
         "Run the command with each of these numbers of workers, several times, and keep the runs in one "
         "directory, the set, which `-o` names. See SETS OF RUNS."},
    [REPEAT] =
        {NULL, "repeat", "N", NULL, "runs for each number of workers; default 5",
         "With `--workers`: runs for each number of workers. Default: 5. Six or more give a 95 % interval."},
    [SERIAL] =
        {NULL, "serial", "CMD", NULL, "serial program, the baseline of speedups",
         "With `--workers`: also run the serial program, the baseline of speedups, as often. The shell runs CMD."},
    [SIGNAL] =
        {NULL, "signal", "N", NULL, NULL,
         "Number of the real-time signal to use. Default: one that the process of the command has not taken."},
    [QUIET] =
        {"q", "quiet", NULL, NULL, "print no line at the end",
         "Print no line about the process at its end. The file `hpcrun.log` in the measurement directory has it anyway."},
};

static const struct option_table table = {
    .tool = "hpcrun",
    .before = "usage: hpcrun [options] [--] command [arguments]\n"
              "\n"
              "Runs the command and samples the call paths of all its threads and processes.\n"
              "hpcviewer shows the measurements. The exit status is the command's.\n"
              "\n",
    .after = "\n"
             "EVENT is CPUTIME (on a CPU, the default), REALTIME (with waiting) or a counter.\n"
             "PERIOD is in microseconds or a count; RATE in samples per second, up to 10000.\n"
             "\n"
             "example: hpcrun -e CPUTIME@f1000 ./app input\n"
             "         hpcviewer hpctoolkit-app-measurements\n"
             "The manual page hpcrun(1) says more about every option.\n",
    .rows = rows,
    .n = OPTIONS,
    .stops_at_operand = true,
};

static bool is_time_name(const char *name)
{
    return strcmp(name, "CPUTIME") == 0 || strcmp(name, "REALTIME") == 0;
}

const char *options_parse_event(const char *text, struct event_request *request)
{
    const char *at = strrchr(text, '@');
    *request = (struct event_request){0};
    request->name = at ? mem_strndup(text, (size_t)(at - text)) : mem_strdup(text);
    if (request->name[0] == '\0')
        return "no event name";
    if (strlen(request->name) >= MAX_EVENT_NAME || strpbrk(request->name, "|;"))
        return "no such event";
    if (!at)
        return NULL;
    bool time = is_time_name(request->name), rate = at[1] == 'f';
    char *end;
    double value = strtod(at + 1 + rate, &end);
    if (end == at + 1 + rate || *end || !(value > 0) || value > 1e15)
        return rate ? "the rate is not a number above 0" : "the period is not a number above 0";
    if (rate)
        request->rate = value;
    else
        request->period = (uint64_t)(time ? value * 1000 : value);
    if ((rate || time) && (rate ? value : 1e6 / value) > MAX_RATE)
        return "at most 10000 samples per second";
    if (!rate && request->period == 0)
        return "the period is below 1";
    return NULL;
}

static void add_event(struct options *options, const char *text)
{
    if (options->event_count == MAX_EVENTS)
        diag_usage("at most %d events", MAX_EVENTS);
    struct event_request *request = &options->events[options->event_count++];
    const char *problem = options_parse_event(text, request);
    if (problem)
        diag_usage("event '%s': %s", text, problem);
}

static void set_signal(struct options *options, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (*text == '\0' || *end || number < SIGRTMIN || number > SIGRTMAX)
        diag_usage("--signal %s: not a real-time signal (%d to %d)", text, SIGRTMIN, SIGRTMAX);
    options->signal = (int)number;
}

static void set_cores(struct options *options, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (*text == '\0' || *end || number < 1 || number > 1 << 20)
        diag_usage("--cores %s: not a number of CPUs", text);
    options->cores = (unsigned)number;
}

/* Fewer records show nothing. */
#define MIN_TRACE 64

static void set_trace(struct options *options, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (strcmp(text, "full") == 0)
        options->trace = TRACE_MAX_COUNT;
    else if (strcmp(text, "off") == 0)
        options->trace = 0;
    else if (*text == '\0' || *end || number < MIN_TRACE || number > TRACE_MAX_COUNT)
        diag_usage("--trace %s: not full, off, or a number of records from %d on", text, MIN_TRACE);
    else
        options->trace = (unsigned)number;
}

static void set_task_contexts(struct options *options, const char *text)
{
    if (strcmp(text, "full") != 0 && strcmp(text, "site") != 0 && strcmp(text, "off") != 0)
        diag_usage("--task-contexts %s: not full, site or off", text);
    options->task_contexts = text;
}

static void set_seconds(struct options *options, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    if (end == text || !(value > 0) || value * unit > 1e9 ||
        (*end && (!strchr("smh", *end) || end[1])))
        diag_usage("--for %s: not a time such as 30s, 5m or 1h", text);
    options->seconds = value * unit;
}

static void set_memory(struct options *options, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    double unit = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    if (end == text || value * unit < 1 << 20 || value * unit > 1e15 || (*end && (!strchr("KMG", *end) || end[1])))
        diag_usage("--memory %s: not a size from 1M on, such as 256M or 1G", text);
    options->memory = (uint64_t)(value * unit);
}

static void choose_processes(struct options *options, const char *pids)
{
    if (options->pids)
        diag_usage("-p and -a: only one of them is possible, once; -p PID,PID measures several processes");
    options->pids = pids;
}

static void set_pids(struct options *options, const char *text)
{
    size_t number;
    for (const char *at = text;; at += number + 1) {
        number = strspn(at, "0123456789");
        if (number == 0 || number > 9 || (at[number] && at[number] != ','))
            diag_usage("-p %s: not numbers of processes with commas between them", text);
        if (!at[number])
            break;
    }
    choose_processes(options, text);
}

static void set_openmp(struct options *options, const char *text)
{
    if (strcmp(text, "llvm") != 0)
        diag_usage("--openmp %s: not llvm", text);
    options->is_on_llvm_openmp = true;
}

#define MAX_WORKERS 100000
#define MAX_REPEATS 1000

static unsigned number_in(const char *option, const char *text, char **end, unsigned most)
{
    long number = strtol(text, end, 10);
    if (*end == text || number < 1 || number > (long)most)
        diag_usage("%s %s: not a number from 1 to %u", option, text, most);
    return (unsigned)number;
}

static void set_workers(struct options *options, const char *text)
{
    char *end = NULL;
    options->worker_count = 0;
    for (const char *at = text;; at = end + 1) {
        unsigned workers = number_in("--workers", at, &end, MAX_WORKERS);
        for (unsigned i = 0; i < options->worker_count; i++)
            if (options->workers[i] == workers)
                diag_usage("--workers: %u is there twice", workers);
        if (options->worker_count == MAX_WORKER_COUNTS)
            diag_usage("--workers: at most %d numbers", MAX_WORKER_COUNTS);
        options->workers[options->worker_count++] = workers;
        if (!*end)
            return;
        if (*end != ',')
            diag_usage("--workers takes numbers with commas between them, not '%s'", text);
    }
}

static void set_repeats(struct options *options, const char *text)
{
    char *end;
    options->repeats = number_in("--repeat", text, &end, MAX_REPEATS);
    if (*end)
        diag_usage("--repeat takes a number, not '%s'", text);
}

static void check_set(struct options *options)
{
    if (options->worker_count == 0 && (options->repeats || options->serial))
        diag_usage("--repeat and --serial need --workers");
    if (options->worker_count && !options->output)
        diag_usage("--workers needs -o SET, the directory for all runs");
    if (options->worker_count && options->repeats == 0)
        options->repeats = USUAL_REPEATS;
    if (options->worker_count)
        options->quiet = true; /* a line per run instead */
}

static void check_outside(const struct options *options)
{
    if (options->pids && options->name)
        diag_usage("-p, -a and --name: only one of them is possible");
    if ((options->pids || options->name) && options->command)
        diag_usage("-p, -a and --name measure processes that run already: there can't be a command");
    if (options->seconds > 0 && !options->pids && !options->name && !options->is_outside)
        diag_usage("--for needs -p, -a, --name or --outside");
    if (options->memory && !options->pids && !options->name && !options->is_outside)
        diag_usage("--memory needs -p, -a, --name or --outside");
    if (options->worker_count && (options->pids || options->name || options->is_outside))
        diag_usage("--workers runs a command that hpcrun is loaded into: not with -p or --outside");
}

static void take_option(void *target, size_t option, const char *value)
{
    struct options *options = target;
    switch (option) {
    case EVENT: add_event(options, value); break;
    case LIST_EVENTS: options->list_events = true; break;
    case OUTPUT: options->output = value; break;
    case SHARED: options->shared = true; break;
    case DELAY_SAMPLING: options->start_off = true; break;
    case PID: set_pids(options, value); break;
    case NAME: options->name = value; break;
    case ALL: choose_processes(options, OUTSIDE_ALL); break;
    case FOR: set_seconds(options, value); break;
    case MEMORY: set_memory(options, value); break;
    case OUTSIDE: options->is_outside = true; break;
    case KERNEL: options->kernel = true; break;
    case COLLAPSE_RECURSION: options->collapse_recursion = true; break;
    case AGENT: options->agents = value; break;
    case TASK_CONTEXTS: set_task_contexts(options, value); break;
    case OPENMP: set_openmp(options, value); break;
    case CORES: set_cores(options, value); break;
    case TRACE: set_trace(options, value); break;
    case WORK_SPAN: options->work_span = true; break;
    case WORKERS: set_workers(options, value); break;
    case REPEAT: set_repeats(options, value); break;
    case SERIAL: options->serial = value; break;
    case SIGNAL: set_signal(options, value); break;
    case QUIET: options->quiet = true; break;
    }
}

/* Reads the operand of -L: "all" or nothing. */
static void read_list_argument(struct options *options)
{
    if (strcmp(options->command[0], "all") != 0 || options->command[1])
        diag_usage("-L takes 'all' or nothing, not '%s'",
                   options->command[strcmp(options->command[0], "all") == 0]);
    options->list_all_events = true;
}

void options_read(struct options *options, int count, char **arguments)
{
    *options = (struct options){.agents = "auto", .trace = TRACE_RECORDS};
    int at = option_table_parse(&table, count, arguments, take_option, options);
    options->command = at < count ? arguments + at : NULL;
    check_set(options);
    check_outside(options);
    if (options->list_events && options->command)
        read_list_argument(options);
}
