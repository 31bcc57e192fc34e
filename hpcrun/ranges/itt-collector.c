/* The collector of Intel's Instrumentation and Tracing Technology (ITT). The part of ITT that is linked into programs
 * opens the library that INTEL_LIBITTNOTIFY64 names and calls its __itt_api_init, which fills in pointers to functions.
 * Tasks and regions become ranges. Of the rest, only domains and names are made, which the calls for tasks take. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/range-hooks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ITT's types, as far as they are needed. */
struct itt_id {
    unsigned long long part[3];
};

struct itt_string {
    const char *text;
    void *wide;
    int reserved;
    void *further[2];
};

struct itt_domain {
    volatile int is_enabled;
    struct itt_string name;
};

struct itt_function {
    const char *name; /* NULL ends the list */
    void **pointer;
    void *at_first;
    void *without_collector;
    int group;
};

struct itt_part {
    unsigned char magic[8];
    unsigned long major, minor, build;
    volatile long is_initialized, has_mutex, counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **library_path;
    struct itt_function *functions;
};

static const unsigned char magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};

/* Up to this version a function has one pointer less. */
#define LAST_OLD_BUILD 20101001

/* A domain and a string of one name. They stay until the process ends. */
struct itt_name {
    struct itt_domain domain;
    struct itt_string string;
    struct itt_name *next;
};

/* No lock: a fork in another thread would leave it locked. Two threads may make the same name twice. */
static struct itt_name *_Atomic names;

static struct itt_name *find_name(const char *text)
{
    struct itt_name *first = names, *name = text ? first : NULL;
    while (name && strcmp(name->string.text, text) != 0)
        name = name->next;
    if (name || !text)
        return name;
    name = calloc(1, sizeof *name);
    char *copy = strdup(text);
    if (!name || !copy) {
        free(name);
        free(copy);
        return NULL;
    }
    *name = (struct itt_name){.domain = {1, {.text = copy}}, .string = {.text = copy}, .next = first};
    while (!atomic_compare_exchange_weak(&names, &name->next, name))
        ;
    return name;
}

static struct itt_domain *domain_create(const char *text)
{
    struct itt_name *name = find_name(text);
    return name ? &name->domain : NULL;
}

static struct itt_string *string_create(const char *text)
{
    struct itt_name *name = find_name(text);
    return name ? &name->string : NULL;
}

/* The tasks of a domain that are not ended by an id are nested; the others' keys are odd, as no domain's address is. */
static const void *key_of(struct itt_id id)
{
    return (const void *)((id.part[0] * 31 + id.part[1]) | 1);
}

static void begin(const void *key, const struct itt_string *name)
{
    hpctoolkit_range_begin(key, name && name->text ? name->text : "(unnamed)");
}

static void task_begin(const void *domain, struct itt_id id, struct itt_id parent, const struct itt_string *name)
{
    (void)id, (void)parent;
    begin(domain, name);
}

static void task_end(const void *domain)
{
    hpctoolkit_range_end(domain);
}

static void begin_with_id(const void *domain, struct itt_id id, struct itt_id parent, const struct itt_string *name)
{
    (void)domain, (void)parent;
    begin(key_of(id), name);
}

static void end_with_id(const void *domain, struct itt_id id)
{
    (void)domain;
    hpctoolkit_range_end(key_of(id));
}

static const struct {
    const char *name;
    void *function;
} functions[] = {
    {"__itt_domain_create", domain_create},
    {"__itt_string_handle_create", string_create},
    {"__itt_task_begin", task_begin},
    {"__itt_task_end", task_end},
    {"__itt_task_begin_overlapped", begin_with_id},
    {"__itt_task_end_overlapped", end_with_id},
    {"__itt_region_begin", begin_with_id},
    {"__itt_region_end", end_with_id},
};

static void *function_named(const char *name, void *otherwise)
{
    for (size_t i = 0; hpctoolkit_range_begin && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    return otherwise;
}

HOOK void __itt_api_init(struct itt_part *part, int groups);

void __itt_api_init(struct itt_part *part, int groups)
{
    (void)groups;
    if (!part || memcmp(part->magic, magic, sizeof magic) != 0 || part->build <= LAST_OLD_BUILD)
        return;
    for (struct itt_function *each = part->functions; each->name; each++)
        *each->pointer = function_named(each->name, each->without_collector);
}
