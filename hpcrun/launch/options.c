#include "hpcrun/launch/options.h"

#include "lib/diag.h"
#include "lib/mem.h"
#include "lib/version.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATE 10000 /* more stalls machines */

static const char help[] =
    "usage: hpcrun [options] [--] command [arguments]\n"
    "\n"
    "Runs the command and samples the call paths of all its threads and child processes. The\n"
    "measurements go to a directory, which hpcprof turns into a database for hpcviewer.\n"
    "The exit status is the command's.\n"
    "\n"
    "  -e, --event EVENT[@PERIOD|@fRATE]\n"
    "                sample EVENT; may be given several times. EVENT is CPUTIME (time on a CPU,\n"
    "                the default, at 200/s), REALTIME (time, waiting included), or a PAPI preset or\n"
    "                native event. PERIOD is in microseconds for time, else a count; RATE is in\n"
    "                samples per second, at most 10000; the default is 200/s\n"
    "  -L, --list-events [all]\n"
    "                list the events that can be used here; with `all` also the others, and why not\n"
    "  -o, --output DIR\n"
    "                measurement directory; default hpctoolkit-COMMAND-measurements[-N], never one\n"
    "                that exists\n"
    "      --shared  let other users read the measurements, as far as the umask does; default only\n"
    "                you: they hold paths and the arguments of the command\n"
    "  -ds, --delay-sampling\n"
    "                start with sampling off; the program switches it on with\n"
    "                hpctoolkit_sampling_start() of <hpctoolkit.h>\n"
    "      --collapse-recursion\n"
    "                a call that comes from the same place as the call around it is recorded once:\n"
    "                small measurements of deep recursions, which then look one level deep\n"
    "      --agent NAMES\n"
    "                the agents that may be used, which know the program's parallel runtime: names\n"
    "                joined by commas, auto (the default: all that are installed) or none\n"
    "      --cores N how many CPUs count for idleness; default those that the program may use\n"
    "      --signal N\n"
    "                number of the real-time signal to use; default one that the command's process\n"
    "                has not taken\n"
    "  -q, --quiet   no summary line at the end (it is in DIR/hpcrun.log anyway)\n"
    "  -h, --help    this text\n"
    "  -V, --version the version\n"
    "\n"
    "example: hpcrun -e CPUTIME@f1000 ./app input\n"
    "         hpcprof hpctoolkit-app-measurements\n"
    "         hpcviewer hpctoolkit-app-database\n";

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

/* Whether `argument` is this option; an option's value is in the next argument, after '=' for the
 * long form, or for the short form in the same argument. */
static bool is_option(const char *argument, const char *brief, const char *full)
{
    size_t length = strlen(full);
    if (strncmp(argument, full, length) == 0 &&
        (argument[length] == '\0' || argument[length] == '='))
        return true;
    return brief && strncmp(argument, brief, 2) == 0;
}

static const char *option_value(char **arguments, int *at)
{
    const char *argument = arguments[*at];
    const char *equals = strchr(argument, '=');
    if (argument[1] == '-' && equals)
        return equals + 1;
    if (argument[1] != '-' && argument[2])
        return argument + 2;
    if (!arguments[*at + 1])
        diag_usage("%s needs a value", argument);
    return arguments[++*at];
}

static bool is_flag(const char *argument, const char *brief, const char *full)
{
    return strcmp(argument, brief) == 0 || strcmp(argument, full) == 0;
}

static void read_option(struct options *options, char **arguments, int *at)
{
    const char *argument = arguments[*at];
    if (is_flag(argument, "-h", "--help")) {
        fputs(help, stdout);
        exit(0);
    } else if (is_flag(argument, "-V", "--version")) {
        puts("hpcrun " HPCTOOLKIT_VERSION);
        exit(0);
    } else if (is_flag(argument, "-L", "--list-events")) {
        options->list_events = true;
    } else if (is_flag(argument, "-q", "--quiet")) {
        options->quiet = true;
    } else if (is_flag(argument, "-ds", "--delay-sampling")) {
        options->start_off = true;
    } else if (strcmp(argument, "--shared") == 0) {
        options->shared = true;
    } else if (strcmp(argument, "--collapse-recursion") == 0) {
        options->collapse_recursion = true;
    } else if (is_option(argument, "-e", "--event")) {
        add_event(options, option_value(arguments, at));
    } else if (is_option(argument, "-o", "--output")) {
        options->output = option_value(arguments, at);
    } else if (is_option(argument, NULL, "--signal")) {
        set_signal(options, option_value(arguments, at));
    } else if (is_option(argument, NULL, "--agent")) {
        options->agents = option_value(arguments, at);
    } else if (is_option(argument, NULL, "--cores")) {
        set_cores(options, option_value(arguments, at));
    } else {
        diag_usage("unknown option '%s'", argument);
    }
}

/* What follows -L: "all" or nothing. */
static void read_list_argument(struct options *options)
{
    if (strcmp(options->command[0], "all") != 0 || options->command[1])
        diag_usage("-L takes nothing or 'all', not '%s'",
                   options->command[strcmp(options->command[0], "all") == 0]);
    options->list_all_events = true;
}

void options_read(struct options *options, int count, char **arguments)
{
    *options = (struct options){.agents = "auto"};
    int at = 1;
    for (; at < count && arguments[at][0] == '-' && arguments[at][1]; at++) {
        if (strcmp(arguments[at], "--") == 0) {
            at++;
            break;
        }
        read_option(options, arguments, &at);
    }
    options->command = at < count ? arguments + at : NULL;
    if (options->list_events && options->command)
        read_list_argument(options);
}
