#include "hpcrun/span/span-regions.h"

#include "hpcrun/process/report.h"
#include "hpcrun/span/frame-span.h"
#include "hpcrun/span/strand-clock.h"

#include <stdatomic.h>
#include <stddef.h>

/* Most CPUs of the bounds in a dump. */
#define MOST_CPUS 16

/* Cilkview's lower bound has 1.7 burdened spans. */
#define TENTHS_OF_SPAN 17

struct region {
    char name[REGION_NAME];
    unsigned depth; /* starts without a stop */
    uint64_t times; /* that it has ended */
    struct span_totals begin;
    struct span_totals sums;
    _Atomic bool is_refused; /* a start or stop was in a computation, or in another thread */
};

static struct region regions[REGIONS];
static _Atomic unsigned region_count;

static void add_line_begin(struct text *line, const char *name)
{
    text_add(line, "region ");
    text_add(line, name);
    text_add(line, ": ");
}

static void complain(const char *name, const char *what)
{
    char buffer[256];
    struct text line = TEXT(buffer);
    add_line_begin(&line, name);
    text_add(&line, what);
    report_error(&line);
}

static bool has_name(const struct region *region, const char *name)
{
    size_t i = 0;
    while (i + 1 < REGION_NAME && region->name[i] && region->name[i] == name[i])
        i++;
    return i + 1 == REGION_NAME || region->name[i] == name[i];
}

static struct region *find(const char *name)
{
    unsigned n = atomic_load(&region_count);
    for (unsigned i = 0; i < n; i++)
        if (has_name(&regions[i], name))
            return &regions[i];
    return NULL;
}

/* The region of that name, in serial code; NULL if there are too many. */
static struct region *find_or_add(const char *name)
{
    struct region *region = find(name);
    unsigned n = atomic_load(&region_count);
    if (region || n == REGIONS)
        return region;
    struct text copy = TEXT(regions[n].name);
    text_add(&copy, name);
    atomic_store(&region_count, n + 1);
    return &regions[n];
}

/* Whether the call is in serial code, and then the totals. */
static bool now(const char *name, struct span_totals *totals)
{
    if (frame_span_now_in_series(totals))
        return true;
    static _Atomic bool has_complained; /* workers may come here millions of times */
    struct region *region = find(name);
    if (region)
        region->is_refused = true;
    if (!atomic_exchange(&has_complained, true))
        complain(name,
                 "not measured: it begins or ends inside of a computation, or in another thread");
    return false;
}

static struct span_time difference(const struct span_time *from, const struct span_time *to)
{
    return (struct span_time){.time = to->time - from->time,
                              .strands = to->strands - from->strands};
}

static struct span_totals grown(const struct span_totals *from, const struct span_totals *to)
{
    return (struct span_totals){.work = difference(&from->work, &to->work),
                                .span = difference(&from->span, &to->span),
                                .burdened_span =
                                    difference(&from->burdened_span, &to->burdened_span),
                                .spawns = to->spawns - from->spawns,
                                .is_incomplete = to->is_incomplete};
}

static void add_time_to(struct span_time *sum, const struct span_time *more)
{
    sum->time += more->time;
    sum->strands += more->strands;
}

static void add(struct span_totals *sums, const struct span_totals *more)
{
    add_time_to(&sums->work, &more->work);
    add_time_to(&sums->span, &more->span);
    add_time_to(&sums->burdened_span, &more->burdened_span);
    sums->spawns += more->spawns;
    sums->is_incomplete |= more->is_incomplete;
}

/* What the region has at a point with these totals. */
static struct region_sums sums_until(const struct region *region, const struct span_totals *totals)
{
    struct region_sums until = {.name = region->name,
                                .times = region->times + (region->depth > 0),
                                .sums = region->sums,
                                .is_partial = region->is_refused};
    if (region->depth > 0) {
        struct span_totals more = grown(&region->begin, totals);
        add(&until.sums, &more);
    }
    span_totals_correct(&until.sums);
    return until;
}

void span_region_start(const char *name)
{
    struct span_totals totals;
    if (!now(name, &totals))
        return;
    struct region *region = find_or_add(name);
    if (!region)
        complain(name, "not measured: there are too many regions");
    else if (region->depth++ == 0)
        region->begin = totals;
}

void span_region_stop(const char *name)
{
    struct span_totals totals;
    if (!now(name, &totals))
        return;
    struct region *region = find(name);
    if (!region || region->depth == 0) {
        complain(name, "stop without start; ignored");
        return;
    }
    if (--region->depth > 0)
        return;
    struct span_totals more = grown(&region->begin, &totals);
    add(&region->sums, &more);
    region->times++;
}

/* ---- dump ---- */

static void add_time(struct text *line, const char *what, uint64_t time)
{
    text_add(line, what);
    text_add_decimal(line, (time >> STRAND_SHIFT) / 1000, 3);
    text_add(line, " ms");
}

static void add_ratio(struct text *line, const char *what, uint64_t upper, uint64_t lower)
{
    text_add(line, what);
    text_add_decimal(line, (uint64_t)((double)upper / (double)lower * 100 + 0.5), 2);
}

/* "; 2 CPUs: 1.76 to 2.00 times faster, 4: 2.83 to 4.00" */
static void add_bounds(struct text *line, const struct span_totals *sums)
{
    for (uint64_t cpus = 2; cpus <= MOST_CPUS; cpus *= 2) {
        uint64_t time = 10 * sums->work.time / cpus + TENTHS_OF_SPAN * sums->burdened_span.time;
        bool is_first = cpus == 2, is_by_work = sums->work.time / cpus > sums->span.time;
        text_add(line, is_first ? "; " : ", ");
        text_add_number(line, cpus);
        add_ratio(line, is_first ? " CPUs: " : ": ", 10 * sums->work.time, time);
        add_ratio(line, " to ", is_by_work ? cpus : sums->work.time,
                  is_by_work ? 1 : sums->span.time);
        text_add(line, is_first ? " times faster" : "");
    }
}

static void dump(const struct region_sums *region)
{
    const struct span_totals *sums = &region->sums;
    char buffer[512];
    struct text line = TEXT(buffer);
    add_line_begin(&line, region->name);
    text_add_number(&line, region->times);
    text_add(&line, region->times == 1 ? " time" : " times");
    add_time(&line, ", work ", sums->work.time);
    add_time(&line, ", span ", sums->span.time);
    add_time(&line, ", burdened span ", sums->burdened_span.time);
    text_add(&line, ", spawns ");
    text_add_number(&line, sums->spawns);
    if (sums->span.time > 0 && sums->burdened_span.time > 0) {
        add_ratio(&line, "; parallelism ", sums->work.time, sums->span.time);
        add_ratio(&line, ", burdened ", sums->work.time, sums->burdened_span.time);
        add_bounds(&line, sums);
    }
    report_error(&line);
}

void span_region_dump(const char *name)
{
    struct span_totals totals;
    struct region *region = find(name);
    if (!now(name, &totals))
        return;
    if (!region) {
        complain(name, "it was never started");
        return;
    }
    struct region_sums sums = sums_until(region, &totals);
    if (sums.is_partial || sums.sums.is_incomplete)
        complain(name, sums.is_partial ? "a part of it is not measured" : "values are incomplete");
    dump(&sums);
}

/* ---- end of the image ---- */

bool span_region_at_end(unsigned i, struct region_sums *sums)
{
    if (i >= atomic_load(&region_count))
        return false;
    struct span_totals totals = span_totals_so_far();
    *sums = sums_until(&regions[i], &totals);
    return true;
}
