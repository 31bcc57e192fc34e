#include "hpcrun/record/process-chunks.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/agent-names.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/process/cpu-quota.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/process.h"
#include "hpcrun/source/sample-source.h"
#include "lib/version.h"

#include <string.h>
#include <sys/stat.h>

static void add_arguments(struct chunk *chunk)
{
    const char *const *arguments = process_arguments();
    unsigned count = 0;
    while (arguments[count])
        count++;
    chunk_v(chunk, count);
    for (unsigned i = 0; i < count; i++)
        chunk_str(chunk, arguments[i]);
}

_Static_assert(MAX_ARGUMENTS *(MAX_ARGUMENT_SIZE + VARINT_MAX_BYTES) + 2 * PATH_MAX + CHUNK_SLACK <=
                   CHUNK_BYTES,
               "room for the longest paths and arguments");

static bool write_process(struct chunk *chunk, uint32_t exec_sequence)
{
    chunk_begin(chunk, CHUNK_PROCESS, CHUNK_NO_THREAD);
    chunk_str(chunk, process.host);
    chunk_u64(chunk, process.host_id);
    chunk_v(chunk, (uint64_t)process.pid);
    chunk_v(chunk, (uint64_t)process.parent);
    chunk_v(chunk, process.start_ticks);
    chunk_v(chunk, exec_sequence);
    chunk_z(chunk, process.rank);
    chunk_v(chunk, process.origin);
    chunk_str(chunk, process.executable);
    chunk_str(chunk, process.directory);
    add_arguments(chunk);
    chunk_v(chunk, process.began_real);
    chunk_v(chunk, process.began_wall);
    chunk_v(chunk, process.began_cpu);
    chunk_v(chunk, process.usable_cpus);
    chunk_str(chunk, HPCTOOLKIT_VERSION);
    chunk_v(chunk, clock_error());
    return chunk_commit(chunk);
}

static void add_strands(struct chunk *chunk)
{
    chunk_str(chunk, STRANDS_EVENT);
    chunk_str(chunk, "ns");
    chunk_v(chunk, TIME_SHIFT);
    chunk_v(chunk, 1);
    chunk_v(chunk, EVENT_TIME | EVENT_EXACT);
    chunk_str(chunk, "");
}

static bool write_events(struct chunk *chunk)
{
    const struct config *config = &process.config;
    chunk_begin(chunk, CHUNK_EVENTS, CHUNK_NO_THREAD);
    chunk_v(chunk, 0);
    chunk_v(chunk, config->event_count + config->work_span);
    for (unsigned i = 0; i < config->event_count; i++) {
        const struct event *event = &config->events[i];
        bool time = event_is_time(event);
        chunk_str(chunk, event->name);
        chunk_str(chunk, time ? "ns" : "count");
        chunk_v(chunk, time ? TIME_SHIFT : 0);
        chunk_v(chunk, event->interval ? event->interval : event->period);
        chunk_v(chunk, (time ? EVENT_TIME : 0u) | (event->interval ? EVENT_BY_RATE : 0u) |
                           (event->kind == EVENT_REALTIME ? EVENT_WALL_CLOCK : 0u) |
                           (event->options & EVENT_CHOSEN_BY_DEFAULT ? EVENT_BY_DEFAULT : 0u));
        chunk_str(chunk, event->kind == EVENT_CPUTIME ? sources_fallback_reason() : "");
    }
    if (config->work_span)
        add_strands(chunk);
    return chunk_commit(chunk);
}

static bool write_metrics(struct chunk *chunk)
{
    chunk_begin(chunk, CHUNK_METRICS, CHUNK_NO_THREAD);
    chunk_v(chunk, 0);
    chunk_v(chunk, process.metrics.count);
    for (unsigned i = 0; i < process.metrics.count; i++) {
        chunk_str(chunk, process.metrics.at[i].name);
        chunk_v(chunk, process.metrics.at[i].event);
        chunk_v(chunk, METRIC_UNIT_OF_EVENT);
    }
    return chunk_commit(chunk);
}

bool process_chunks_write(uint32_t exec_sequence)
{
    struct chunk chunk;
    if (!chunk_memory(&chunk))
        return false;
    bool good =
        write_process(&chunk, exec_sequence) && write_events(&chunk) && write_metrics(&chunk);
    chunk_release(&chunk);
    return good;
}

/* The instances that are in the file. Two threads that write the same one at once both do: each
 * must find it in the file before it publishes a sample in it. */
static _Atomic uint8_t module_written[1u << 17];
static struct {
    _Atomic uint32_t modules_end, news; /* modules_end() and agents.news at the last attempt */
    _Atomic bool busy;                  /* a thread is writing agents: other threads skip them */
    unsigned agents, refusals;
    const struct named_code *newest_name; /* it and all older ones are written; NULL: none is */
    uint32_t changes[MAX_AGENTS]; /* changes of the number of workers, by agent */
} written;

void process_chunks_clear(void)
{
    for (uint32_t id = INSTANCE_FIRST; id < modules_end(); id++)
        atomic_store(&module_written[id], 0);
    memset(&written, 0, sizeof written);
}

/* ---- modules ---- */

/* A line is "START-END PERMISSIONS OFFSET DEVICE INODE PATH", with addresses in hexadecimal. */
static bool begins_at(const char *line, uint64_t start)
{
    uint64_t address = 0;
    for (; *line && *line != '-'; line++)
        address = address << 4 | (uint64_t)(*line <= '9' ? *line - '0' : *line - 'a' + 10);
    return address == start;
}

/* The path in the line of `start`, among the whole lines of a text; ends each line with 0. *rest is
 * set to what follows the last line that was searched. */
static const char *find_line(char *text, uint64_t start, char **rest)
{
    char *end;
    for (; (end = strchr(text, '\n')); text = end + 1) {
        *end = '\0';
        if (begins_at(text, start))
            return strchr(text, '/');
    }
    *rest = text;
    return NULL;
}

static const char *find_in(long fd, uint64_t start, char *buffer, size_t room)
{
    size_t used = 0;
    while (used + 1 < room) {
        char *rest = buffer;
        long size = sys3(SYS_read, fd, buffer + used, room - 1 - used);
        if (size <= 0)
            break;
        used += (size_t)size;
        buffer[used] = '\0';
        const char *path = find_line(buffer, start, &rest);
        if (path)
            return path;
        used = (size_t)(buffer + used - rest);
        memmove(buffer, rest, used);
    }
    return NULL;
}

/* The path of the file whose mapping begins at `start`; NULL if there is none, or no /proc. The
 * path lies in the buffer, of at least PATH_MAX + 128 bytes. The loader's path may be another
 * file's by now; this is the kernel's. */
static const char *mapped_path(uint64_t start, char *buffer, size_t room)
{
    long fd = sys4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    const char *path = find_in(fd, start, buffer, room);
    sys1(SYS_close, fd);
    return path;
}

/* Not by stat, which programs that restrict their system calls forbid more often than open and
 * fstat. */
static bool stat_file(const char *path, struct stat *status)
{
    long fd = sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    bool found = fd >= 0 && sys2(SYS_fstat, fd, status) == 0;
    if (fd >= 0)
        sys1(SYS_close, fd);
    return found;
}

/* Whether the file at the module's path is not the mapped one: it is gone, or another. Compares the
 * files of both paths, since the device numbers in /proc/self/maps differ from stat's on some file
 * systems. */
static bool is_replaced(const struct module_instance *m, const struct stat *at_path, char *buffer,
                        size_t room)
{
    struct stat mapped;
    const char *path = mapped_path(m->start, buffer, room);
    if (!path)
        return false;
    return !stat_file(path, &mapped) || mapped.st_dev != at_path->st_dev ||
           mapped.st_ino != at_path->st_ino;
}

static void add_module(struct chunk *chunk, uint32_t id, const struct module_instance *m)
{
    struct stat status = {0};
    size_t half = SCRATCH_BYTES / 2;
    struct text full = {.at = chunk->scratch, .room = half};
    unsigned flags = m->flags;
    if (m->path[0] != '/' && m->path[0] != '[') {
        text_add(&full, process.directory);
        text_add(&full, "/");
    }
    text_add(&full, m->path);
    if (m->path[0] != '[')
        stat_file(full.at, &status);
    if (m->build_id_size == 0 && is_replaced(m, &status, chunk->scratch + half, half)) {
        flags |= MODULE_REPLACED;
        status = (struct stat){0};
    }
    chunk_v(chunk, id);
    chunk_u64(chunk, m->start);
    chunk_u64(chunk, m->end);
    chunk_u64(chunk, m->bias);
    chunk_v(chunk, flags);
    chunk_v(chunk, m->generation);
    chunk_str(chunk, full.at);
    chunk_bytes(chunk, m->build_id, m->build_id_size);
    chunk_u64(chunk, m->hash);
    chunk_v(chunk, (uint64_t)status.st_size);
    chunk_v(chunk,
            (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec);
}

/* One instance per chunk: paths are long, and most modules are added at different times. */
bool process_chunks_write_modules(struct chunk *chunk)
{
    bool good = true;
    for (uint32_t id = INSTANCE_FIRST; id < modules_end() && good; id++) {
        const struct module_instance *m = modules_get(id);
        if (!m || atomic_load(&module_written[id]))
            continue;
        chunk_begin(chunk, CHUNK_MODULES, CHUNK_NO_THREAD);
        chunk_v(chunk, 1);
        add_module(chunk, id, m);
        good = chunk_commit(chunk);
        if (good)
            atomic_store(&module_written[id], 1);
    }
    return good;
}

static bool write_agent(struct chunk *chunk, unsigned i)
{
    struct text rules = {.at = chunk->scratch, .room = SCRATCH_BYTES};
    text_add(&rules, agents.name[i]);
    text_add(&rules, ".rules");
    chunk_begin(chunk, CHUNK_AGENTS, CHUNK_NO_THREAD);
    chunk_v(chunk, 1);
    chunk_str(chunk, agents.at[i]->name);
    chunk_str(chunk, agents.at[i]->version);
    chunk_v(chunk, agents.at[i]->interface);
    chunk_str(chunk, rules.at);
    chunk_str(chunk, agents.rules_version[i]);
    return chunk_commit(chunk);
}

/* One change per chunk: there are few. */
static bool write_change(struct chunk *chunk, unsigned agent, const struct workers_change *change)
{
    chunk_begin(chunk, CHUNK_WORKERS, CHUNK_NO_THREAD);
    chunk_v(chunk, agent);
    chunk_v(chunk, 1);
    chunk_v(chunk, change->at);
    chunk_v(chunk, change->workers);
    chunk_v(chunk, change->n);
    return chunk_commit(chunk);
}

static bool write_changes(struct chunk *chunk, unsigned agent)
{
    struct workers_change change;
    while (workers_change(agent, written.changes[agent], &change)) {
        if (!write_change(chunk, agent, &change))
            return false;
        written.changes[agent]++;
    }
    return true;
}

static bool write_refusals(struct chunk *chunk)
{
    struct refusal refusal;
    while (refusals_get(written.refusals, &refusal)) {
        chunk_begin(chunk, CHUNK_REFUSALS, CHUNK_NO_THREAD);
        chunk_v(chunk, 1);
        chunk_str(chunk, refusal.agent);
        chunk_str(chunk, refusal.why);
        if (!chunk_commit(chunk))
            return false;
        written.refusals++;
    }
    return true;
}

/* ---- names of agents ---- */

/* Names in one chunk; a name has at most NAME_BYTES. */
#define NAME_BYTES      (2 * (4 * NAMED_CODE_CHARACTERS + 5) + 2 * VARINT_MAX_BYTES)
#define LINES_PER_CHUNK (CHUNK_BYTES - CHUNK_SLACK)

static bool write_names_of(struct chunk *chunk, const struct named_code **at)
{
    unsigned agent = (*at)->agent, count = 0;
    const struct named_code *end = *at;
    size_t bytes = 0;
    for (; end != written.newest_name && end->agent == agent && bytes < LINES_PER_CHUNK - NAME_BYTES;
         end = end->older, count++)
        bytes += strlen(end->procedure) + strlen(end->file) + 4 * VARINT_MAX_BYTES;
    chunk_begin(chunk, CHUNK_NAMES, CHUNK_NO_THREAD);
    chunk_v(chunk, agent);
    chunk_v(chunk, count);
    for (; *at != end; *at = (*at)->older) {
        chunk_v(chunk, (*at)->number);
        chunk_str(chunk, (*at)->procedure);
        chunk_str(chunk, (*at)->file);
        chunk_v(chunk, (*at)->line);
    }
    return chunk_commit(chunk);
}

/* One line table per chunk, or a part of it. Without a table there is an empty one, which says that the positions are
 * no lines. */
static bool write_lines_of(struct chunk *chunk, const struct named_code *name)
{
    uint32_t at = 0;
    if (!name->lines)
        return true;
    do {
        uint32_t left = name->table_bytes - at, n = left < LINES_PER_CHUNK ? left : LINES_PER_CHUNK;
        chunk_begin(chunk, CHUNK_LINES, CHUNK_NO_THREAD);
        chunk_v(chunk, name->agent);
        chunk_v(chunk, name->number);
        chunk_v(chunk, name->lines);
        chunk_v(chunk, at);
        chunk_bytes(chunk, n ? (const void *)(name->table + at) : "", n);
        if (!chunk_commit(chunk))
            return false;
        at += n;
    } while (at < name->table_bytes);
    return true;
}

/* The newest name comes first. After a failure, all are written again: a reader takes the first. Line tables come
 * before their names, so that no name that is read has positions for lines. */
static bool write_names(struct chunk *chunk)
{
    const struct named_code *newest = agent_names_newest();
    for (const struct named_code *at = newest; at != written.newest_name; at = at->older)
        if (!write_lines_of(chunk, at))
            return false;
    for (const struct named_code *at = newest; at != written.newest_name;)
        if (!write_names_of(chunk, &at))
            return false;
    written.newest_name = newest;
    return true;
}

static bool has_agents(void)
{
    struct refusal refusal;
    return atomic_load(&agents.count) > 0 || refusals_get(0, &refusal);
}

bool process_chunks_write_agents(struct chunk *chunk)
{
    bool good = true;
    if (!has_agents() || atomic_exchange(&written.busy, true))
        return true;
    for (; written.agents < atomic_load(&agents.count) && good; written.agents += good)
        good = write_agent(chunk, written.agents);
    for (unsigned i = 0; i < written.agents && good; i++)
        good = write_changes(chunk, i);
    good = good && write_refusals(chunk) && write_names(chunk);
    atomic_store(&written.busy, false);
    return good;
}

bool process_chunks_are_pending(void)
{
    return atomic_load_explicit(&written.modules_end, memory_order_relaxed) != modules_end() ||
           atomic_load_explicit(&written.news, memory_order_relaxed) !=
               atomic_load_explicit(&agents.news, memory_order_relaxed);
}

/* Agents that another thread is writing at the moment are skipped; a later call with `retry` writes
 * what that thread could not. */
void process_chunks_write_pending(bool retry)
{
    struct chunk chunk;
    if (!(retry || process_chunks_are_pending()) || !chunk_memory(&chunk))
        return;
    uint32_t end = modules_end(), news = atomic_load(&agents.news);
    process_chunks_write_modules(&chunk);
    process_chunks_write_agents(&chunk);
    atomic_store(&written.modules_end, end);
    atomic_store(&written.news, news);
    chunk_release(&chunk);
}

bool process_chunks_write_states(struct chunk *chunk, const struct known_metric *metrics,
                                 unsigned count)
{
    chunk_begin(chunk, CHUNK_METRIC_STATES, CHUNK_NO_THREAD);
    chunk_v(chunk, count);
    for (unsigned i = 0; i < count; i++) {
        chunk_v(chunk, metrics[i].id);
        chunk_v(chunk, metrics[i].state);
        chunk_str(chunk, metrics[i].why ? metrics[i].why : "");
    }
    for (unsigned i = 0; i < count; i++)
        chunk_v(chunk, metrics[i].error);
    return chunk_commit(chunk);
}

bool process_chunks_write_clock(struct chunk *chunk, enum process_state state, int detail)
{
    chunk_begin(chunk, CHUNK_PROCESS_CLOCK, CHUNK_NO_THREAD);
    chunk_v(chunk, sys_clock(CLOCK_MONOTONIC));
    chunk_v(chunk, process_cpu_time());
    chunk_v(chunk, state);
    chunk_v(chunk, (uint64_t)detail);
    chunk_v(chunk, cpu_quota());
    chunk_v(chunk, cpu_quota_throttled() + 1);
    return chunk_commit(chunk);
}
