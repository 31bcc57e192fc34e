#include "hpcrun/outside/unsampled-time.h"

#include "hpcrun/source/sample-source.h"

#include <stdio.h>

uint64_t used_time(uint64_t began, uint64_t last, uint64_t sampled)
{
    uint64_t used = last > began ? last - began : 0;
    return used > sampled ? used : sampled;
}

const char *unsampled_time(uint64_t ns, uint64_t system)
{
    static char text[512];
    double seconds = (double)ns * 1e-9;
    if (system < ns / 2)
        snprintf(text, sizeof text,
                 "no samples of %.3f s CPU: at the ends of threads, or in threads too short for a sample", seconds);
    else
        snprintf(text, sizeof text,
                 "no samples of %.3f s CPU, most of it in the kernel: %s (as root, allow it by: "
                 "sysctl kernel.perf_event_paranoid=1)",
                 seconds, sources_fallback_reason());
    return text;
}
