#include "hpcrun/logical/agent-loader.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/logical/agent-query.h"
#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/claims.h"
#include "lib/elf-notes.h"
#include "lib/elf-sections.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_RECOGNITIONS 4
#define MAX_MODULES      512
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

struct loaded_module {
    struct agent_module module; /* its note is not set */
    const ElfW(Phdr) * headers;
    unsigned header_count;
};

/* The modules of the process at the last update and at this one: modules[last] and modules[!last].
 */
static struct loaded_module modules[2][MAX_MODULES];
static unsigned module_count[2], last;
static unsigned long long changes; /* number of loads and unloads, at the last update */
static _Atomic int updating;

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
static bool program_has_symbol(const char *name)
{
    struct elf_file file = map_program();
    unsigned count = 0;
    const Elf64_Shdr *all = file.at ? elf_file_sections(&file, &count) : NULL;
    bool found = false;
    for (unsigned i = 0; all && i < count && !found; i++)
        if ((all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM) &&
            all[i].sh_link < count)
            found = has_name(&file, &all[all[i].sh_link], name);
    sys_pages_free((void *)file.at, file.size);
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

static void add_recognition(struct installed_agent *agent, const char *word)
{
    const char *name = text_after(word, "note:");
    if (name) {
        strcpy(agent->note, name);
        return;
    }
    name = text_after(word, "symbol:");
    if (name) {
        agent->may_be_in_program |= program_has_symbol(name);
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
    for (const char *at = list; at && *at && installed_count < MAX_AGENTS;) {
        struct installed_agent *agent = &installed[installed_count++];
        char word[MAX_WORD];
        agent->loaded = NOT_LOADED;
        at = parse_word(at, agent->name, sizeof agent->name);
        at = parse_word(at, agent->rules_version, sizeof agent->rules_version);
        at = parse_word(at, agent->path, sizeof agent->path);
        while (*at && *at != ';') {
            at = parse_word(at, word, sizeof word);
            add_recognition(agent, word);
        }
        if (*at == ';')
            at++;
    }
}

/* The data of the ELF note of this owner, or NULL. */
static const void *module_note(const struct loaded_module *module, const char *owner, size_t *bytes)
{
    const void *found = NULL;
    for (unsigned i = 0; i < module->header_count && owner[0] && !found; i++) {
        const ElfW(Phdr) *header = &module->headers[i];
        const uint8_t *at = (const uint8_t *)(module->module.bias + header->p_vaddr);
        if (header->p_type == PT_NOTE)
            found = elf_note_find(at, header->p_memsz, header->p_align == 8 ? 8 : 4, owner, bytes);
    }
    return found;
}

/* Whether the file name of a path is NAME or NAME.<something>: "libfoo.so" fits lib/libfoo.so.5. */
static bool has_base_name(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *rest = text_after(slash ? slash + 1 : path, name);
    return rest && (*rest == '\0' || *rest == '.');
}

static bool recognizes(const struct installed_agent *agent, const struct loaded_module *module)
{
    size_t bytes;
    if (agent->may_be_in_program && !module->module.path[0])
        return true;
    for (unsigned i = 0; i < MAX_RECOGNITIONS && agent->module[i][0]; i++)
        if (has_base_name(module->module.path, agent->module[i]))
            return true;
    return module_note(module, agent->note, &bytes) != NULL;
}

static void announce_module(const struct installed_agent *agent, const struct loaded_module *module)
{
    const struct agent *it = agents.at[agent->loaded];
    struct agent_module its = module->module;
    its.note = module_note(module, agent->note, &its.note_bytes);
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
    } else if (agent->thread_data_bytes > AGENT_MAX_THREAD_DATA_BYTES) {
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

/* Callback of dl_iterate_phdr: adds a module to the list of number *now. */
static int list_module(struct dl_phdr_info *info, size_t size, void *now)
{
    (void)size;
    unsigned which = *(unsigned *)now;
    unsigned long long seen = info->dlpi_adds + info->dlpi_subs;
    if (seen == changes)
        return 1;
    if (module_count[which] == MAX_MODULES)
        return 0;
    struct loaded_module *module = &modules[which][module_count[which]++];
    uint64_t low = UINT64_MAX, high = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD)
            continue;
        low = header->p_vaddr < low ? header->p_vaddr : low;
        high = header->p_vaddr + header->p_memsz > high ? header->p_vaddr + header->p_memsz : high;
    }
    *module = (struct loaded_module){
        .module = {.start = info->dlpi_addr + low,
                   .end = info->dlpi_addr + high,
                   .bias = info->dlpi_addr,
                   .path = info->dlpi_name ? info->dlpi_name : ""},
        .headers = info->dlpi_phdr,
        .header_count = info->dlpi_phnum,
    };
    return 0;
}

static int count_changes(struct dl_phdr_info *info, size_t size, void *total)
{
    (void)size;
    *(unsigned long long *)total = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

static bool is_listed(unsigned which, const struct loaded_module *module)
{
    for (unsigned i = 0; i < module_count[which]; i++)
        if (modules[which][i].module.start == module->module.start &&
            modules[which][i].module.end == module->module.end)
            return true;
    return false;
}

static void announce_removal(const struct loaded_module *module)
{
    for (unsigned i = 0; i < atomic_load(&agents.count); i++)
        if (agents.at[i]->module_removed)
            agents.at[i]->module_removed(&module->module);
    claims_remove(module->module.start, module->module.end);
}

/* Opens an installed agent if its runtime is there, and announces new modules to it; all modules if
 * the agent is new. */
static void update_agent(struct installed_agent *agent, unsigned before, unsigned now)
{
    bool fresh = agent->loaded == NOT_LOADED;
    for (unsigned i = 0; i < module_count[now] && agent->loaded == NOT_LOADED; i++)
        if (recognizes(agent, &modules[now][i]))
            agent->loaded = open_agent(agent);
    for (unsigned i = 0; i < module_count[now] && agent->loaded >= 0; i++)
        if (fresh || !is_listed(before, &modules[now][i]))
            announce_module(agent, &modules[now][i]);
}

void agents_update(void)
{
    if (installed_count == 0 || atomic_exchange(&updating, 1))
        return;
    unsigned before = last, now = !last;
    module_count[now] = 0;
    dl_iterate_phdr(list_module, &now);
    if (module_count[now] > 0) {
        last = now;
        dl_iterate_phdr(count_changes, &changes);
        for (unsigned i = 0; i < module_count[before]; i++)
            if (!is_listed(now, &modules[before][i]))
                announce_removal(&modules[before][i]);
        for (unsigned i = 0; i < installed_count; i++)
            update_agent(&installed[i], before, now);
        atomic_fetch_add(&agents.epoch, 1);
    }
    atomic_store(&updating, 0);
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
    if (!unopened_agent_for_threads() || atomic_load(&agents.hide_threads) ||
        claims_agent(routine) >= 0 || atomic_exchange(&updating, 1))
        return;
    struct installed_agent *agent = unopened_agent_for_threads();
    if (agent) {
        agent->loaded = start_agent(agent, &agent_for_threads);
        for (unsigned k = 0; k < module_count[last] && agent->loaded >= 0; k++)
            announce_module(agent, &modules[last][k]);
        atomic_fetch_add(&agents.epoch, 1);
    }
    atomic_store(&updating, 0);
}

void agents_after_fork(void)
{
    atomic_store(&updating, 0);
}
