#include "hpcrun/outside/foreign-maps.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/foreign-modules.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/process/process.h"
#include "lib/alloc.h"
#include "lib/binary-search.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After a reading that took T, the next one is at least REST * T later. */
#define REST 50u

struct map_line {
    struct mapping mapping;
    bool is_code, is_guard; /* is_guard: it can't be accessed */
};

/* A line is "START-END PERMISSIONS OFFSET DEVICE INODE PATH". */
static bool parse(const char *text, struct map_line *line)
{
    struct mapping *mapping = &line->mapping;
    char permissions[5] = "";
    int path = 0;
    if (sscanf(text, "%lx-%lx %4s %lx %x:%x %lu %n", &mapping->start, &mapping->end, permissions, &mapping->offset,
               &mapping->major, &mapping->minor, &mapping->inode, &path) < 7)
        return false;
    line->is_code = permissions[2] == 'x';
    line->is_guard = memcmp(permissions, "---", 3) == 0;
    snprintf(mapping->path, sizeof mapping->path, "%.*s", (int)strcspn(text + path, "\n"), text + path);
    return true;
}

static bool visit_lines(int pid, void (*visit)(const struct map_line *line, void *data), void *data)
{
    int fd = measured_open(pid, "maps", O_RDONLY);
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
    char *text = NULL;
    size_t room = 0;
    struct map_line line;
    if (!maps)
        return false;
    while (getline(&text, &room, maps) > 0)
        if (parse(text, &line))
            visit(&line, data);
    free(text);
    fclose(maps);
    return true;
}

/* ---- modules ---- */

struct module_visitor {
    void (*visit)(const struct mapping *mapping, void *data);
    void *data;
};

static void visit_module(const struct map_line *line, void *data)
{
    const struct module_visitor *visitor = data;
    if (line->is_code && mapping_is_module(&line->mapping))
        visitor->visit(&line->mapping, visitor->data);
}

bool foreign_maps_visit(int pid, void (*visit)(const struct mapping *mapping, void *data), void *data)
{
    return visit_lines(pid, visit_module, &(struct module_visitor){visit, data});
}

/* ---- stacks ---- */

struct stack {
    uint64_t low, high;
};

static struct {
    VEC(struct stack) all; /* in order of their addresses */
    uint64_t guard_end;    /* of the line before; 0: it is no guard */
    uint64_t read_at, due; /* CLOCK_MONOTONIC when it was read, and when it may be again; 0: never */
} stacks;

static void add_stack(const struct map_line *line, void *data)
{
    const struct mapping *mapping = &line->mapping;
    bool is_stack = stacks.guard_end == mapping->start || strcmp(mapping->path, "[stack]") == 0;
    (void)data;
    stacks.guard_end = line->is_guard ? mapping->end : 0;
    if (is_stack && !line->is_guard)
        vec_push(&stacks.all, (struct stack){mapping->start, mapping->end});
}

/* False if it is too early. */
static bool read_again(void)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (now < stacks.due)
        return false;
    stacks.all.n = 0;
    stacks.guard_end = 0;
    visit_lines(process.pid, add_stack, NULL);
    stacks.read_at = now;
    uint64_t after = sys_clock(CLOCK_MONOTONIC);
    stacks.due = after + REST * (after - now);
    return true;
}

static const struct stack *stack_at(uint64_t sp)
{
    size_t i = partition_point(k, stacks.all.n, stacks.all.at[k].high <= sp);
    return i < stacks.all.n && stacks.all.at[i].low <= sp ? &stacks.all.at[i] : NULL;
}

/* The initial thread's stack may have grown since the last reading. */
enum foreign_stack foreign_stack(uint64_t sp, uint64_t since, uint64_t *low, uint64_t *high)
{
    if (stacks.read_at < since && !read_again())
        return STACK_NOT_YET_KNOWN;
    const struct stack *found = stack_at(sp);
    if (!found && read_again())
        found = stack_at(sp);
    if (!found)
        return STACK_NONE;
    *low = found->low;
    *high = found->high;
    return STACK_FOUND;
}
