#include "hpcrun/logical/agent-loader.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/code/module-list.h"
#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/claims.h"
#include "lib/elf-notes.h"
#include "lib/elf-sections.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_RECOGNITIONS 4
#define MAX_WORD         128

struct installed_agent {
    char name[MAX_WORD], rules_version[MAX_WORD], path[PATH_MAX];
    char note[MAX_WORD];                     /* owner of its runtime's ELF note; "" for none */
    char module[MAX_RECOGNITIONS][MAX_WORD]; /* base names of its runtime's modules; "" for none */
    bool may_be_in_program;                  /* the runtime may be linked into the program */
    bool is_for_threads;                     /* it is the agent for plain threads */
    int loaded;                              /* index in `agents`; NOT_LOADED or UNUSABLE */
};

enum { NOT_LOADED = -1, UNUSABLE = -2 };

static struct installed_agent installed[MAX_AGENTS];
static unsigned installed_count;

/* The modules at the last update and at this one: lists[last] and lists[!last]. */
static struct module_list lists[2];
static unsigned last;
static _Atomic unsigned long long last_changes; /* module_list_changes() at the last update */

/* Id of the thread that updates; 0: none does. */
static _Atomic int updater;

/* ---- symbols of the program ---- */

/* Larger string tables are not searched: it would delay the start of every process by milliseconds.
 */
#define MOST_BYTES_OF_NAMES (2u << 20)

static struct elf_file map_program(void)
{
    struct elf_file file = {0};
    struct stat status;
    long fd = sys4(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return file;
    if (sys2(SYS_fstat, fd, &status) == 0 && status.st_size > 0) {
        long at = sys6(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at > 0)
            file = (struct elf_file){(const char *)at, (size_t)status.st_size};
    }
    sys1(SYS_close, fd);
    return file;
}

/* Whether a string table has the name, including its terminating 0. A longer name with this ending
 * also matches. */
static bool has_name(const struct elf_file *file, const Elf64_Shdr *strings, const char *name)
{
    return strings->sh_size <= MOST_BYTES_OF_NAMES &&
           elf_file_holds(file, strings->sh_offset, strings->sh_size) &&
           memmem(file->at + strings->sh_offset, strings->sh_size, name, strlen(name) + 1);
}

/* Whether the symbol tables of the program's file may have a symbol of this name. False is sure if
 * the file can be read; true may also be a symbol that the program only refers to. */
static bool has_symbol(const struct elf_file *file, const char *name)
{
    unsigned count = 0;
    const Elf64_Shdr *all = file->at ? elf_file_sections(file, &count) : NULL;
    bool found = false;
    for (unsigned i = 0; all && i < count && !found; i++)
        if ((all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM) &&
            all[i].sh_link < count)
            found = has_name(file, &all[all[i].sh_link], name);
    return found;
}

/* ---- agents that are installed ---- */

/* Copies a word that ends at '|', ';' or the end of the string. Returns the rest. */
static const char *parse_word(const char *at, char *to, size_t room)
{
    size_t length = strcspn(at, "|;");
    size_t fitting = length < room ? length : room - 1;
    memcpy(to, at, fitting);
    to[fitting] = '\0';
    at += length;
    return *at == '|' ? at + 1 : at;
}

static void add_recognition(struct installed_agent *agent, const char *word,
                            const struct elf_file *program)
{
    const char *name = text_after(word, "note:");
    if (name) {
        strcpy(agent->note, name);
        return;
    }
    name = text_after(word, "symbol:");
    if (name) {
        agent->may_be_in_program |= has_symbol(program, name);
        return;
    }
    if (text_after(word, "threads:")) {
        agent->is_for_threads = true;
        return;
    }
    name = text_after(word, "module:");
    for (unsigned i = 0; name && i < MAX_RECOGNITIONS; i++)
        if (!agent->module[i][0]) {
            strcpy(agent->module[i], name);
            return;
        }
}

void agents_init(const char *list)
{
    assert(installed_count == 0);
    const struct elf_file program = list && *list ? map_program() : (struct elf_file){0};
    for (const char *at = list; at && *at && installed_count < MAX_AGENTS;) {
        struct installed_agent *agent = &installed[installed_count++];
        char word[MAX_WORD];
        agent->loaded = NOT_LOADED;
        at = parse_word(at, agent->name, sizeof agent->name);
        at = parse_word(at, agent->rules_version, sizeof agent->rules_version);
        at = parse_word(at, agent->path, sizeof agent->path);
        while (*at && *at != ';') {
            at = parse_word(at, word, sizeof word);
            add_recognition(agent, word, &program);
        }
        if (*at == ';')
            at++;
    }
    sys_pages_free((void *)program.at, program.size);
}

/* Whether the file name of a path is NAME or NAME.<something>: "libfoo.so" fits lib/libfoo.so.5. A star at
 * the end of the name stands for anything. */
static bool has_base_name(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length && name[length - 1] == '*')
        return strncmp(base, name, length - 1) == 0;
    const char *rest = text_after(base, name);
    return rest && (*rest == '\0' || *rest == '.');
}

/* The module as agents see it, with the ELF note of this owner, if it has one. */
static struct agent_module module_for_agents(const struct listed_module *module, const char *owner)
{
    struct agent_module its = {
        .start = module->start, .end = module->end, .bias = module->bias, .path = module->path};
    for (unsigned i = 0; i < LISTED_NOTES && owner[0] && !its.note; i++) {
        const struct listed_notes *notes = &module->notes[i];
        its.note = elf_note_find(notes->copy, notes->bytes, notes->align, owner, &its.note_bytes);
        its.note_address = notes->address + (uint64_t)its.note - (uint64_t)notes->copy;
    }
    return its;
}

static bool recognizes(const struct installed_agent *agent, const struct listed_module *module)
{
    if (agent->may_be_in_program && !module->path[0])
        return true;
    for (unsigned i = 0; i < MAX_RECOGNITIONS && agent->module[i][0]; i++)
        if (has_base_name(module->path, agent->module[i]))
            return true;
    return module_for_agents(module, agent->note).note != NULL;
}

static void announce_module(const struct installed_agent *agent, const struct listed_module *module)
{
    const struct agent *it = agents.at[agent->loaded];
    const struct agent_module its = module_for_agents(module, agent->note);
    if (it->module_added)
        it->module_added(&its);
}

/* Starts an agent. Returns its index in `agents`, or UNUSABLE. */
static int start_agent(const struct installed_agent *installed, const struct agent *agent)
{
    unsigned count = atomic_load(&agents.count);
    assert(installed->loaded == NOT_LOADED && count < MAX_AGENTS);
    if (agent->interface != AGENT_INTERFACE) {
        refusals_add(installed->name, "it was built for another version of the agent interface");
    } else if (agent->thread_data_bytes > AGENT_MAX_THREAD_DATA_BYTES ||
               agent->state_bytes > AGENT_MAX_STATE_BYTES) {
        refusals_add(installed->name, "it asks for too much memory per thread");
    } else {
        agents.at[count] = agent;
        agents.name[count] = installed->name;
        agents.rules_version[count] = installed->rules_version;
        if (agent->start(host_for_agents())) {
            if (!agent->marks_threads && !agent->is_for_threads)
                atomic_store(&agents.hide_threads, true);
            atomic_store(&agents.count, count + 1);
            atomic_fetch_add(&agents.news, 1);
            return (int)count;
        }
        refusals_add(installed->name, "it cannot work with this hpcrun");
    }
    return UNUSABLE;
}

static int open_agent(const struct installed_agent *installed)
{
    void *library = dlopen(installed->path, RTLD_NOW | RTLD_LOCAL);
    const struct agent *agent = library ? dlsym(library, "hpcrun_agent") : NULL;
    if (agent)
        return start_agent(installed, agent);
    refusals_add(installed->name, dlerror());
    return UNUSABLE;
}

static void announce_removal(const struct listed_module *module)
{
    const struct agent_module its = module_for_agents(module, "");
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->module_removed)
            agents.at[i]->module_removed(&its);
    claims_remove(module->start, module->end);
}

/* Announces the modules that are not in the new list. Returns the position there of the first module
 * that is new: the loader adds modules at the end of its list, and keeps their order. */
static size_t announce_removals(const struct module_list *before, const struct module_list *now)
{
    size_t kept = 0;
    for (size_t i = 0; i < before->count; i++)
        if (kept < now->count && module_is_same(&before->at[i], &now->at[kept]))
            kept++;
        else
            announce_removal(&before->at[i]);
    return kept;
}

/* Opens an installed agent if its runtime is there, and announces the modules from `first_new` on to
 * it; all modules if the agent is new. */
static void update_agent(struct installed_agent *agent, const struct module_list *now,
                         size_t first_new)
{
    bool fresh = agent->loaded == NOT_LOADED;
    for (size_t i = 0; i < now->count && agent->loaded == NOT_LOADED; i++)
        if (recognizes(agent, &now->at[i]))
            agent->loaded = open_agent(agent);
    for (size_t i = fresh ? 0 : first_new; i < now->count && agent->loaded >= 0; i++)
        announce_module(agent, &now->at[i]);
}

static void update(void)
{
    struct module_list *before = &lists[last], *now = &lists[!last];
    if (!module_list_make(now))
        return;
    size_t first_new = announce_removals(before, now);
    last = !last;
    atomic_store(&last_changes, now->changes);
    for (unsigned i = 0; i < installed_count; i++)
        update_agent(&installed[i], now, first_new);
    module_list_free(before);
    atomic_fetch_add(&agents.epoch, 1);
}

/* ---- one thread at a time ---- */

/* False if a thread updates already, also if it is this one: agents open and close modules. */
static bool begin_update(void)
{
    int none = 0;
    return atomic_compare_exchange_strong(&updater, &none, sys_gettid());
}

static void end_update(void)
{
    atomic_store(&updater, 0);
    sys3(SYS_futex, &updater, FUTEX_WAKE_PRIVATE, INT_MAX);
}

/* Most time to wait for another thread's update. That may itself wait for this thread: it opens an
 * agent, and this thread is in a constructor, so that it holds the loader's lock. */
#define MOST_WAIT_NS 10000000u

static bool wait_to_begin_update(void)
{
    uint64_t end = sys_clock(CLOCK_MONOTONIC) + MOST_WAIT_NS;
    while (!begin_update()) {
        int other = atomic_load(&updater);
        uint64_t now = sys_clock(CLOCK_MONOTONIC);
        if (other == sys_gettid() || now >= end)
            return false;
        struct timespec left = sys_timespec(end - now);
        if (other != 0)
            sys4(SYS_futex, &updater, FUTEX_WAIT_PRIVATE, other, &left);
    }
    return true;
}

/* A module that an agent pinned while the program closed it is gone only when it is unpinned. */
#define MOST_UPDATES 3

/* The process ends: destructors of libraries run, or are over. To open such a library, as agents do that pin it, would run
 * its constructors again. The dynamic linker calls this before destructors of libraries that the program has loaded: a
 * preloaded library that no other one needs comes right after the program. */
static _Atomic bool are_libraries_ending;

__attribute__((destructor)) static void libraries_end(void)
{
    atomic_store(&are_libraries_ending, true);
}

static __thread unsigned unloads; /* calls of dlclose in which this thread is */

static bool is_due(void)
{
    return installed_count > 0 && !unloads && !atomic_load(&are_libraries_ending) &&
           module_list_changes() != atomic_load(&last_changes);
}

static void update_and_end(void)
{
    for (int i = 0; i < MOST_UPDATES && is_due(); i++)
        update();
    end_update();
}

void agents_update(void)
{
    if (is_due() && begin_update())
        update_and_end();
}

void agents_unload_begin(void)
{
    unloads++;
}

void agents_unload_end(void)
{
    unloads--;
    if (is_due() && wait_to_begin_update())
        update_and_end();
}

/* The agent for plain threads, if it may be used and was not opened; else NULL. */
static struct installed_agent *unopened_agent_for_threads(void)
{
    for (unsigned i = 0; i < installed_count; i++)
        if (installed[i].is_for_threads && installed[i].loaded == NOT_LOADED)
            return &installed[i];
    return NULL;
}

void agents_expect_thread(uint64_t routine)
{
    int its = claims_agent(routine);
    if (!unopened_agent_for_threads() || atomic_load(&agents.hide_threads) ||
        (its >= 0 && !agents.at[its]->has_plain_threads) || !begin_update())
        return;
    struct installed_agent *agent = unopened_agent_for_threads();
    if (agent) {
        agent->loaded = start_agent(agent, &agent_for_threads);
        for (size_t k = 0; k < lists[last].count && agent->loaded >= 0; k++)
            announce_module(agent, &lists[last].at[k]);
        atomic_fetch_add(&agents.epoch, 1);
    }
    end_update();
}

void agents_after_fork(void)
{
    atomic_store(&updater, 0);
}
