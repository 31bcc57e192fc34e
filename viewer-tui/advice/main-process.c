#include "viewer-tui/advice/main-process.h"

#include "viewer-tui/base/text.h"

#include <string.h>

static double cpu_of(const json_t *process)
{
    size_t i;
    json_t *thread;
    double cpu = 0;
    json_array_foreach(json_object_get(process, "threads"), i, thread)
    {
        cpu += run_number(thread, "cpu");
    }
    return cpu;
}

static void add_threads(struct main_process *main)
{
    size_t i;
    json_t *thread;
    json_array_foreach(json_object_get(main->process, "threads"), i, thread)
    {
        struct process_thread new = {
            .profile = (uint32_t)run_number(thread, "profile"),
            .name = run_text(thread, "name"),
            .start_routine = run_text(thread, "start_routine"),
            .is_initial = strcmp(run_text(thread, "kind"), "initial") == 0,
            .cpu = run_number(thread, "cpu"),
            .wall = run_number(thread, "wall"),
        };
        vec_push(&main->threads, new);
    }
}

/* Another process matters if it has this share of the main one's CPU time. */
#define MATTERS 0.1

struct main_process main_process_of(const json_t *run)
{
    size_t i;
    json_t *process;
    double second = 0;
    struct main_process main = {.executable = "", .command = ""};
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        double cpu = cpu_of(process);
        main.cpu_of_run += cpu;
        if (main.process && cpu <= main.cpu) {
            second = cpu > second ? cpu : second;
            continue;
        }
        second = main.cpu > second ? main.cpu : second;
        main.process = process;
        main.cpu = cpu;
    }
    if (!main.process)
        return main;
    main.is_only_one = second < MATTERS * main.cpu;
    main.executable = path_name(run_text(main.process, "executable"));
    main.command = run_text(main.process, "command");
    main.wall = run_number(main.process, "wall");
    main.cpus = run_number(main.process, "cpus");
    add_threads(&main);
    return main;
}

double main_process_most_running(const struct main_process *process)
{
    double threads = (double)process->threads.n;
    double most = process->cpus > 0 && process->cpus < threads ? process->cpus : threads;
    return most > 1 ? most : 1;
}
