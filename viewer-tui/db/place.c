#include "viewer-tui/db/place.h"

#include <inttypes.h>
#include <string.h>

bool place_hosts_differ(const json_t *run)
{
    const json_t *processes = json_object_get(run, "processes");
    const char *first = run_text(json_array_get(processes, 0), "host");
    for (size_t i = 1; i < json_array_size(processes); i++)
        if (strcmp(run_text(json_array_get(processes, i), "host"), first) != 0)
            return true;
    return false;
}

int64_t place_rank(const json_t *process)
{
    const json_t *rank = json_object_get(process, "rank");
    return json_is_integer(rank) ? json_integer_value(rank) : -1;
}

void place_add(const json_t *process, bool with_host, bool ascii, struct text *out)
{
    int64_t rank = place_rank(process);
    if (rank >= 0)
        text_printf(out, "rank %" PRId64, rank);
    if (with_host) {
        text_add(out, rank >= 0 ? " on " : "on ");
        text_add_clean(out, run_text(process, "host"), ascii);
    }
    if (rank >= 0 || with_host)
        text_add(out, ": ");
}
