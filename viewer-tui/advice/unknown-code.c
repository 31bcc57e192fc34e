/* Code whose names or lines are missing, so that the advice cannot say where the time is: made at
 * run time without names, or without debug information. */
#include "viewer-tui/advice/situation.h"

#include "lib/safe-input.h"
#include "viewer-tui/tree/labels.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Smaller shares of the CPU time are not reported. */
#define LEAST_SHARE 0.10

/* From this share on the finding comes first: the others are about the rest of the program. */
#define MOST_OF_IT 0.50

/* A program that makes code at run time, and how it writes names to /tmp/perf-PID.map. */
struct code_maker {
    const char *executable; /* beginning of its base name */
    const char *flag;       /* in the command, if that was asked for */
    const char *advice;
};

static const struct code_maker code_makers[] = {
    {"node", "--perf-basic-prof", "run node --perf-basic-prof"},
    {"java", "DumpPerfMapAtExit",
     "run java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer"},
    {"python", "-X perf", "run python3 -X perf (3.12 or later)"},
    {"dotnet", "DOTNET_PerfMapEnabled", "set DOTNET_PerfMapEnabled=1"},
    {"ruby", "--yjit-perf", "run ruby --yjit-perf"},
    {"luajit", "-jp", "its perf map needs a LuaJIT that is built with it"},
};

static const struct code_maker *code_maker_of(const struct main_process *process)
{
    for (size_t i = 0; i < sizeof code_makers / sizeof *code_makers; i++)
        if (strncmp(process->executable, code_makers[i].executable,
                    strlen(code_makers[i].executable)) == 0)
            return &code_makers[i];
    return NULL;
}

static struct share share_of_cpu(const struct situation *situation, double seconds)
{
    return share_of_samples(seconds, situation->cpu_places.total, situation->cpu_increment);
}

/* Puts the finding first if most of the program is unknown. */
static void set_order(struct finding *finding, const struct share *share)
{
    if (share->low > MOST_OF_IT)
        finding->order = FINDING_BEFORE_ALL;
}

static void add_names_wanted(const struct situation *situation, double seconds,
                             struct findings *findings)
{
    struct share share = share_of_cpu(situation, seconds);
    const struct code_maker *maker = code_maker_of(&situation->process);
    struct text text = {0};
    if (share.low < LEAST_SHARE)
        return;
    text_add(&text, "Code without names: ");
    share_describe(&share, "", &text);
    text_printf(&text, " of the CPU time is in code that %s made at run time. To see its names, ",
                *situation->process.executable ? situation->process.executable : "the program");
    if (maker && strstr(situation->process.command, maker->flag))
        text_printf(&text,
                    "let it end by itself: %s was given, but no /tmp/perf-PID.map covers the "
                    "code.",
                    maker->flag);
    else
        text_printf(&text, "%s.",
                    maker ? maker->advice : "have it write /tmp/perf-PID.map, as a JIT can");
    set_order(findings_add(findings, FINDING_NO_NAMES, &text), &share);
    vec_free(&text);
}

/* dpkg's lists of the files of each package, such as "zlib1g:amd64.list". */
#define LISTS  "/var/lib/dpkg/info"
#define SUFFIX ".list"

/* Whether a list names the file. /lib and /bin are links to folders in /usr. */
static bool has_file(const char *list, const char *path)
{
    char *line = NULL, *cause = NULL;
    size_t size = 0;
    ssize_t length;
    bool is_found = false;
    FILE *file = input_stream(list, &cause);
    free(cause);
    if (!file)
        return false;
    while (!is_found && (length = getline(&line, &size, file)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *known = strncmp(line, "/usr/", 5) == 0 ? line + 4 : line;
        const char *wanted = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
        is_found = strcmp(known, wanted) == 0;
    }
    free(line);
    fclose(file);
    return is_found;
}

/* The package with debug information, which has a name of its own for the C library. */
static char *debug_package_name(const char *package)
{
    return strcmp(package, "libc6") == 0 ? mem_strdup("libc6-dbg")
                                         : mem_printf("%s-dbgsym", package);
}

/* The Debian package with the debug information of a file, "zlib1g-dbgsym" or "libc6-dbg"; NULL if
 * no package has the file, or dpkg is not used here. Takes 0.1 s, since it searches dpkg's lists of
 * files. The caller frees. */
static char *debug_package_of(const char *path)
{
    char *found = NULL;
    const struct dirent *entry;
    DIR *directory = opendir(LISTS);
    if (!directory)
        return NULL;
    while (!found && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
            continue;
        char *list = mem_printf("%s/%s", LISTS, entry->d_name);
        if (has_file(list, path)) {
            size_t name = strcspn(entry->d_name, ":");
            char *package =
                mem_strndup(entry->d_name, name < length - suffix ? name : length - suffix);
            found = debug_package_name(package);
            free(package);
        }
        free(list);
    }
    closedir(directory);
    return found;
}

/* A module and its time in code without lines. */
struct module_time {
    uint32_t module;
    double seconds;
    const struct time_place *most;
};

static void add_how_to_get_lines(const char *path, const struct situation *situation,
                                 struct text *text)
{
    char *package = debug_package_of(path);
    if (package)
        text_printf(text, "install %s, or set DEBUGINFOD_URLS, and run hpcprof again.", package);
    else if (strcmp(path_name(path), situation->process.executable) == 0 ||
             strncmp(path, "/usr/", 5) != 0)
        text_add(text, "compile it with -g, and do not strip it.");
    else
        text_add(text, "install its debug symbols, or set DEBUGINFOD_URLS, and run hpcprof again.");
    free(package);
}

static void add_lines_wanted(const struct situation *situation, const struct module_time *without,
                             struct findings *findings)
{
    struct share share = share_of_cpu(situation, without->seconds);
    const char *path = database_module_path(situation->view->db, without->module);
    struct text text = {0};
    if (share.low < LEAST_SHARE || !path)
        return;
    text_add(&text, "No source lines: ");
    share_describe(&share, "", &text);
    text_printf(&text, " of the CPU time is in %s, which has no line information; most of it in ",
                path_name(path));
    label_in_sentence(situation->view->db, without->most->leaf, &text);
    if (without->most->leaf != without->most->procedure) {
        text_add(&text, ", called from ");
        situation_add_place(situation, without->most, &text);
    }
    text_add(&text, ". To see lines, ");
    add_how_to_get_lines(path, situation, &text);
    struct finding *finding = findings_add(findings, FINDING_NO_LINES, &text);
    finding_set_place(finding, without->most);
    set_order(finding, &share);
    vec_free(&text);
}

/* The module with the most time in code without lines. */
static struct module_time most_without_lines(const struct time_places *places)
{
    VEC(struct module_time) modules = {0};
    struct module_time most = {.module = NOTHING};
    for (size_t i = 0; i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        size_t m = 0;
        if (place->has_line || place->leaf_module == NOTHING)
            continue;
        while (m < modules.n && modules.at[m].module != place->leaf_module)
            m++;
        if (m == modules.n)
            vec_push(&modules, ((struct module_time){.module = place->leaf_module, .most = place}));
        modules.at[m].seconds += place->seconds;
        if (modules.at[m].seconds > most.seconds)
            most = modules.at[m];
    }
    vec_free(&modules);
    return most;
}

void find_unknown_code(const struct situation *situation, struct findings *findings)
{
    const struct time_places *places = &situation->cpu_places;
    double without_name = 0;
    char buffer[NAME_SIZE];
    for (size_t i = 0; i < places->list.n; i++) {
        uint32_t leaf = places->list.at[i].leaf;
        if (leaf != NOTHING && strcmp(database_procedure_name(situation->view->db, leaf, buffer),
                                      "<unknown code>") == 0)
            without_name += places->list.at[i].seconds;
    }
    add_names_wanted(situation, without_name, findings);
    struct module_time without_lines = most_without_lines(places);
    if (without_lines.module != NOTHING)
        add_lines_wanted(situation, &without_lines, findings);
}
