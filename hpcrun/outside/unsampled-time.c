#include "hpcrun/outside/unsampled-time.h"

#include "hpcrun/source/sample-source.h"

void unsampled_time_add(struct text *line, uint64_t ns, uint64_t system)
{
    text_add(line, "no samples of ");
    text_add_decimal(line, ns / 1000000, 3);
    text_add(line, " s CPU");
    if (system < ns / 2) {
        text_add(line, ": at the ends of threads, or in threads too short for a sample");
        return;
    }
    text_add(line, ", most of it in the kernel: ");
    text_add(line, sources_fallback_reason());
    text_add(line, " (as root, allow it by: sysctl kernel.perf_event_paranoid=1)");
}
