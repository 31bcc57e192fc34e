/* hpcrun, the launcher: checks the command and the events, makes the measurement directory, sets up
 * the environment for the preloaded library, and becomes the command by an exec. */
#include "hpcrun/base/command-start.h"
#include "hpcrun/launch/event-options.h"
#include "hpcrun/launch/harmless-filters.h"
#include "hpcrun/launch/installed-agents.h"
#include "hpcrun/launch/kernel-option.h"
#include "hpcrun/launch/llvm-openmp.h"
#include "hpcrun/launch/measurement-directory.h"
#include "hpcrun/launch/running-processes.h"
#include "hpcrun/launch/options.h"
#include "hpcrun/launch/outside-launch.h"
#include "hpcrun/launch/outside-session.h"
#include "hpcrun/launch/set-runner.h"
#include "hpcrun/launch/target.h"
#include "lib/alloc.h"
#include "lib/diag.h"

#include <errno.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIBRARY  "libhpcrun.so"
#define CILKTOOL "libhpctoolkit-cilktool.so" /* in the same folder */
#define RANGES   "libhpctoolkit-ranges.so"   /* also */

/* The path of this program; without /proc, the path that was executed. */
static char *find_self(void)
{
    char *self = realpath("/proc/self/exe", NULL);
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    if (!self && started)
        self = realpath(started, NULL);
    if (!self)
        diag_fatal("/proc/self/exe", "%s", strerror(errno));
    return self;
}

/* The library is in ../lib from the launcher, in the build tree and in an installation. */
static char *find_library(void)
{
    char *self = find_self();
    char *candidate = mem_printf("%s/../lib/" LIBRARY, dirname(self));
    char *path = realpath(candidate, NULL);
    if (!path)
        diag_fatal(candidate, "%s", strerror(errno));
    if (strpbrk(path, ": \t"))
        diag_fatal(path, "a path with a space or colon can't be preloaded: install elsewhere");
    free(candidate);
    free(self);
    return path;
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        diag_fatal(NULL, "environment: %s", strerror(errno));
}

static void set_number(const char *name, long number)
{
    char *text = mem_printf("%ld", number);
    set(name, text);
    free(text);
}

/* Our libraries come first: their wrappers must see what the program calls. */
static void preload(const char *library, const char *further)
{
    const char *others = getenv("LD_PRELOAD");
    bool has_others = others && *others;
    char *list = mem_printf("%s%s%s%s%s", library, *further ? ":" : "", further,
                            has_others ? ":" : "", has_others ? others : "");
    set("LD_PRELOAD", list);
    free(list);
}

/* The address sanitizer's runtime ends a program if another library is loaded before it. */
static void allow_preload_under_asan(void)
{
    const char *others = getenv("ASAN_OPTIONS");
    char *list = mem_printf("%s%sverify_asan_link_order=0", others ? others : "",
                            others && *others ? ":" : "");
    set("ASAN_OPTIONS", list);
    free(list);
}

/* Of a script that becomes hpcrun by exec, too. The command keeps this account. */
static unsigned cpu_of_children_ms(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_CHILDREN, &usage);
    return (unsigned)((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                      (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000);
}

static void prepare_environment(const struct options *options, const struct config *config,
                                const char *agents, const struct measurement_directory *directory,
                                bool measures_work_span)
{
    char events[MAX_EVENTS * (MAX_EVENT_NAME + 128)];
    struct text text = TEXT(events);
    char *letters = mem_printf("%s%s%s%s%s%s", config->is_outside ? "o" : "",
                               options->collapse_recursion ? "c" : "", options->start_off ? "d" : "",
                               options->quiet ? "q" : "",
                               options->shared ? "s" : "", measures_work_span ? "w" : "");
    config_write_events(config, &text);
    set(CONFIG_DIR, directory->path);
    set_number(CONFIG_OWNER, directory->owner);
    set(CONFIG_EVENTS, events);
    set(CONFIG_OPTIONS, letters);
    set(CONFIG_AGENTS, agents);
    set_number(CONFIG_PID, getpid());
    if (options->signal)
        set_number(CONFIG_SIGNAL, options->signal);
    if (options->task_contexts)
        set(CONFIG_TASK_CONTEXTS, options->task_contexts);
    set_number(CONFIG_TRACE, options->trace);
    if (options->cores)
        set_number(CONFIG_CORES, options->cores);
    set_number(CONFIG_FILTERS, harmless_filters(directory->path));
    set_number(CONFIG_CHILDREN, cpu_of_children_ms());
    free(letters);
}

/* What is the same for all runs of a set. */
struct launch {
    const struct options *options;
    struct config config;
    char *library, *agents;
    char *processes; /* that run already (running_processes); NULL: a command */
    char *preloaded; /* agents, and perhaps an OpenMP runtime: paths joined by colons */
    bool is_explained; /* the limitations of the events have been printed */
    struct command_actions actions;
};

static void add_llvm_openmp(struct launch *launch)
{
    char *program = target_find(launch->options->command[0]);
    char *libomp = llvm_openmp_for(program), *agents = launch->preloaded;
    launch->preloaded = mem_printf("%s%s%s", agents, *agents ? ":" : "", libomp);
    free(agents);
    free(libomp);
    free(program);
}

/* The path of a library in the folder of ours; NULL if it is not installed. The caller frees. */
static char *find_other_library(const struct launch *launch, const char *name)
{
    char *folder = mem_strdup(launch->library);
    char *path = mem_printf("%s/%s", dirname(folder), name);
    bool is_there = access(path, R_OK) == 0;
    free(folder);
    if (!is_there)
        free(path);
    return is_there ? path : NULL;
}

/* The preloaded libraries besides ours, with the one that has the hooks of programs for OpenCilk's
 * tools, if that is installed. The caller frees. */
static char *add_cilktool(const struct launch *launch)
{
    char *tool = find_other_library(launch, CILKTOOL);
    bool has_others = *launch->preloaded;
    char *list = mem_printf("%s%s%s", tool ? tool : "", tool && has_others ? ":" : "", launch->preloaded);
    free(tool);
    return list;
}

/* Programs with ITT's tasks or NVTX's ranges look for a tool in these variables. The user's own stays. */
static void offer_ranges(const struct launch *launch)
{
    char *ranges = launch->options->trace ? find_other_library(launch, RANGES) : NULL;
    if (ranges && (setenv("INTEL_LIBITTNOTIFY64", ranges, 0) != 0 || setenv("NVTX_INJECTION64_PATH", ranges, 0) != 0))
        diag_fatal(NULL, "environment: %s", strerror(errno));
    free(ranges);
}

/* Becomes the command. Ends the process with a message if that fails. */
static void become(const void *context, char **command, const char *output,
                   bool measures_work_span)
{
    const struct launch *launch = context;
    char *path = target_find(command[0]);
    target_check(path);
    struct measurement_directory directory =
        directory_make(output, command[0], launch->options->shared);
    if (!launch->is_explained)
        events_explain(&launch->config);
    prepare_environment(launch->options, &launch->config, launch->agents, &directory,
                        measures_work_span);
    if (config_wants_kernel_frames(&launch->config))
        kernel_option_save_names(&directory, launch->options->shared);
    offer_ranges(launch);
    preload(launch->library, measures_work_span ? add_cilktool(launch) : launch->preloaded);
    allow_preload_under_asan();
    command_actions_restore(&launch->actions);
    execv(path, command);
    int error = errno;
    directory_give_back(&directory);
    diag_error(path, "%s", command_problem(error));
    exit(error == ENOENT ? 127 : 126);
}

/* Becomes hpcrun-outside, for the command or for processes that run already. */
static _Noreturn void become_outside(struct launch *launch)
{
    const struct options *options = launch->options;
    char *file = launch->processes ? NULL : target_find(options->command[0]);
    if (file)
        target_check_outside(file);
    outside_check(options, &launch->config, launch->processes, launch->library);
    const char *name = file ? options->command[0] : outside_name(launch->processes);
    struct measurement_directory directory =
        directory_make(options->output, name, options->shared);
    launch->config.is_outside = true;
    launch->config.events[0].options |= options->kernel ? EVENT_KERNEL_FRAMES : 0; /* it says if it can't have them */
    const char *agents = strcmp(options->agents, "none") == 0 ? "" : OUTSIDE_AGENTS;
    prepare_environment(options, &launch->config, agents, &directory, false);
    command_actions_restore(&launch->actions);
    outside_become(options, launch->processes, file, launch->library);
}

/* Whether the command can only be measured from outside; says so. Ends the process if it can't be measured
 * at all. */
static bool must_be_outside(const struct options *options)
{
    char *path = target_find(options->command[0]);
    bool is_foreign = target_is_foreign(path);
    if (!is_foreign)
        target_check(path);
    free(path);
    return is_foreign;
}

int main(int count, char **arguments)
{
    static struct options options;
    static struct launch launch = {.options = &options};
    diag_init("hpcrun");
    options_read(&options, count, arguments);
    if (options.list_events)
        return events_list(options.list_all_events);
    launch.actions = command_actions_replace();
    if (options.pids || options.name)
        outside_session_begin();
    launch.processes = running_processes(&options);
    if (!options.command && !launch.processes)
        diag_usage("no command");
    bool is_outside = launch.processes || options.is_outside ||
                      (options.worker_count == 0 && must_be_outside(&options));
    events_configure(&options, &launch.config);
    launch.library = find_library();
    launch.agents = agents_list(launch.library, options.agents,
                                options.is_on_llvm_openmp ? "gomp" : "", &launch.preloaded);
    if (is_outside)
        become_outside(&launch);
    if (options.kernel)
        kernel_option_apply(&launch.config);
    if (options.is_on_llvm_openmp)
        add_llvm_openmp(&launch);
    if (options.worker_count) {
        events_explain(&launch.config);
        launch.is_explained = true;
        return set_run_all(&options, become, &launch);
    }
    become(&launch, options.command, options.output, options.work_span);
}
