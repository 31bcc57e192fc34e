#include "viewer-tui/output/export/flamegraph-times.h"

#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/time-slice.h"

#include <math.h>
#include <stdlib.h>

/* Half of the columns of the strip above. */
#define MOST_BINS  120
#define FEWEST_BINS 8
#define PARTS      1e6

struct bin_cost {
    uint32_t frame; /* number of the shown frame */
    uint32_t bin;
    double cost;
};

struct frame_times {
    const struct frames *frames;
    const struct open_timeline *open;
    struct time_slice *slice;
    bool *counts;       /* by slot: it is the metric, or a part of it */
    uint32_t *shown;    /* by frame: number of the shown frame that it is, or is in */
    uint32_t *owners;   /* by place: frame; NOTHING: none */
    VEC(struct bin_cost) costs; /* ascending by frame, then by bin */
};

static uint64_t bin_begin(const struct frame_times *times, unsigned bin)
{
    const struct time_window *window = &times->open->chart.window;
    return window->begin + (uint64_t)((unsigned __int128)(window->end - window->begin) * bin / MOST_BINS);
}

/* ---- costs ---- */

static void add_costs_of(struct frame_times *times, const struct record_sums *sums, unsigned bin)
{
    struct slot_payment payments[RECORD_METRICS + 1];
    for (size_t i = 0; i < sums->list.n; i++) {
        uint32_t owner = times->owners[sums->list.at[i].place];
        size_t n = owner == NOTHING ? 0 : time_slice_payments(times->slice, &sums->list.at[i], payments);
        double cost = 0;
        for (size_t p = 0; p < n; p++)
            cost += times->counts[payments[p].slot] ? payments[p].amount : 0;
        if (cost > 0)
            vec_push(&times->costs, ((struct bin_cost){times->shown[owner], bin, cost}));
    }
}

/* The records of the threads and the time to which the view is restricted. */
static void add_bin(struct frame_times *times, unsigned bin, struct record_sums *sums)
{
    const struct database *db = times->frames->export.tree->view->db;
    const struct timeline *timeline = times->open->timeline;
    time_ranges pieces = time_ranges_copy(&times->slice->ranges);
    time_ranges_cut(&pieces, (struct time_range){bin_begin(times, bin), bin_begin(times, bin + 1)});
    for (uint32_t t = 0; t < timeline->header.n_threads; t++)
        for (size_t i = 0; i < pieces.n; i++)
            if (!db->has_profile || db->has_profile[timeline->threads[t].profile])
                record_sums_add(sums, timeline, &timeline->threads[t], pieces.at[i]);
    add_costs_of(times, sums, bin);
    record_sums_clear(sums);
    vec_free(&pieces);
}

static int by_frame(const void *left, const void *right)
{
    const struct bin_cost *a = left, *b = right;
    return a->frame != b->frame ? (a->frame > b->frame) - (a->frame < b->frame) : (a->bin > b->bin) - (a->bin < b->bin);
}

/* ---- text ---- */

/* Adds the costs in bins that are `width` of the finest wide. Sums are rounded, not their parts, so that these add up. */
static void add_bins(const struct frame_times *times, unsigned width, double whole, struct text *out)
{
    uint32_t frame = 0;
    double sum = 0, rounded = 0;
    bool is_first = true;
    for (size_t i = 0; i < times->costs.n; i++) {
        const struct bin_cost *cost = &times->costs.at[i];
        for (; frame < cost->frame; frame++, sum = rounded = 0, is_first = true)
            text_add(out, ";");
        sum += cost->cost;
        const struct bin_cost *next = i + 1 < times->costs.n ? cost + 1 : NULL;
        double parts = round(sum / whole * PARTS);
        if ((next && next->frame == frame && next->bin / width == cost->bin / width) || parts == rounded)
            continue;
        text_printf(out, "%s%u %.0f", is_first ? "" : " ", cost->bin / width, parts - rounded);
        rounded = parts;
        is_first = false;
    }
}

static void add_element(const struct frame_times *times, size_t room, struct text *out)
{
    double whole = times->frames->list.at[0].total[times->frames->shown];
    for (unsigned n = MOST_BINS; times->costs.n && whole > 0 && n >= FEWEST_BINS; n /= 2) {
        autofree struct text bins = {0};
        add_bins(times, MOST_BINS / n, whole, &bins);
        bool fits = bins.n <= room;
        if (fits)
            text_printf(out, "<script type=\"text/plain\" id=\"times\" data-from=\"%.9g\" data-to=\"%.9g\" data-bins=\"%u\">%s</script>\n",
                        (double)bin_begin(times, 0) * 1e-9, (double)bin_begin(times, MOST_BINS) * 1e-9, n,
                        text_string(&bins));
        if (fits)
            return;
    }
}

void flamegraph_times_add(const struct frames *frames, const struct open_timeline *open, size_t room, struct text *out)
{
    const struct tree *tree = frames->export.tree;
    const struct session_run *run = &tree->session->runs.at[0];
    const struct fold_choice folds = tree->session->folds;
    const struct metrics *metrics = tree->view->metrics;
    struct frame_times times = {.frames = frames, .open = open};
    struct record_sums sums = {0};
    autofree time_ranges whole = {0};
    if (tree->view->class != &topdown_class || folds.inlined || folds.recursion)
        return;
    vec_push(&whole, ((struct time_range){0, open->timeline->end}));
    times.slice = time_slice_new(tree->view->db, open->timeline, run->ranges.n ? &run->ranges : &whole,
                                 tree->projection == PHYSICAL, run->runs_read.at[0]);
    size_t n_slots = metrics->n_stored + metrics->n_hidden, metric = frames->export.metrics.at[frames->shown];
    times.counts = mem_alloc(n_slots + 1);
    for (size_t slot = 0; slot < n_slots; slot++) {
        size_t index = metrics_at_slot(metrics, slot);
        const struct metric *of = &metrics->at[index];
        times.counts[slot] = index == metric || (metric_is_added(of) && of->sum == (int)metric);
    }
    times.shown = mem_alloc(frames->list.n * sizeof *times.shown);
    uint32_t n_shown = 0;
    for (size_t i = 0; i < frames->list.n; i++) {
        const struct flame_frame *frame = &frames->list.at[i];
        times.shown[i] = frame->is_shown ? n_shown++ : times.shown[frame->parent];
    }
    times.owners = place_owners(&open->scopes, &frames->values);
    for (unsigned bin = 0; bin < MOST_BINS; bin++)
        add_bin(&times, bin, &sums);
    record_sums_free(&sums);
    vec_sort(&times.costs, by_frame);
    add_element(&times, room, out);
    time_slice_free(times.slice);
    vec_free(&times.costs);
    free(times.counts);
    free(times.shown);
    free(times.owners);
}
