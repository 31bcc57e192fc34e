/* Rules about code: where the time is, and what hides that. */
#include "viewer-tui/advice/advice-rules.h"

#include "viewer-tui/tree/code-owner.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

/* Smaller shares of the CPU time are not reported. */
#define LEAST_SHARE 0.10

/* From this share on the finding comes first: the others are about the rest of the program. */
#define MOST_OF_IT 0.50

/* hpcprof's name for code made at run time that no map or agent describes. */
#define UNKNOWN_CODE "<unknown code>"

/* And for time in the kernel that perf hides. */
#define HIDDEN_CODE "<kernel, unattributed>"

/* The agent for Python's name for frames that hpcrun could not read from outside; a line of hpcrun has their number. */
#define FRAMES_NOT_READ "<Python frames not read in time>"

/* ---- The row with most of the CPU time ---- */

/* Programs without such a place have many small procedures. */
#define LEAST_HOT_SHARE 0.05

/* A place with this share of its time in system calls is no hot place, too, if the finding about system calls names it. The
 * rest of its time is rarely worth a finding of its own: a judgement. */
#define MOST_OF_A_PLACE 0.75

/* From this share of its CPU time off the CPU on, a call waits. */
#define WAITING_SHARE 0.10

/* Whether the time may be from elsewhere: by REALTIME the CPU time since the last sample is charged
 * to the place where the thread waits next. */
static bool is_elsewhere(const struct facts *facts, const struct hotspot *hotspot)
{
    char buffer[NAME_SIZE];
    double seconds_off_cpu = 0;
    if (facts->cpu.without == NO_METRIC || hotspot->callee == NOTHING ||
        wait_of(database_procedure_name(facts->view->db, hotspot->callee, buffer)) == WAIT_NONE)
        return false;
    for (size_t i = 0; i < facts->off_cpu_places.list.n; i++)
        if (hotspot_has(hotspot, &facts->off_cpu_places.list.at[i]))
            seconds_off_cpu += facts->off_cpu_places.list.at[i].seconds;
    return seconds_off_cpu >= WAITING_SHARE * hotspot->cost;
}

/* Whether another finding, or hpcrun, says what there is to say: code made at run time without names, or a system call, whose
 * caller has no name either; the place with most of the system calls, if they have most of its time. */
static bool is_said(const struct facts *facts, const struct hotspot *hotspot)
{
    char buffer[NAME_SIZE];
    double seconds_in_calls = 0;
    struct subject calls = {0};
    const struct database *db = facts->view->db;
    bool is_caller = !database_procedure_has_name(db, hotspot->procedure) && hotspot->callee != NOTHING;
    const char *name = database_procedure_name(db, is_caller ? hotspot->callee : hotspot->procedure, buffer);
    if (strcmp(name, HIDDEN_CODE) == 0 || strcmp(name, FRAMES_NOT_READ) == 0)
        return true;
    if ((is_caller || hotspot->owner == CODE_OF_SYSTEM) && (strcmp(name, UNKNOWN_CODE) == 0 || is_system_call(name)))
        return true;
    if (!has_system_calls(facts, &calls) || !hotspot_has(hotspot, calls.of))
        return false;
    for (size_t i = 0; i < facts->cpu_places.list.n; i++) {
        const struct time_place *place = &facts->cpu_places.list.at[i];
        seconds_in_calls += place->is_system_call && hotspot_has(hotspot, place) ? place->seconds : 0;
    }
    return seconds_in_calls >= MOST_OF_A_PLACE * hotspot->cost;
}

bool is_hot(const struct facts *facts, struct subject *subject)
{
    size_t i = 0;
    while (i < facts->hotspots.n &&
           (facts->hotspots.at[i].procedure == NOTHING || is_elsewhere(facts, &facts->hotspots.at[i]) ||
            is_said(facts, &facts->hotspots.at[i])))
        i++;
    if (i == facts->hotspots.n)
        return false;
    subject->place = facts->hotspots.at[i];
    subject->share = facts_share_of_cpu(facts, subject->place.cost);
    return subject->share.low >= LEAST_HOT_SHARE;
}

void say_hot(const struct facts *facts, const struct subject *subject, struct text *text)
{
    text_printf(text, "%s of the %s is in %s", as_percent(subject->share.value).text, facts_time(facts),
                subject->where);
    hotspot_describe_callee(facts->view->db, &subject->place, text);
    text_add(text, ".");
}

/* ---- Code made at run time without names, and the kernel's, which perf hides ---- */

/* The share of the time in procedures of this name. */
static bool has_share_in(const struct facts *facts, const char *name, struct subject *subject)
{
    const struct time_places *places = &facts->cpu_places;
    double seconds = 0;
    for (size_t i = 0; i < places->list.n; i++) {
        char buffer[NAME_SIZE];
        uint32_t leaf = places->list.at[i].leaf;
        if (leaf != NOTHING && strcmp(database_procedure_name(facts->view->db, leaf, buffer), name) == 0)
            seconds += places->list.at[i].seconds;
    }
    subject->share = facts_share_of_cpu(facts, seconds);
    if (subject->share.low > MOST_OF_IT)
        subject->order = ORDER_FIRST;
    return subject->share.low >= LEAST_SHARE;
}

bool is_hidden(const struct facts *facts, struct subject *subject)
{
    return has_share_in(facts, HIDDEN_CODE, subject);
}

void say_hidden(const struct facts *facts, const struct subject *subject, struct text *text)
{
    text_printf(text,
                "%s of the %s is in the kernel, where perf takes no samples for this user: as root, or after "
                "sysctl kernel.perf_event_paranoid=1, hpcrun shows which calls.",
                as_percent(subject->share.value).text, facts_time(facts));
}

bool has_no_names(const struct facts *facts, struct subject *subject)
{
    return has_share_in(facts, UNKNOWN_CODE, subject);
}

/* Programs that make code at run time, and how they write names to /tmp/perf-PID.map. */
static const struct code_maker {
    const char *executable; /* beginning of its base name */
    const char *flag;       /* in the command, if that was asked for; NULL: nothing asks for it */
    const char *advice;
} code_makers[] = {
    {"node", "--perf-basic-prof", "run node --perf-basic-prof"},
    {"java", "DumpPerfMapAtExit",
     "run java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer"},
    {"python3.11", NULL, "use Python 3.12 or later with -X perf"},
    {"python", "-X perf", "run python3 -X perf (3.12 or later)"},
    {"dotnet", "DOTNET_PerfMapEnabled", "set DOTNET_PerfMapEnabled=1"},
    {"ruby", "--yjit-perf", "run ruby --yjit --yjit-perf (3.3 or later)"},
    {"beam.smp", "+JPperf", "run erl +JPperf true"},
    {"sbcl", NULL, "use its own profiler, sb-sprof"},
    {"luajit", NULL, "run luajit -jp, its own profiler, or build it with -DLUAJIT_USE_PERFTOOLS"},
    {"", NULL, "have it write /tmp/perf-PID.map, as a JIT can"}};

void say_no_names(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const char *executable = facts->process.executable;
    const struct code_maker *maker = code_makers;
    while (strncmp(executable, maker->executable, strlen(maker->executable)) != 0)
        maker++;
    text_printf(text, "%s of the %s is in code without names that %s made at run time: ",
                as_percent(subject->share.value).text, facts_time(facts), *executable ? executable : "the program");
    if (maker->flag && strstr(facts->process.command, maker->flag))
        text_printf(text, "let it end by itself, so that %s writes them.", maker->flag);
    else
        text_printf(text, "%s.", maker->advice);
}

/* ---- Code without lines, unless a line of the user's own leads there ---- */

/* A module in run.json; NULL if it is not there. */
static const json_t *module_of_run(const json_t *run, const char *path)
{
    json_each (module, json_object_get(run, "modules"))
        if (path && strcmp(run_text(module, "path"), path) == 0)
            return module;
    return NULL;
}

/* The module with the most time in code without lines; NOTHING if there is none. */
static uint32_t most_without_lines(const struct time_places *places, const struct database *db, double *most)
{
    autofree double *seconds = mem_alloc((db->modules.n + 1) * sizeof *seconds);
    uint32_t module = NOTHING;
    *most = 0;
    for (size_t i = 0; i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        bool has_line = place->has_line || (place->owner == CODE_OWN && place->at.line);
        if (has_line || place->leaf_module >= db->modules.n)
            continue;
        seconds[place->leaf_module] += place->seconds;
        if (seconds[place->leaf_module] > *most) {
            *most = seconds[place->leaf_module];
            module = place->leaf_module;
        }
    }
    return module;
}

bool has_no_lines(const struct facts *facts, struct subject *subject)
{
    const struct database *db = facts->view->db;
    const char *path = database_module_path(db, most_without_lines(&facts->cpu_places, db, &subject->seconds));
    subject->share = facts_share_of_cpu(facts, subject->seconds);
    subject->of = path;
    bool has_lines_for_user = path && *path != '[' && !code_is_of_python(path);
    return has_lines_for_user && subject->share.low >= LEAST_SHARE;
}

void say_no_lines(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const char *path = subject->of, *name = path_name(path);
    const json_t *module = module_of_run(facts->run, path);
    text_printf(text, "%s of the %s is in %s, which ", as_percent(subject->share.value).text, facts_time(facts), name);
    if (strcmp(run_text(module, "structure"), "none") == 0) { /* hpcprof found no binary of the run */
        text_add(text, "hpcprof could not use: ");
        text_add_clean(text, run_text(module, "why"), false);
        text_add(text, ". Profile it again.");
        return;
    }
    if (strcmp(run_text(module, "structure"), "full") == 0) { /* other code in it has lines */
        text_add(text, "has source lines, but not there: compile all that is linked into it with -g.");
        return;
    }
    autofree char *package = package_of(path);
    text_add(text, "has no source lines: ");
    if (!package && (strcmp(name, facts->process.executable) == 0 || strncmp(path, "/usr/", 5) != 0))
        text_add(text, "compile it with -g, and do not strip it.");
    else
        text_printf(text, "install %s%s, or set DEBUGINFOD_URLS, and run hpcprof again.",
                    package ? package : "its debug symbols",
                    !package ? "" : strcmp(package, "libc6") == 0 ? "-dbg" : "-dbgsym");
}

/* ---- Code compiled without optimization, as the debug information records it ---- */

bool is_not_optimized(const struct facts *facts, struct subject *subject)
{
    const struct time_places *places = &facts->cpu_places;
    const json_t *found = NULL;
    for (size_t i = 0; i < places->list.n; i++) {
        const char *path = database_module_path(facts->view->db, places->list.at[i].leaf_module);
        const json_t *module = module_of_run(facts->run, path);
        if (!(run_number(module, "unoptimized_units") > 0))
            continue;
        found = found ? found : module;
        subject->seconds += module == found ? places->list.at[i].seconds : 0;
    }
    subject->of = found;
    subject->share = facts_share_of_cpu(facts, subject->seconds);
    bool is_all = run_number(found, "unoptimized_units") >= run_number(found, "units");
    if (is_all && subject->share.low > MOST_OF_IT)
        subject->order = ORDER_FIRST;
    return found && subject->share.low >= LEAST_SHARE;
}

void say_not_optimized(const struct facts *facts, const struct subject *subject, struct text *text)
{
    double unoptimized = run_number(subject->of, "unoptimized_units"), units = run_number(subject->of, "units");
    if (unoptimized < units)
        text_printf(text, "%.0f of %.0f source files of ", unoptimized, units);
    text_printf(text, "%s %s compiled without -O, and %s of the %s is in it: compile with -O2 first.",
                path_name(run_text(subject->of, "path")), unoptimized < units ? "were" : "was",
                as_percent(subject->share.value).text, facts_time(facts));
}

/* ---- System calls ----
 *
 * CPU time in libc's procedures that do nothing else is a lower bound of the kernel's time: page
 * faults and a program's own system calls are not in it. By REALTIME alone it is unknown, since CPU
 * time is then charged to the place where a thread waits next. */

/* The largest place of system calls, or of those of the allocator, and the share of all of them; none by REALTIME. */
static void add_up(const struct facts *facts, bool of_memory, struct subject *subject)
{
    const struct time_places *places = &facts->cpu_places;
    for (size_t i = 0; facts->cpu.without == NO_METRIC && i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        char leaf[NAME_SIZE], callee[NAME_SIZE];
        const struct database *db = facts->view->db;
        bool is_of_allocator = of_memory && place->owner != CODE_OF_SYSTEM && place->callee != NOTHING &&
                               is_call_of_allocator(database_procedure_name(db, place->leaf, leaf),
                                                    database_procedure_name(db, place->callee, callee));
        if (!place->is_system_call || (of_memory && !is_of_allocator))
            continue;
        if (!subject->of)
            subject->place = hotspot_of_place(facts->view->db, place);
        subject->of = subject->of ? subject->of : place;
        subject->seconds += place->seconds;
    }
    subject->share = facts_share_of_cpu(facts, subject->seconds);
    subject->gain = gain_without(&subject->share); /* it only orders findings, since calls may wait, too */
}

bool has_system_calls(const struct facts *facts, struct subject *subject)
{
    add_up(facts, false, subject);
    return subject->share.low >= LEAST_SHARE;
}

void say_system_calls(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct time_place *place = subject->of;
    text_printf(text, "%s of the %s is in system calls, most of it in ", as_percent(subject->share.value).text,
                facts_time(facts));
    callee_describe(facts->view->db, place->leaf, place->leaf_module, text);
    if (place->owner != CODE_OF_SYSTEM)
        text_printf(text, " called in %s", subject->where);
    text_add(text, ".");
}

/* ---- Memory that is given back and taken again ----
 *
 * glibc's free shrinks the heap, the next malloc grows it again, and each new page costs a page fault. No gain is
 * claimed, since the time of page faults is where the program touches the memory. */

/* Smaller shares of the CPU time are not reported. */
#define LEAST_MEMORY_SHARE 0.05

bool moves_memory(const struct facts *facts, struct subject *subject)
{
    add_up(facts, true, subject);
    return subject->share.low >= LEAST_MEMORY_SHARE;
}

void say_memory_calls(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct time_place *place = subject->of;
    text_printf(text,
                "%s of the %s goes into giving memory back to the system and taking it again, most of it in %s (",
                as_percent(subject->share.value).text, facts_time(facts), subject->where);
    callee_describe(facts->view->db, place->leaf, NOTHING, text);
    text_add(text, "): allocate once, or set MALLOC_TRIM_THRESHOLD_=BYTES MALLOC_TOP_PAD_=BYTES MALLOC_MMAP_MAX_=0.");
}
