#include "hpcprof/metrics/metric-description.h"

#include "lib/sanitized-text.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *recorded_name, *meaning;
} meanings[] = {
    {IDLENESS, "Time in which workers had nothing to do, charged to the code that ran meanwhile"},
    {INCOMPLETE, "Wall time in which not every worker had work"},
    {OVERHEAD, "Time in the parallel runtime itself"},
    {WAITING, "Time in which code of a runtime waited for others"},
    {BLOCKED, "Time in which the thread's CPU clock stood still"},
    {LOCK_WAIT, "Time in which others waited for a lock, charged to the thread that held it"},
    {LOCK_DELAY, "Time in which others held a lock, charged to the thread that waited for it"},
    {EXACT_WORK, "Time of all strands of a fork-join program"},
    {SPAN, "Time of the longest chain of strands of a fork-join program"},
    {BURDENED_SPAN, "Time of the longest chain of strands if every spawn is stolen"},
};

/* The first sentence, without its period. */
static char *meaning_of(const struct metric_table *table, const struct metric *metric)
{
    const struct event *event = metric_event(table, metric);
    bool is_time = event_is_time(event);
    const char *kind = strchr(metric->recorded_name, ':');
    if (metric->kind_of != NO_METRIC && kind)
        return mem_printf("The part of overhead that is %s", kind + 1);
    if (strcmp(metric->recorded_name, WORK) == 0 && is_time)
        return mem_strdup("Time in which the program worked, without overhead and waiting");
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const char *time = "Time", *meaning = meanings[i].meaning;
        if (strcmp(metric->recorded_name, meanings[i].recorded_name) != 0)
            continue;
        bool counts = !is_time && strncmp(meaning, time, strlen(time)) == 0;
        return counts ? mem_printf("Events%s", meaning + strlen(time)) : mem_strdup(meaning);
    }
    return mem_printf("What %s counted, without overhead and waiting", event->name);
}

char *metric_description(const struct metric_table *table, const struct metric *metric)
{
    const struct event *event = metric_event(table, metric);
    const char *why = metric_lower_bound(table, metric);
    char *meaning = meaning_of(table, metric);
    const char *unit = event_is_time(event) ? "In seconds, by" : "Counts of";
    char *text = mem_printf("%s. %s %s.%s%s%s", meaning, unit, event->name,
                            why ? " A lower bound: " : "", why ? why : "", why ? "." : "");
    char *repaired = utf8_repaired(text);
    free(meaning);
    free(text);
    return repaired;
}
