#include "hpcprof/metrics/metric-description.h"

#include "lib/sanitized-text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The first sentence, without its period. */
static char *meaning_of(const struct metric_table *table, const struct metric *metric)
{
    const struct event *event = metric_event(table, metric);
    const struct metric_kind *kind = metric_kind_of(metric->recorded_name);
    const char *part = strchr(metric->recorded_name, ':');
    if (metric->kind_of != NO_METRIC && part)
        return mem_printf("The part of overhead that is %s", part + 1);
    if (!kind || (strcmp(kind->name, METRIC_WORK) == 0 && !event_is_time(event)))
        return mem_printf("What %s counted, without overhead and waiting", event->name);
    return mem_printf("%c%s", toupper((unsigned char)*kind->meaning), kind->meaning + 1);
}

char *metric_description(const struct metric_table *table, const struct metric *metric)
{
    const struct event *event = metric_event(table, metric);
    const char *why = metric_lower_bound(table, metric);
    autofree char *meaning = meaning_of(table, metric);
    const char *unit = event_is_time(event) ? "In seconds, by" : "Counts of";
    char *text = mem_printf("%s. %s %s.%s%s%s", meaning, unit, event->name,
                            why ? " A lower bound: " : "", why ? why : "", why ? "." : "");
    char *repaired = utf8_repaired(text);
    free(text);
    return repaired;
}
