/* Rules about code: where the time is, and what hides that. */
#include "viewer-tui/advice/advice-rules.h"

#include "viewer-tui/base/packages.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>
#include <string.h>

/* Smaller shares of the CPU time are not reported. */
#define LEAST_SHARE 0.10

/* From this share on the finding comes first: the others are about the rest of the program. */
#define MOST_OF_IT 0.50

/* ---- The row with most of the CPU time ---- */

/* Programs without such a place have many small procedures. */
#define LEAST_HOT_SHARE 0.05

/* From this share of its CPU time off the CPU on, a call waits. */
#define WAITING_SHARE 0.10

static double seconds_off_cpu(const struct facts *facts, const struct hotspot *hotspot)
{
    double seconds = 0;
    for (size_t i = 0; i < facts->off_cpu_places.list.n; i++)
        if (hotspot_has(hotspot, &facts->off_cpu_places.list.at[i]))
            seconds += facts->off_cpu_places.list.at[i].seconds;
    return seconds;
}

/* Whether the time may be from elsewhere: by REALTIME the CPU time since the last sample is charged
 * to the place where the thread waits next. */
static bool is_elsewhere(const struct facts *facts, const struct hotspot *hotspot)
{
    char buffer[NAME_SIZE];
    return facts->cpu.without != NO_METRIC && hotspot->callee != NOTHING &&
           wait_of(database_procedure_name(facts->view->db, hotspot->callee, buffer)) != WAIT_NONE &&
           seconds_off_cpu(facts, hotspot) >= WAITING_SHARE * hotspot->cost;
}

static bool is_hot(const struct facts *facts, size_t *from, struct subject *subject)
{
    size_t i = 0;
    while (i < facts->hotspots.n &&
           (facts->hotspots.at[i].procedure == NOTHING || is_elsewhere(facts, &facts->hotspots.at[i])))
        i++;
    if (!is_first(from) || i == facts->hotspots.n)
        return false;
    subject->place = facts->hotspots.at[i];
    subject->share = facts_share_of_cpu(facts, subject->place.cost);
    return subject->share.low >= LEAST_HOT_SHARE;
}

static void say_hot(const struct facts *facts, const struct subject *subject, struct text *text)
{
    add_percent(text, subject->share.value);
    text_add(text, " of the time is in ");
    add_place(facts, &subject->place, text);
    hotspot_describe_callee(facts->view->db, &subject->place, text);
    text_add(text, ".");
}

const struct rule hot_rule = {.kind = FINDING_HOT_PLACE, .order = ORDER_PLACE, .condition = is_hot, .words = say_hot};

/* ---- Code made at run time without names ---- */

/* A program that makes code at run time, and how it writes names to /tmp/perf-PID.map. */
struct code_maker {
    const char *executable; /* beginning of its base name */
    const char *flag;       /* in the command, if that was asked for; NULL: nothing asks for it */
    const char *advice;
};

static const struct code_maker code_makers[] = {
    {"node", "--perf-basic-prof", "run node --perf-basic-prof"},
    {"java", "DumpPerfMapAtExit",
     "run java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer"},
    {"python3.11", NULL, "use Python 3.12 or later with -X perf"},
    {"python", "-X perf", "run python3 -X perf (3.12 or later)"},
    {"dotnet", "DOTNET_PerfMapEnabled", "set DOTNET_PerfMapEnabled=1"},
    {"ruby", "--yjit-perf", "run ruby --yjit --yjit-perf (3.3 or later)"},
    {"luajit", NULL, "run luajit -jp, its own profiler, or build it with -DLUAJIT_USE_PERFTOOLS"},
};

static const struct code_maker *code_maker_of(const struct main_process *process)
{
    for (size_t i = 0; i < sizeof code_makers / sizeof *code_makers; i++)
        if (strncmp(process->executable, code_makers[i].executable, strlen(code_makers[i].executable)) == 0)
            return &code_makers[i];
    return NULL;
}

static bool has_no_names(const struct facts *facts, size_t *from, struct subject *subject)
{
    const struct time_places *places = &facts->cpu_places;
    char buffer[NAME_SIZE];
    double seconds = 0;
    for (size_t i = 0; i < places->list.n; i++) {
        uint32_t leaf = places->list.at[i].leaf;
        bool has_name =
            leaf == NOTHING || strcmp(database_procedure_name(facts->view->db, leaf, buffer), "<unknown code>") != 0;
        seconds += has_name ? 0 : places->list.at[i].seconds;
    }
    subject->share = facts_share_of_cpu(facts, seconds);
    if (subject->share.low > MOST_OF_IT)
        subject->order = ORDER_FIRST;
    return is_first(from) && subject->share.low >= LEAST_SHARE;
}

static void say_no_names(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct main_process *process = &facts->process;
    const struct code_maker *maker = code_maker_of(process);
    add_percent(text, subject->share.value);
    text_printf(text, " of the time is in code without names that %s made at run time: ",
                *process->executable ? process->executable : "the program");
    if (maker && maker->flag && strstr(process->command, maker->flag))
        text_printf(text, "let it end by itself, so that %s writes them.", maker->flag);
    else
        text_printf(text, "%s.", maker ? maker->advice : "have it write /tmp/perf-PID.map, as a JIT can");
}

const struct rule no_names_rule = {
    .kind = FINDING_NO_NAMES, .order = ORDER_FACT, .condition = has_no_names, .words = say_no_names};

/* A module in run.json; NULL if it is not there. */
static const json_t *module_of_run(const json_t *run, const char *path)
{
    size_t i;
    json_t *module;
    json_array_foreach(json_object_get(run, "modules"), i, module)
    {
        if (path && strcmp(run_text(module, "path"), path) == 0)
            return module;
    }
    return NULL;
}

/* ---- Code without lines, unless a line of the user's own leads there ---- */

/* A module and its time in code without lines. */
struct module_time {
    uint32_t module;
    double seconds;
};

/* The module with the most time in code without lines. */
static struct module_time most_without_lines(const struct time_places *places)
{
    VEC(struct module_time) modules = {0};
    struct module_time most = {.module = NOTHING};
    for (size_t i = 0; i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        bool has_line = place->has_line || (place->owner == CODE_OWN && place->at.line);
        size_t m = 0;
        if (has_line || place->leaf_module == NOTHING)
            continue;
        while (m < modules.n && modules.at[m].module != place->leaf_module)
            m++;
        if (m == modules.n)
            vec_push(&modules, ((struct module_time){place->leaf_module, 0}));
        modules.at[m].seconds += place->seconds;
        if (modules.at[m].seconds > most.seconds)
            most = modules.at[m];
    }
    vec_free(&modules);
    return most;
}

static bool has_no_lines(const struct facts *facts, size_t *from, struct subject *subject)
{
    struct module_time without = most_without_lines(&facts->cpu_places);
    const char *path = database_module_path(facts->view->db, without.module);
    subject->share = facts_share_of_cpu(facts, without.seconds);
    subject->of = path;
    return is_first(from) && path && *path != '[' && subject->share.low >= LEAST_SHARE;
}

static void say_no_lines(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const char *path = subject->of;
    const json_t *module = module_of_run(facts->run, path);
    add_percent(text, subject->share.value);
    if (strcmp(run_text(module, "structure"), "none") == 0) { /* hpcprof found no binary of the run */
        text_printf(text, " of the time is in %s, which hpcprof could not use: ", path_name(path));
        text_add_clean(text, run_text(module, "why"), false);
        text_add(text, ". Profile it again.");
        return;
    }
    char *package = package_of(path);
    text_printf(text, " of the time is in %s, which has no source lines: ", path_name(path));
    if (package)
        text_printf(text, "install %s%s, or set DEBUGINFOD_URLS, and run hpcprof again.", package,
                    strcmp(package, "libc6") == 0 ? "-dbg" : "-dbgsym");
    else if (strcmp(path_name(path), facts->process.executable) == 0 || strncmp(path, "/usr/", 5) != 0)
        text_add(text, "compile it with -g, and do not strip it.");
    else
        text_add(text, "install its debug symbols, or set DEBUGINFOD_URLS, and run hpcprof again.");
    free(package);
}

const struct rule no_lines_rule = {
    .kind = FINDING_NO_LINES, .order = ORDER_FACT, .condition = has_no_lines, .words = say_no_lines};

/* ---- Code compiled without optimization, as the debug information records it ---- */

/* NULL if all of its code is optimized or that is unknown. */
static const json_t *unoptimized_module(const json_t *run, const char *path)
{
    const json_t *module = module_of_run(run, path);
    return run_number(module, "unoptimized_units") > 0 ? module : NULL;
}

static bool is_not_optimized(const struct facts *facts, size_t *from, struct subject *subject)
{
    const struct time_places *places = &facts->cpu_places;
    const json_t *found = NULL;
    double seconds = 0;
    for (size_t i = 0; i < places->list.n; i++) {
        const char *path = database_module_path(facts->view->db, places->list.at[i].leaf_module);
        const json_t *module = unoptimized_module(facts->run, path);
        found = found ? found : module;
        seconds += module && module == found ? places->list.at[i].seconds : 0;
    }
    subject->of = found;
    subject->share = facts_share_of_cpu(facts, seconds);
    bool is_all = run_number(found, "unoptimized_units") >= run_number(found, "units");
    if (is_all && subject->share.low > MOST_OF_IT)
        subject->order = ORDER_FIRST;
    return is_first(from) && found && subject->share.low >= LEAST_SHARE;
}

static void say_not_optimized(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)facts;
    const json_t *module = subject->of;
    double unoptimized = run_number(module, "unoptimized_units"), units = run_number(module, "units");
    if (unoptimized < units)
        text_printf(text, "%.0f of %.0f source files of ", unoptimized, units);
    text_printf(text, "%s %s compiled without -O, and ", path_name(run_text(module, "path")),
                unoptimized < units ? "were" : "was");
    add_percent(text, subject->share.value);
    text_add(text, " of the time is in it: compile with -O2 first.");
}

const struct rule not_optimized_rule = {
    .kind = FINDING_NOT_OPTIMIZED, .order = ORDER_FACT, .condition = is_not_optimized, .words = say_not_optimized};

/* ---- System calls ----
 *
 * CPU time in libc's procedures that do nothing else is a lower bound of the kernel's time: page
 * faults and a program's own system calls are not in it. By REALTIME alone it is unknown, since CPU
 * time is then charged to the place where a thread waits next. */

/* The largest place among those that a test chooses, and the share of all of them; none by REALTIME. */
static void add_up(const struct facts *facts, bool (*is_chosen)(const struct facts *, const struct time_place *),
                   struct subject *subject)
{
    const struct time_places *places = &facts->cpu_places;
    for (size_t i = 0; facts->cpu.without == NO_METRIC && i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        if (!is_chosen(facts, place))
            continue;
        if (!subject->of)
            subject->place = hotspot_of_place(facts->view->db, place);
        subject->of = subject->of ? subject->of : place;
        subject->seconds += place->seconds;
    }
    subject->share = facts_share_of_cpu(facts, subject->seconds);
}

static bool is_of_system_call(const struct facts *facts, const struct time_place *place)
{
    (void)facts;
    return place->is_system_call;
}

static bool has_system_calls(const struct facts *facts, size_t *from, struct subject *subject)
{
    if (!is_first(from))
        return false;
    add_up(facts, is_of_system_call, subject);
    return subject->share.low >= LEAST_SHARE;
}

/* As if they cost nothing; it only orders findings, since calls may wait, too. */
static struct gain gain_without_calls(const struct facts *facts, const struct subject *subject)
{
    struct share share = facts_share_of_cpu(facts, subject->seconds);
    return gain_without(&share);
}

static void say_system_calls(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct time_place *place = subject->of;
    add_percent(text, subject->share.value);
    text_add(text, " of the time is in system calls, most of it in ");
    callee_describe(facts->view->db, place->leaf, place->leaf_module, text);
    if (place->owner != CODE_OF_SYSTEM) {
        text_add(text, " called in ");
        add_place(facts, &subject->place, text);
    }
    text_add(text, ".");
}

const struct rule system_calls_rule = {.kind = FINDING_SYSTEM_CALLS,
                                       .order = ORDER_GAIN,
                                       .condition = has_system_calls,
                                       .gain = gain_without_calls,
                                       .words = say_system_calls};

/* ---- Memory that is given back and taken again ----
 *
 * glibc's free shrinks the heap, the next malloc grows it again, and each new page costs a page fault. No gain is
 * claimed, since the time of page faults is where the program touches the memory. */

/* Smaller shares of the CPU time are not reported. */
#define LEAST_MEMORY_SHARE 0.05

static bool is_memory_call(const struct facts *facts, const struct time_place *place)
{
    char leaf[NAME_SIZE], callee[NAME_SIZE];
    const struct database *db = facts->view->db;
    return place->is_system_call && place->owner != CODE_OF_SYSTEM && place->callee != NOTHING &&
           is_call_of_allocator(database_procedure_name(db, place->leaf, leaf),
                                database_procedure_name(db, place->callee, callee));
}

static bool moves_memory(const struct facts *facts, size_t *from, struct subject *subject)
{
    if (!is_first(from))
        return false;
    add_up(facts, is_memory_call, subject);
    return subject->share.low >= LEAST_MEMORY_SHARE;
}

static void say_memory_calls(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct time_place *place = subject->of;
    add_percent(text, subject->share.value);
    text_add(text, " of the time goes into giving memory back to the system and taking it again, most of it in ");
    add_place(facts, &subject->place, text);
    text_add(text, " (");
    callee_describe(facts->view->db, place->leaf, NOTHING, text);
    text_add(text, "): allocate once, or set MALLOC_TRIM_THRESHOLD_=BYTES MALLOC_TOP_PAD_=BYTES MALLOC_MMAP_MAX_=0.");
}

const struct rule memory_calls_rule = {.kind = FINDING_MEMORY_CALLS,
                                       .order = ORDER_GAIN,
                                       .condition = moves_memory,
                                       .gain = gain_without_calls,
                                       .words = say_memory_calls};
