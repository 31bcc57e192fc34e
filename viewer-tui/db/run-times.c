#include "viewer-tui/db/run-times.h"

#include "lib/hash-tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Processes that are bound to different CPUs use more of them together than each of them may. Then the
 * number of CPUs is unknown. */
#define MOST_USED 1.05

/* What the images of a process add up to: the programs that it executed one after the other. */
struct process_times {
    double wall;
    bool is_launched;
    double most_cpu;     /* of an image */
    const char *command; /* of that image */
};

typedef VEC(struct process_times) process_list;

static void add_image(process_list *list, struct strtab *ids, const json_t *image)
{
    char *process_key = mem_printf("%.0f %s", run_number(image, "pid"), run_text(image, "host"));
    uint32_t id = strtab_id(ids, process_key);
    free(process_key);
    double cpu = run_number(image, "cpu");
    if (id == list->n)
        vec_push(list, (struct process_times){0});
    struct process_times *process = &list->at[id];
    process->wall += run_number(image, "wall");
    process->is_launched |= strcmp(run_text(image, "origin"), "launched") == 0;
    if (!process->command || cpu > process->most_cpu) {
        process->most_cpu = cpu;
        process->command = run_text(image, "command");
    }
}

struct run_times run_times_of(const json_t *run)
{
    struct run_times times = {0};
    struct strtab ids = {0}, hosts = {0};
    process_list list = {0};
    size_t i;
    json_each (image, json_object_get(run, "processes")) {
        add_image(&list, &ids, image);
        strtab_id(&hosts, run_text(image, "host"));
        times.cpu += run_number(image, "cpu");
    }
    for (i = 0; i < list.n; i++) {
        const struct process_times *process = &list.at[i];
        if (process->is_launched && !times.command)
            times.command = process->command;
        times.wall = fmax(times.wall, process->is_launched ? process->wall : 0);
    }
    times.processes = list.n;
    times.cpus = (double)hosts.count * run_most_cpus(run);
    if (run_cpus_used(&times) > MOST_USED * times.cpus)
        times.cpus = 0;
    vec_free(&list);
    strtab_free(&ids);
    strtab_free(&hosts);
    return times;
}
