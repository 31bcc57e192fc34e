/* Work and span of the regions that the program names itself, in the summary. */
#include "viewer-tui/output/run-summary.h"

#include "viewer-tui/db/run.h"

/* "at most" if the span is a lower bound. */
static void print_region(struct writer *writer, const json_t *region, const char *at_most)
{
    double work = run_number(region, "work"), span = run_number(region, "span");
    autofree struct text parallelism = {0};
    text_printf(&parallelism, "%s%.2f", at_most, span > 0 ? work / span : 0);
    text_add_right(&writer->line, text_string(&parallelism), 14);
    text_printf(&writer->line, "%12.3f%12.3f%12.3f%9.0f  ", 1e3 * work, 1e3 * span,
                1e3 * run_number(region, "burdened_span"), run_number(region, "times"));
    writer_say(writer, "%s", run_text(region, "name"));
    if (json_is_true(json_object_get(region, "partial")))
        text_add(&writer->line, " (a part of it is not measured)");
    writer_end_line(writer);
}

void print_regions_text(struct summary *summary)
{
    struct writer *writer = &summary->writer;
    const json_t *regions = json_object_get(summary->run, "regions");
    const char *at_most = summary->work_span.why_lower_bound ? "at most " : "";
    if (json_array_size(regions) == 0)
        return;
    writer_heading(writer, "Regions that the program names");
    writer_line(writer, "%14s%12s%12s%12s%9s  %s", "parallelism", "work, ms", "span, ms",
                "burdened", "times", "region");
    json_each (region, regions)
        print_region(writer, region, at_most);
}
