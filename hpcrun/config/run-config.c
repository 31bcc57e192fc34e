#include "hpcrun/config/run-config.h"

#include "lib/metric-kinds.h"
#include "lib/trace-format.h"

#include <string.h>

const char *config_variable(char *const *environment, const char *name)
{
    for (char *const *entry = environment; *entry; entry++) {
        const char *rest = text_after(*entry, name);
        if (rest && *rest == '=')
            return rest + 1;
    }
    return NULL;
}

static bool parse_field(const char **at, uint64_t *value)
{
    if (**at != '|')
        return false;
    (*at)++;
    return text_parse_number(at, value);
}

static bool read_event(const char **at, struct event *event)
{
    uint64_t type, options;
    size_t length = strcspn(*at, "|");
    if (length == 0 || length >= sizeof event->name || (*at)[length] != '|')
        return false;
    memcpy(event->name, *at, length);
    event->name[length] = '\0';
    event->kind = (enum event_kind)(*at)[length + 1];
    if (event->kind != EVENT_CPUTIME && event->kind != EVENT_REALTIME &&
        event->kind != EVENT_COUNTER)
        return false;
    *at += length + 2;
    if (!parse_field(at, &event->period) || !parse_field(at, &event->interval) ||
        !parse_field(at, &type) || !parse_field(at, &event->perf_config) ||
        !parse_field(at, &event->perf_config1) || !parse_field(at, &event->perf_config2) ||
        !parse_field(at, &options))
        return false;
    event->perf_type = (uint32_t)type;
    event->options = (unsigned)options;
    return event->period > 0;
}

static bool read_events(struct config *config, const char *at)
{
    while (config->event_count < MAX_EVENTS) {
        if (!read_event(&at, &config->events[config->event_count]))
            return false;
        config->event_count++;
        if (*at == '\0')
            return true;
        if (*at++ != ';')
            return false;
    }
    return false;
}

static unsigned owner_or_none(const char *text)
{
    uint64_t number;
    return text && text_parse_number(&text, &number) ? (unsigned)number : UINT_MAX;
}

static int number_or_zero(const char *text)
{
    uint64_t number;
    return text && text_parse_number(&text, &number) ? (int)number : 0;
}

/* The first event of wall-clock time, else of CPU time, else the first one. */
static unsigned traced_event(const struct config *config)
{
    static const enum event_kind kinds[] = {EVENT_REALTIME, EVENT_CPUTIME};
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned i = 0; i < config->event_count; i++)
            if (config->events[i].kind == kinds[k])
                return i;
    return 0;
}

bool config_read(struct config *config, char *const *environment)
{
    const char *directory = config_variable(environment, CONFIG_DIR);
    const char *events = config_variable(environment, CONFIG_EVENTS);
    const char *options = config_variable(environment, CONFIG_OPTIONS);
    memset(config, 0, sizeof *config);
    if (!directory || directory[0] != '/' || strlen(directory) >= sizeof config->directory ||
        !events || !read_events(config, events))
        return false;
    strcpy(config->directory, directory);
    config->owner = owner_or_none(config_variable(environment, CONFIG_OWNER));
    config->signal = number_or_zero(config_variable(environment, CONFIG_SIGNAL));
    config->launched_pid = number_or_zero(config_variable(environment, CONFIG_PID));
    config->filters = (unsigned)number_or_zero(config_variable(environment, CONFIG_FILTERS));
    config->children_ms = number_or_zero(config_variable(environment, CONFIG_CHILDREN));
    config->cores = (unsigned)number_or_zero(config_variable(environment, CONFIG_CORES));
    const char *trace = config_variable(environment, CONFIG_TRACE);
    config->trace_limit = trace ? (unsigned)number_or_zero(trace) : TRACE_RECORDS;
    config->traced = traced_event(config);
    config->agents = config_variable(environment, CONFIG_AGENTS);
    if (!config->agents)
        config->agents = "";
    config->collapse_recursion = options && strchr(options, 'c');
    config->start_off = options && strchr(options, 'd');
    config->quiet = options && strchr(options, 'q');
    config->shared = options && strchr(options, 's');
    config->work_span = options && strchr(options, 'w');
    config->is_outside = options && strchr(options, 'o');
    return true;
}

void config_write_events(const struct config *config, struct text *text)
{
    for (unsigned i = 0; i < config->event_count; i++) {
        const struct event *event = &config->events[i];
        uint64_t fields[] = {event->period,      event->interval,     event->perf_type,
                             event->perf_config, event->perf_config1, event->perf_config2,
                             event->options};
        char kind[] = {'|', (char)event->kind, '\0'};
        if (i > 0)
            text_add(text, ";");
        text_add(text, event->name);
        text_add(text, kind);
        for (unsigned k = 0; k < sizeof fields / sizeof *fields; k++) {
            text_add(text, "|");
            text_add_number(text, fields[k]);
        }
    }
}

/* ---- metrics ---- */

static unsigned add_metric(struct metrics *metrics, const char *name, unsigned event)
{
    metrics->at[metrics->count] = (struct metric){.name = name, .event = event};
    return metrics->count++;
}

void metrics_init(struct metrics *metrics, const struct config *config)
{
    metrics->count = 0;
    for (unsigned i = 0; i < config->event_count; i++) {
        const struct event *event = &config->events[i];
        metrics->work[i] = add_metric(metrics, event_is_time(event) ? METRIC_WORK : event->name, i);
        bool has_wall = event_is_time(event) && (!config->is_outside || event->kind == EVENT_REALTIME);
        metrics->wall[i] = has_wall ? add_metric(metrics, METRIC_WALL, i) : NO_METRIC;
        bool is_wall = event->kind == EVENT_REALTIME;
        metrics->off_cpu[i] = is_wall ? add_metric(metrics, METRIC_OFF_CPU, i) : NO_METRIC;
        metrics->ready[i] = is_wall ? add_metric(metrics, METRIC_READY, i) : NO_METRIC;
        bool of_workers = event_is_time(event) && config->agents[0] && (is_wall || !config->is_outside);
        metrics->idleness[i] = of_workers ? add_metric(metrics, METRIC_IDLENESS, i) : NO_METRIC;
        metrics->incomplete[i] = of_workers ? add_metric(metrics, METRIC_INCOMPLETE, i) : NO_METRIC;
        metrics->waiting[i] = of_workers ? add_metric(metrics, METRIC_WAITING, i) : NO_METRIC;
        metrics->lock_blame[i] = of_workers ? add_metric(metrics, METRIC_LOCK_BLAME, i) : NO_METRIC;
        metrics->lock_wait[i] = of_workers ? add_metric(metrics, METRIC_LOCK_WAIT, i) : NO_METRIC;
    }
    bool spans = config->work_span;
    unsigned strands = config->event_count;
    metrics->strand_work = spans ? add_metric(metrics, METRIC_EXACT_WORK, strands) : NO_METRIC;
    metrics->span = spans ? add_metric(metrics, METRIC_SPAN, strands) : NO_METRIC;
    metrics->burdened_span = spans ? add_metric(metrics, METRIC_BURDENED_SPAN, strands) : NO_METRIC;
}

/* ---- rank ---- */

/* The first variable that is set counts. Slurm's comes last, since mpirun may have started the
 * program under srun. Slurm sets SLURM_PROCID in batch scripts, too, but no step id then. */
static const struct {
    const char *rank, *needed;
} variables[] = {
    {"OMPI_COMM_WORLD_RANK", NULL},
    {"PMIX_RANK", NULL},
    {"PMI_RANK", NULL},
    {"MV2_COMM_WORLD_RANK", NULL},
    {"SLURM_PROCID", "SLURM_STEP_ID"},
};

int64_t rank_in(char *const *environment)
{
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = config_variable(environment, variables[i].rank);
        const char *needed = variables[i].needed;
        uint64_t rank;
        if (value && (!needed || config_variable(environment, needed)) &&
            text_parse_number(&value, &rank) && *value == '\0' && rank <= INT32_MAX)
            return (int64_t)rank;
    }
    return NO_RANK;
}
