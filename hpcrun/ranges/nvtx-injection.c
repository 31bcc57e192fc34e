/* The injected library of NVTX 3, NVIDIA's annotations of programs. The part of NVTX that is compiled into programs
 * opens the library that NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2, which fills in pointers
 * to functions. What has no function here does nothing. */
#include "hpcrun/base/hook.h"
#include "hpcrun/base/range-hooks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* NVTX's types, as far as they are needed. */
struct nvtx_event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *text; /* also of a registered string: register_string made it */
        const wchar_t *wide;
    } message;
};

enum { MESSAGE_TEXT = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

typedef void nvtx_function(void);

struct nvtx_callbacks {
    size_t size;
    int (*functions_of)(int module, nvtx_function ****table, unsigned *n);
};

enum { TABLE_OF_CALLBACKS = 1, MODULE_CORE = 1, MODULE_DOMAINS = 5 };

/* What functions return without a tool that counts levels. */
#define NO_LEVELS (-2)

#define NAME_ROOM 64

/* Narrow copies of names show what is not ASCII as '?'. */
static const char *narrow(const wchar_t *wide, char name[NAME_ROOM])
{
    size_t n = 0;
    for (; wide && wide[n] && n < NAME_ROOM - 1; n++)
        name[n] = wide[n] > 0 && wide[n] < 128 ? (char)wide[n] : '?';
    name[n] = '\0';
    return name;
}

static const char *name_of(const struct nvtx_event *event, char name[NAME_ROOM])
{
    if (!event || event->size < sizeof *event || !event->message.text)
        return "(unnamed)";
    switch (event->message_type) {
    case MESSAGE_TEXT:
    case MESSAGE_REGISTERED: return event->message.text;
    case MESSAGE_WIDE: return narrow(event->message.wide, name);
    default: return "(unnamed)";
    }
}

/* ---- ranges that are nested in their domain and thread ---- */

static const char default_domain[2];

static const void *key_of(const void *domain)
{
    return domain ? domain : default_domain;
}

static int domain_push(const void *domain, const struct nvtx_event *event)
{
    char name[NAME_ROOM];
    hpctoolkit_range_begin(key_of(domain), name_of(event, name));
    return NO_LEVELS;
}

static int domain_pop(const void *domain)
{
    hpctoolkit_range_end(key_of(domain));
    return NO_LEVELS;
}

static int push(const struct nvtx_event *event)
{
    return domain_push(NULL, event);
}

static int push_text(const char *text)
{
    hpctoolkit_range_begin(default_domain, text ? text : "(unnamed)");
    return NO_LEVELS;
}

static int push_wide(const wchar_t *wide)
{
    char name[NAME_ROOM];
    return push_text(narrow(wide, name));
}

static int pop(void)
{
    return domain_pop(NULL);
}

/* ---- ranges that are ended by their number, which is odd, as no domain's address is ---- */

static uint64_t start_text(const char *text)
{
    static uint64_t last = 1;
    uint64_t id = __atomic_add_fetch(&last, 2, __ATOMIC_RELAXED);
    hpctoolkit_range_begin((const void *)id, text ? text : "(unnamed)");
    return id;
}

static uint64_t start_wide(const wchar_t *wide)
{
    char name[NAME_ROOM];
    return start_text(narrow(wide, name));
}

static uint64_t start(const struct nvtx_event *event)
{
    char name[NAME_ROOM];
    return start_text(name_of(event, name));
}

static uint64_t domain_start(const void *domain, const struct nvtx_event *event)
{
    (void)domain;
    return start(event);
}

static void end(uint64_t id)
{
    hpctoolkit_range_end((const void *)id);
}

static void domain_end(const void *domain, uint64_t id)
{
    (void)domain;
    end(id);
}

/* ---- domains and registered strings ---- */

/* They may be used until the process ends. */
static char *register_string(const void *domain, const char *text)
{
    (void)domain;
    return text ? strdup(text) : NULL;
}

static char *register_wide(const void *domain, const wchar_t *wide)
{
    char name[NAME_ROOM];
    return register_string(domain, narrow(wide, name));
}

static char *create_domain(const char *name)
{
    return register_string(NULL, name);
}

static char *create_domain_wide(const wchar_t *name)
{
    return register_wide(NULL, name);
}

/* ---- the tables ---- */

static const struct {
    int module;
    unsigned index; /* in NVTX's table of the module */
    void *function;
} functions[] = {
    {MODULE_CORE, 4, start},
    {MODULE_CORE, 5, start_text},
    {MODULE_CORE, 6, start_wide},
    {MODULE_CORE, 7, end},
    {MODULE_CORE, 8, push},
    {MODULE_CORE, 9, push_text},
    {MODULE_CORE, 10, push_wide},
    {MODULE_CORE, 11, pop},
    {MODULE_DOMAINS, 2, domain_start},
    {MODULE_DOMAINS, 3, domain_end},
    {MODULE_DOMAINS, 4, domain_push},
    {MODULE_DOMAINS, 5, domain_pop},
    {MODULE_DOMAINS, 10, register_string},
    {MODULE_DOMAINS, 11, register_wide},
    {MODULE_DOMAINS, 12, create_domain},
    {MODULE_DOMAINS, 13, create_domain_wide},
};

HOOK int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t table));

/* Returns 0 in a process that is not measured: then NVTX closes this library. */
int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t table))
{
    const struct nvtx_callbacks *callbacks = hpctoolkit_range_begin ? table_of(TABLE_OF_CALLBACKS) : NULL;
    if (!callbacks || callbacks->size < sizeof *callbacks)
        return 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        nvtx_function ***table = NULL;
        unsigned n = 0;
        if (callbacks->functions_of(functions[i].module, &table, &n) && functions[i].index < n &&
            table[functions[i].index])
            *table[functions[i].index] = (nvtx_function *)functions[i].function;
    }
    return 1;
}
