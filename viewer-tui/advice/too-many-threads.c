/* More threads of a parallel runtime than CPUs. A thread that has got work then waits for a CPU while
 * others spin there, and all wait for it at the next barrier: nobody works meanwhile, and idleness and
 * overhead are not those of the program.
 *
 * With coarse work that happens seldom; and a worker that sleeps costs nothing. So it is reported only
 * if nobody was working in many samples. A program that waits for input looks the same. */
#include "viewer-tui/advice/situation.h"

#include <string.h>

/* Smaller shares of the samples are not reported. */
#define LEAST_SHARE 0.10

static const struct {
    const char *agent, *setting;
} settings[] = {
    {"gomp", "OMP_NUM_THREADS"},       {"openmp", "OMP_NUM_THREADS"}, {"minicilk", "MINICILK_WORKERS"},
    {"opencilk", "CILK_NWORKERS"},     {"cilk5", "--nproc"},          {"tbb", "tbb::global_control"},
};

/* The setting of the first runtime of the run that has workers; NULL: there is none. */
static const char *setting_of(const json_t *run)
{
    size_t i;
    json_t *agent;
    json_array_foreach(json_object_get(run, "agents"), i, agent)
    {
        for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
            if (strcmp(run_text(agent, "name"), settings[s].agent) == 0)
                return settings[s].setting;
    }
    return NULL;
}

void find_too_many_threads(const struct situation *situation, struct findings *findings)
{
    const struct main_process *process = &situation->process;
    const char *setting = setting_of(situation->run);
    struct share share = share_of_samples(run_number(process->process, "nobody_working"),
                                          run_number(process->process, "samples"), 1);
    struct text text = {0};
    if (situation->row != 0 || !setting || !(process->cpus > 0) ||
        (double)process->threads.n <= process->cpus || share.low < LEAST_SHARE)
        return;
    text_printf(&text, "More threads than CPUs: %zu for %.0f, and none of them was working in ",
                process->threads.n, process->cpus);
    share_describe(&share, "", &text);
    text_printf(&text,
                " of the samples. A thread that has work then waits for a CPU, and the others wait for "
                "this thread; idleness and overhead are partly due to that. Try %.0f threads (%s).",
                process->cpus, setting);
    findings_add(findings, FINDING_TOO_MANY_THREADS, &text)->order = FINDING_BEFORE_ALL;
    vec_free(&text);
}
