#include "viewer-tui/db/run-times.h"

#include "lib/hash-tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More CPUs than the processes of each host could use were used if these are bound to different
 * ones. Then the number of CPUs is unknown. */
#define MOST_USED 1.05

/* The id of a process, whatever it executes. */
static uint32_t id_of(struct strtab *processes, const json_t *process)
{
    char *key = mem_printf("%.0f %s", run_number(process, "pid"), run_text(process, "host"));
    uint32_t id = strtab_id(processes, key);
    free(key);
    return id;
}

/* The longest wall time of a launched process, with all that it executed one after the other. */
static double longest_wall(const json_t *images)
{
    struct strtab processes = {0};
    VEC(double) walls = {0};
    size_t i;
    json_t *image;
    double longest = 0;
    json_array_foreach(images, i, image)
    {
        uint32_t id = id_of(&processes, image);
        if (id == walls.n)
            vec_push(&walls, 0.0);
        walls.at[id] += run_number(image, "wall");
    }
    json_array_foreach(images, i, image)
    {
        if (strcmp(run_text(image, "origin"), "launched") == 0)
            longest = fmax(longest, walls.at[id_of(&processes, image)]);
    }
    vec_free(&walls);
    strtab_free(&processes);
    return longest;
}

struct run_times run_times_of(const json_t *run)
{
    const json_t *images = json_object_get(run, "processes");
    struct run_times times = {.processes = json_array_size(images), .wall = longest_wall(images)};
    struct strtab hosts = {0};
    size_t i;
    json_t *image;
    json_array_foreach(images, i, image)
    {
        times.cpu += run_number(image, "cpu");
        strtab_id(&hosts, run_text(image, "host"));
        if (!times.command && strcmp(run_text(image, "origin"), "launched") == 0)
            times.command = run_text(image, "command");
    }
    times.cpus = (double)hosts.count * run_most_cpus(run);
    if (run_cpus_used(&times) > MOST_USED * times.cpus)
        times.cpus = 0;
    strtab_free(&hosts);
    return times;
}
