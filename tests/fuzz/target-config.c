/* The environment that hpcrun reads at the start of a program. */
#include "tests/fuzz/fuzz-target.h"

#include "hpcrun/config/run-config.h"
#include "lib/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events that are written and read again are the same. */
static void check_round_trip(const struct config *config)
{
    static struct config again;
    static char value[MAX_EVENTS * (MAX_EVENT_NAME + 200)], variable[sizeof value + 32];
    struct text text = TEXT(value);
    char directory[] = CONFIG_DIR "=/";
    config_write_events(config, &text);
    snprintf(variable, sizeof variable, CONFIG_EVENTS "=%s", value);
    PROMISE(config_read(&again, (char *[]){directory, variable, NULL}));
    PROMISE(again.event_count == config->event_count);
    for (unsigned i = 0; i < config->event_count; i++) {
        const struct event *x = &config->events[i], *y = &again.events[i];
        PROMISE(strcmp(x->name, y->name) == 0 && x->kind == y->kind && x->period == y->period);
        PROMISE(x->interval == y->interval && x->options == y->options);
    }
}

/* The input is an environment, with a newline or 0 behind each variable. */
static void run_config(const uint8_t *data, size_t size)
{
    static struct config config;
    static struct metrics metrics;
    char *text = mem_strndup((const char *)data, size), *variables[32] = {text}, *at = text;
    for (size_t n = 1; n < 31 && (at = strchr(at, '\n')); n++) {
        *at++ = '\0';
        variables[n] = at;
    }
    rank_in(variables);
    if (config_read(&config, variables)) {
        PROMISE(config.event_count >= 1 && config.event_count <= MAX_EVENTS);
        PROMISE(config.directory[0] == '/');
        metrics_init(&metrics, &config);
        PROMISE(metrics.count <= MAX_METRICS);
        check_round_trip(&config);
    }
    free(text);
}

const struct fuzz_target config_target = {"config", run_config, 1 << 16, 4};
