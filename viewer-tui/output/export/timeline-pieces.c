#include "viewer-tui/output/export/timeline-pieces.h"

#include "viewer-tui/db/time-samples.h"

#include <math.h>

void timeline_pieces(const struct open_timeline *open, size_t thread,
                     void (*take)(void *context, const struct piece_of_time *piece), void *context)
{
    const struct timeline *timeline = open->timeline;
    const struct time_window *window = &open->chart.window;
    struct time_samples sample = time_samples_from(timeline, open->chart.rows.records[thread], window->begin);
    double unit = timeline_amount(timeline, timeline->is_time ? 1e9 : 1);
    double end_before = 0, length_before = INFINITY;
    bool has_waits = timeline_has_waits(timeline);
    while (time_samples_next(&sample) && sample.begin < window->end) {
        double begin = fmax((double)sample.begin, (double)window->begin), whole = (double)(sample.end - sample.begin);
        double length = fmin((double)sample.end, (double)window->end) - begin, share = whole > 0 ? length / whole : 1;
        if (share <= 0)
            continue;
        for (uint64_t i = sample.first; i < sample.next; i++) {
            uint64_t amount = trace_amount(sample.records[i].amount);
            double part = sample.amount ? length * (double)amount / (double)sample.amount : 0;
            uint32_t place = sample.records[i].place;
            struct piece_of_time piece = {.begin = begin,
                                          .end = begin + part,
                                          .amount = (double)amount * unit * share,
                                          .state = time_sample_state(&sample, i),
                                          .ran = record_ran(has_waits, sample.records[i].amount),
                                          .node = place < open->scopes.n ? open->scopes.node[place] : 0};
            double piece_length = piece.end - begin;
            piece.continues = begin - end_before <= fmax(piece_length, length_before);
            take(context, &piece);
            begin = end_before = piece.end;
            length_before = piece_length;
        }
    }
}

static const struct thread *thread_at(const struct open_timeline *open, size_t thread)
{
    return &open->chart.rows.threads.list.at[open->chart.rows.order[thread]];
}

/* Processes of several hosts can have the same pid, and the number of the first of its threads is unique. */
int64_t timeline_pid(const struct open_timeline *open, size_t thread)
{
    const struct thread *of = thread_at(open, thread);
    for (size_t i = 0; open->hosts_differ && i < thread; i++)
        if (of->process && thread_at(open, i)->process == of->process)
            return thread_at(open, i)->profile;
    return open->hosts_differ || of->pid < 0 ? of->profile : of->pid;
}

int64_t timeline_tid(const struct open_timeline *open, size_t thread)
{
    const struct thread *of = thread_at(open, thread);
    return open->hosts_differ || of->tid < 0 ? of->profile : of->tid;
}
