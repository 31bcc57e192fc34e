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
#include <sys/ioctl.h>
#include <unistd.h>

/* After a reading that took T, the next one is at least REST * T later. */
#define REST 50u

struct map_line {
    struct mapping mapping;
    bool is_code, is_guard, is_data; /* is_guard: it can't be accessed; is_data: memory without a file that can be written */
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
    line->is_data = permissions[1] == 'w' && mapping->inode == 0;
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
    VEC(struct stack) all;  /* with a guard line below, or the initial thread's; in order of their addresses */
    VEC(struct stack) data; /* other memory, which may be several stacks */
    uint64_t guard_end;    /* of the line before; 0: it is no guard */
    uint64_t read_at, due; /* CLOCK_MONOTONIC when it was read, and when it may be again; 0: never */
    uint64_t scan_due;     /* the same of a scan for guards */
} stacks;

static void add_stack(const struct map_line *line, void *data)
{
    const struct mapping *mapping = &line->mapping;
    bool is_stack = stacks.guard_end == mapping->start || strcmp(mapping->path, "[stack]") == 0;
    (void)data;
    stacks.guard_end = line->is_guard ? mapping->end : 0;
    if (is_stack && !line->is_guard)
        vec_push(&stacks.all, (struct stack){mapping->start, mapping->end});
    else if (line->is_data)
        vec_push(&stacks.data, (struct stack){mapping->start, mapping->end});
}

/* False if it is too early. */
static bool read_again(void)
{
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (now < stacks.due)
        return false;
    stacks.all.n = stacks.data.n = 0;
    stacks.guard_end = 0;
    visit_lines(process.pid, add_stack, NULL);
    stacks.read_at = now;
    uint64_t after = sys_clock(CLOCK_MONOTONIC);
    stacks.due = after + REST * (after - now);
    return true;
}

static const struct stack *memory_at(const struct stack *all, size_t n, uint64_t sp)
{
    size_t i = partition_point(k, n, all[k].high <= sp);
    return i < n && all[i].low <= sp ? &all[i] : NULL;
}

static const struct stack *stack_at(uint64_t sp)
{
    return memory_at(stacks.all.at, stacks.all.n, sp);
}

/* ---- stacks whose guard has no line ----
 *
 * From version 2.42 on, glibc marks the page below a thread's stack as a guard (MADV_GUARD_INSTALL), and stacks next to
 * each other are one line. Linux says from 6.15 on which pages these are. */

/* Of linux/fs.h, from 6.7 on. */
struct page_region {
    uint64_t start, end, categories;
};

struct scan_request {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_PAGES    _IOWR('f', 16, struct scan_request)
#define PAGE_IS_GUARD 256u

/* Guards farther from sp are not looked for: in other memory, the kernel would look at all pages, for longer. */
#define FARTHEST (UINT64_C(64) << 20)
#define PAGE     4096u

static bool scan_guards(int fd, struct scan_request *request, uint64_t sp, struct stack *found)
{
    struct page_region guards[64];
    request->vec = (uint64_t)(uintptr_t)guards;
    request->vec_len = sizeof guards / sizeof *guards;
    int n = ioctl(fd, SCAN_PAGES, request);
    for (int i = 0; i < n && found->high > guards[i].start; i++)
        if (guards[i].end <= sp)
            found->low = guards[i].end;
        else
            found->high = guards[i].start;
    bool goes_on = n == (int)request->vec_len && found->high > request->walk_end;
    request->start = request->walk_end;
    return goes_on;
}

/* The part of some memory around sp with a guard below; false: there is no guard. */
static bool find_between_guards(const struct stack *memory, uint64_t sp, struct stack *found)
{
    uint64_t page = sp / PAGE * PAGE;
    struct scan_request request = {.size = sizeof request,
                                   .start = page - memory->low > FARTHEST ? page - FARTHEST : memory->low,
                                   .end = memory->high - page > FARTHEST ? page + FARTHEST : memory->high,
                                   .category_mask = PAGE_IS_GUARD,
                                   .return_mask = PAGE_IS_GUARD};
    int fd = measured_open(process.pid, "pagemap", O_RDONLY);
    *found = (struct stack){0, request.end};
    while (fd >= 0 && scan_guards(fd, &request, sp, found))
        continue;
    if (fd >= 0)
        close(fd);
    return found->low != 0;
}

/* Looks where there is none seldom. */
static enum foreign_stack find_without_line(uint64_t sp, struct stack *found)
{
    const struct stack *memory = memory_at(stacks.data.at, stacks.data.n, sp);
    uint64_t now = sys_clock(CLOCK_MONOTONIC);
    if (!memory || now < stacks.scan_due)
        return memory ? STACK_NOT_YET_KNOWN : STACK_NONE;
    if (find_between_guards(memory, sp, found))
        return STACK_FOUND;
    uint64_t after = sys_clock(CLOCK_MONOTONIC);
    stacks.scan_due = after + REST * (after - now);
    return STACK_NONE;
}

/* The initial thread's stack may have grown since the last reading. */
enum foreign_stack foreign_stack(uint64_t sp, uint64_t since, uint64_t *low, uint64_t *high)
{
    if (stacks.read_at < since && !read_again())
        return STACK_NOT_YET_KNOWN;
    const struct stack *known = stack_at(sp);
    struct stack found;
    if (!known && read_again())
        known = stack_at(sp);
    enum foreign_stack result = known ? STACK_FOUND : find_without_line(sp, &found);
    if (result != STACK_FOUND)
        return result;
    *low = known ? known->low : found.low;
    *high = known ? known->high : found.high;
    return STACK_FOUND;
}
