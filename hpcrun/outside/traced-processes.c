#include "hpcrun/outside/traced-processes.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 4096

/* A program that maps code again and again: younger mappings have no names. */
#define MAX_MAPS 65536

static struct traced *slots[SLOTS];
static unsigned count, map_count;

static struct traced **place_of(int pid)
{
    struct traced **at = &slots[(unsigned)pid % SLOTS];
    while (*at && (*at)->pid != pid)
        at = &(*at)->next;
    return at;
}

struct traced *traced_find(int pid)
{
    return *place_of(pid);
}

struct traced *traced_add(int pid, uint64_t began)
{
    struct traced *added = count < MAX_TRACED ? calloc(1, sizeof *added) : NULL;
    if (!added)
        return NULL;
    count++;
    added->pid = pid;
    added->began = began;
    return *place_of(pid) = added;
}

void traced_remove(struct traced *process)
{
    *place_of(process->pid) = process->next;
    traced_maps_clear(process);
    free(process);
    count--;
}

void traced_map_add(struct traced *process, const struct perf_event_header *record)
{
    struct traced_map *map = map_count < MAX_MAPS ? malloc(sizeof *map) : NULL;
    struct perf_event_header *copy = map ? malloc(record->size) : NULL;
    if (!copy) {
        free(map);
        return;
    }
    memcpy(copy, record, record->size);
    *map = (struct traced_map){.older = process->maps, .record = copy, .owners = 1};
    process->maps = map;
    map_count++;
}

void traced_maps_share(struct traced *process, const struct traced *parent)
{
    process->maps = parent->maps;
    if (process->maps)
        process->maps->owners++;
}

void traced_maps_clear(struct traced *process)
{
    struct traced_map *map = process->maps;
    process->maps = NULL;
    while (map && --map->owners == 0) {
        struct traced_map *older = map->older;
        free(map->record);
        free(map);
        map_count--;
        map = older;
    }
}

void traced_visit(void (*visit)(struct traced *process))
{
    for (unsigned i = 0; i < SLOTS; i++)
        for (struct traced *process = slots[i], *next; process; process = next) {
            next = process->next;
            visit(process);
        }
}
