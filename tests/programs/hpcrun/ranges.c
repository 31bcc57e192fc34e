/* ranges itt|nvtx N: opens the tool's library as ITT and NVTX do, and reports ranges to it: "outer" around N "inner",
 * and then one of each other kind. In another thread "other", which the main thread ends.
 * ranges deep N: N ranges "level", each in the one before it, and "after" them.
 * Prints "no tool" if the library is not found, "no functions" if it has none for this process. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void *open_tool(const char *variable)
{
    const char *path = getenv(variable);
    void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
    if (!tool)
        puts("no tool");
    return tool;
}

static void in_another_thread(void *(*run)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
}

/* ---- ITT ---- */

struct id {
    unsigned long long parts[3];
};

struct handle {
    const char *text;
    void *wide;
    int reserved[4];
};

typedef void itt_begin(const void *domain, struct id id, struct id parent, struct handle *name);
typedef void itt_end(const void *domain);
typedef void itt_end_id(const void *domain, struct id id);

enum { TASK_BEGIN, TASK_END, OVERLAPPED_BEGIN, OVERLAPPED_END, REGION_BEGIN, REGION_END, DOMAIN, STRING, COUNTER, FRAME,
       FUNCTIONS };

static void *itt[FUNCTIONS];
static const char *const itt_names[FUNCTIONS] = {
    "__itt_task_begin",           "__itt_task_end",             "__itt_task_begin_overlapped",
    "__itt_task_end_overlapped",  "__itt_region_begin",         "__itt_region_end",
    "__itt_domain_create",        "__itt_string_handle_create", "__itt_counter_create",
    "__itt_frame_begin_v3"};

static struct itt_function {
    const char *name;
    void **pointer;
    void *at_first;
    void *without_tool;
    int group;
} itt_functions[FUNCTIONS + 1];

static struct {
    unsigned char magic[8];
    unsigned long major, minor, build;
    volatile long is_initialized, has_mutex, counter;
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **library_path;
    struct itt_function *functions;
    void *further[8];
} itt_part = {{0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30}, 3, 0, 20180723, .functions = itt_functions};

static const void *domains[2]; /* the first is made by the tool, the other before it is there */
static char counter;

static void begin(const char *name)
{
    struct handle *handle = ((struct handle * (*)(const char *)) itt[STRING])(name);
    ((itt_begin *)itt[TASK_BEGIN])(domains[0], (struct id){{0}}, (struct id){{0}}, handle);
}

static void end(void)
{
    ((itt_end *)itt[TASK_END])(domains[0]);
}

static void *begin_other(void *argument)
{
    begin("other");
    return argument;
}

static void by_id(int first, struct id id, const char *name)
{
    struct handle handle = {.text = name};
    ((itt_begin *)itt[first])(domains[1], id, (struct id){{0}}, &handle);
}

static void end_id(int first, struct id id)
{
    ((itt_end_id *)itt[first + 1])(domains[1], id);
}

static int run_itt(int inner)
{
    void *tool = open_tool("INTEL_LIBITTNOTIFY64");
    void (*init)(void *, int) = tool ? (void (*)(void *, int))dlsym(tool, "__itt_api_init") : NULL;
    for (int i = 0; i < FUNCTIONS; i++)
        itt_functions[i] = (struct itt_function){itt_names[i], &itt[i], NULL, i == COUNTER ? &counter : NULL, 1};
    itt[FRAME] = &counter;
    if (!init)
        return 1;
    init(&itt_part, -1);
    if (itt[COUNTER] != &counter || itt[FRAME])
        return 2;
    if (!itt[TASK_BEGIN]) {
        puts("no functions");
        return 0;
    }
    const void *(*create)(const char *) = (const void *(*)(const char *))itt[DOMAIN];
    domains[0] = create("domain");
    domains[1] = &counter;
    if (domains[0] == create("another") || domains[0] != create("domain") || create(NULL))
        return 3;
    begin("outer");
    for (int i = 0; i < inner; i++) {
        begin("inner");
        end();
    }
    by_id(OVERLAPPED_BEGIN, (struct id){{1, 2, 3}}, "first");
    by_id(OVERLAPPED_BEGIN, (struct id){{1, 4, 3}}, "second");
    end_id(OVERLAPPED_BEGIN, (struct id){{1, 2, 3}});
    end_id(OVERLAPPED_BEGIN, (struct id){{1, 4, 3}});
    by_id(REGION_BEGIN, (struct id){{7, 0, 0}}, "region");
    end();
    end_id(REGION_BEGIN, (struct id){{7, 0, 0}});
    in_another_thread(begin_other);
    end(); /* of none */
    return 0;
}

/* ---- NVTX ---- */

enum { CORE = 1, DOMAINS = 5, ENTRIES = 16 };

static void *core[ENTRIES], *second[ENTRIES];
static void **core_table[ENTRIES], **second_table[ENTRIES];

static int functions_of(int module, void ****table, unsigned *n)
{
    *table = module == CORE ? core_table : second_table;
    *n = ENTRIES;
    return module == CORE || module == DOMAINS;
}

static const struct {
    size_t size;
    int (*functions_of)(int module, void ****table, unsigned *n);
} callbacks = {sizeof callbacks, functions_of};

static const void *table_of(uint32_t table)
{
    return table == 1 ? &callbacks : NULL;
}

struct event {
    uint16_t version, size;
    uint32_t rest[7];
    int32_t message_type;
    const void *message;
};

static struct event event_of(int type, const void *message)
{
    return (struct event){.version = 3, .size = sizeof(struct event), .message_type = type, .message = message};
}

static void *start_other(void *id)
{
    (void)id;
    static uint64_t started;
    started = ((uint64_t(*)(const char *))core[5])("other");
    return &started;
}

static void run_deep(int depth)
{
    int (*push)(const char *) = (int (*)(const char *))core[9];
    int (*pop)(void) = (int (*)(void))core[11];
    for (int i = 0; i < depth; i++)
        push("level");
    for (int i = 0; i < depth; i++)
        pop();
    push("after");
    pop();
}

static bool init_nvtx(int *status)
{
    void *tool = open_tool("NVTX_INJECTION64_PATH");
    int (*init)(const void *(*)(uint32_t)) =
        tool ? (int (*)(const void *(*)(uint32_t)))dlsym(tool, "InitializeInjectionNvtx2") : NULL;
    for (int i = 1; i < ENTRIES; i++) {
        core_table[i] = &core[i];
        second_table[i] = &second[i];
    }
    bool is_there = init && init(table_of);
    if (init && !is_there)
        puts("no functions");
    *status = init ? 0 : 1;
    return is_there;
}

static int run_nvtx(int inner)
{
    int (*push)(const char *) = (int (*)(const char *))core[9];
    int (*push_wide)(const wchar_t *) = (int (*)(const wchar_t *))core[10];
    int (*push_event)(const struct event *) = (int (*)(const struct event *))core[8];
    int (*pop)(void) = (int (*)(void))core[11];
    uint64_t (*start)(const char *) = (uint64_t(*)(const char *))core[5];
    void (*stop)(uint64_t) = (void (*)(uint64_t))core[7];
    void *(*domain_of)(const char *) = (void *(*)(const char *))second[12];
    void *(*string_of)(void *, const char *) = (void *(*)(void *, const char *))second[10];
    int (*push_in)(void *, const struct event *) = (int (*)(void *, const struct event *))second[4];
    int (*pop_in)(void *) = (int (*)(void *))second[5];
    if (core[1] || second[1] || core[0])
        return 2;
    push("outer");
    for (int i = 0; i < inner; i++) {
        char name[] = "inner"; /* which does not last */
        struct event event = event_of(1, name);
        push_event(&event);
        memset(name, '?', 5);
        pop();
    }
    uint64_t first = start("first"), last = start("second");
    stop(first);
    stop(last);
    void *domain = domain_of("domain");
    struct event region = event_of(3, string_of(domain, "region"));
    push_in(domain, &region);
    pop();
    pop_in(domain);
    push_wide(L"w\u00efde");
    pop();
    pthread_t thread;
    void *other;
    pthread_create(&thread, NULL, start_other, NULL);
    pthread_join(thread, &other);
    stop(*(uint64_t *)other);
    pop(); /* of none */
    return 0;
}

int main(int count, char **arguments)
{
    int n = count > 2 ? atoi(arguments[2]) : 0, status = 0;
    if (count > 1 && strcmp(arguments[1], "itt") == 0)
        return run_itt(n);
    if (!init_nvtx(&status))
        return status;
    if (strcmp(arguments[1], "deep") != 0)
        return run_nvtx(n);
    run_deep(n);
    return 0;
}
