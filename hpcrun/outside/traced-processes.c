#include "hpcrun/outside/traced-processes.h"

#include "hpcrun/base/sys.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define SLOTS       4096
#define MAX_AT_ONCE 64 /* ends */

/* Of a process, and of all. Younger mappings have no names. */
#define MAX_MAPS     4096
#define MAX_ALL_MAPS 262144

static struct traced *slots[SLOTS];
static unsigned count, map_count, running, ending;

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
    added->watched = -1;
    return *place_of(pid) = added;
}

/* ---- ends ---- */

static int ends = -1; /* an epoll */

int traced_ends_fd(void)
{
    if (ends < 0)
        ends = epoll_create1(EPOLL_CLOEXEC);
    return ends;
}

static void note_end(struct traced *process)
{
    if (!process || process->ended)
        return;
    process->ended = sys_clock(CLOCK_MONOTONIC);
    ending++;
}

int traced_watch(struct traced *process)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = process->pid};
    if (process->watched >= 0)
        return 0;
    int fd = (int)sys2(SYS_pidfd_open, process->pid, 0);
    if (fd == -ESRCH)
        note_end(process);
    if (fd < 0)
        return fd;
    if (epoll_ctl(traced_ends_fd(), EPOLL_CTL_ADD, fd, &event) == 0) {
        process->watched = fd;
        return 0;
    }
    int error = errno;
    close(fd);
    return -error;
}

/* Workers may have copies of the descriptor, so closing it would not remove it. */
static void forget_end(struct traced *process)
{
    if (process->watched < 0)
        return;
    epoll_ctl(ends, EPOLL_CTL_DEL, process->watched, NULL);
    close(process->watched);
}

void traced_wait_for_end(int milliseconds)
{
    struct pollfd fd = {.fd = ends, .events = POLLIN};
    poll(&fd, 1, milliseconds);
}

void traced_note_ends(void)
{
    struct epoll_event events[MAX_AT_ONCE];
    int n;
    do {
        n = epoll_wait(ends, events, MAX_AT_ONCE, 0);
        for (int i = 0; i < n; i++)
            note_end(traced_find(events[i].data.fd));
    } while (n == MAX_AT_ONCE);
}

void traced_remove(struct traced *process)
{
    running -= process->is_given;
    ending -= process->ended != 0;
    *place_of(process->pid) = process->next;
    traced_maps_clear(process);
    forget_end(process);
    free(process);
    count--;
}

void traced_give(struct traced *process)
{
    process->is_given = true;
    running++;
}

unsigned traced_running(void)
{
    return running;
}

unsigned traced_ending(void)
{
    return ending;
}

static void free_map(struct traced_map *map)
{
    free(map->record);
    free(map);
    map_count--;
}

void traced_maps_replace(struct traced *process, const struct mapping *mapping)
{
    struct traced_map *map;
    for (struct traced_map **at = &process->maps; (map = *at) && map->owners == 1;) {
        if (map->start >= mapping->end || map->end <= mapping->start) {
            at = &map->older;
            continue;
        }
        *at = map->older;
        process->map_count--;
        free_map(map);
    }
}

void traced_map_add(struct traced *process, const struct mapping *mapping, const struct perf_event_header *record)
{
    traced_maps_replace(process, mapping);
    bool has_room = process->map_count < MAX_MAPS && map_count < MAX_ALL_MAPS;
    struct traced_map *map = has_room ? malloc(sizeof *map) : NULL;
    struct perf_event_header *copy = map ? malloc(record->size) : NULL;
    if (!copy) {
        free(map);
        return;
    }
    memcpy(copy, record, record->size);
    *map = (struct traced_map){
        .older = process->maps, .start = mapping->start, .end = mapping->end, .record = copy, .owners = 1};
    process->maps = map;
    process->map_count++;
    map_count++;
}

void traced_maps_share(struct traced *process, const struct traced *parent)
{
    process->maps = parent->maps;
    process->map_count = parent->map_count;
    if (process->maps)
        process->maps->owners++;
}

void traced_maps_clear(struct traced *process)
{
    struct traced_map *map = process->maps;
    process->maps = NULL;
    process->map_count = 0;
    while (map && --map->owners == 0) {
        struct traced_map *older = map->older;
        free_map(map);
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
