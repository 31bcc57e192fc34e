#include "hpcprof/database/database-files.h"

#include "hpcprof/base/output-file.h"

#include "lib/alloc.h"
#include "lib/path.h"
#include "lib/sanitized-text.h"

#include <stdio.h>
#include <string.h>

const struct measurement *launched_program(const struct measurements *measurements)
{
    size_t i = 0, n = measurements->files.n;
    while (i < n && !(measurements->files.at[i].m->process.known &&
                      measurements->files.at[i].m->process.origin == ORIGIN_LAUNCHED))
        i++;
    if (i == n)
        return measurements->files.at[0].m;
    const struct measurement_process *launched = &measurements->files.at[i].m->process;
    for (; i + 1 < n; i++) {
        const struct measurement_process *next = &measurements->files.at[i + 1].m->process;
        if (next->origin != ORIGIN_EXEC || next->pid != launched->pid ||
            next->start_time != launched->start_time)
            break;
    }
    return measurements->files.at[i].m;
}

/* hpcrun -a has launched none of the processes. */
static bool is_of_system(const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement_process *process = &measurements->files.at[i].m->process;
        if (process->known && process->origin == ORIGIN_LAUNCHED)
            return false;
    }
    return measurements->files.n > 1 && measurements_are_from_outside(measurements);
}

char *run_title(const struct measurements *measurements)
{
    if (is_of_system(measurements))
        return mem_strdup(SYSTEM_TITLE);
    autofree char *path = executable_as_called(launched_program(measurements));
    return utf8_repaired(path[0] ? path_base(path) : "unknown program");
}

char *run_description(const struct measurements *measurements)
{
    size_t threads = 0;
    for (size_t i = 0; i < measurements->files.n; i++)
        threads += measurements->files.at[i].m->threads.n;
    const struct measurement_process *process = &launched_program(measurements)->process;
    autofree char *executable = printable_text(process->executable[0] ? process->executable : "unknown");
    autofree char *host = printable_text(process->host[0] ? process->host : "unknown");
    char *text = mem_printf("* executable: %s\n"
                            "* host: %s\n"
                            "* processes: %zu\n"
                            "* threads: %zu\n",
                            executable, host, measurements->files.n, threads);
    return text;
}

static const char formats[] =
    "# What is in this database\n"
    "\n"
    "| file | contents |\n"
    "|---|---|\n"
    "| `meta.db` | names: metrics, load modules, source files, functions, and the tree of calling "
    "contexts |\n"
    "| `profile.db` | values, thread by thread; profile 0 is the sum of all threads |\n"
    "| `cct.db` | the same values, context by context |\n"
    "| `metrics/default.yaml` | which values a viewer shows as columns |\n"
    "| `src/` | copies of source files, under their absolute paths |\n"
    "| `physical/` | the same for the call paths as they lay on the stacks; `meta.db` etc. at the "
    "top are about the call paths as the program's author wrote them |\n"
    "| `run.json` | processes, threads, what became of every sample, sources and rates, metrics that "
    "could not be measured and why, modules, problems |\n"
    "| `trace.db` | which context each thread was in when, if hpcrun traced the run |\n"
    "| `timeline.db` | the same with states (working, waiting, idle, without a CPU, ...) and amounts, "
    "for both kinds of call paths |\n"
    "| `instructions.json.gz` | the most expensive procedures: their machine code, and what each "
    "instruction cost |\n"
    "\n"
    "The `.db` files are HPCToolkit's database format, version 4.0, little-endian, as specified in\n"
    "`doc/FORMATS.md` of HPCToolkit's public repository. In each, a header says where its sections\n"
    "are; contexts have the numbers 1, 2, ... in the order of the tree, 0 stands for the whole run.\n"
    "\n"
    "Each metric M has four values per context, with the ids 4M to 4M + 3: `point`, measured in the\n"
    "context itself; `function`, without what was called; `lex_aware`, the same, and for a loop\n"
    "without the loops in it; `execution`, with all that was called. Times are in seconds.\n"
    "\n"
    "`overhead:spawn` and the like are the part of `overhead` that is of that kind; all kinds\n"
    "together are `overhead`.\n";

void formats_write(const char *path)
{
    FILE *out = output_stream(path);
    output_stream_close(out, path, fputs(formats, out) >= 0);
}
