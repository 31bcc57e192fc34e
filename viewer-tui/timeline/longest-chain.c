#include "viewer-tui/timeline/longest-chain.h"

#include "lib/binary-search.h"

/* The wake-up after which a thread did what it did at `time`; NULL: there is none. Clocks of threads differ by
 * microseconds: in the middle of a wait, the nearer end of that counts. */
static const struct timeline_wake_up *wake_up_before(const struct timeline *timeline, uint32_t thread, uint64_t time)
{
    uint64_t n, unit = timeline->header.unit;
    const struct timeline_wake_up *all = timeline_wake_ups(timeline, thread, &n);
    uint64_t at = partition_point(i, n, all[i].time * unit < time);
    if (at < n && all[at].began * unit < time && all[at].time * unit - time < time - all[at].began * unit)
        at++;
    while (at > 0 && !timeline_thread(timeline, all[at - 1].profile))
        at--;
    return at > 0 ? &all[at - 1] : NULL;
}

/* Whether the thread was a worker without work. After its last record, it is what it was then. */
static bool is_idle_at(const struct timeline *timeline, uint32_t thread, uint64_t time)
{
    const struct timeline_thread *of = &timeline->threads[thread];
    uint64_t at = timeline_find(timeline, of, time);
    at -= at > 0 && at == of->n_records;
    enum trace_state state =
        at < of->n_records ? timeline_state(timeline, &timeline_records(timeline, of)[at]) : TRACE_WORK;
    return state == TRACE_IDLE || state == TRACE_NOBODY;
}

static void reverse(chain_pieces *pieces)
{
    for (size_t i = 0; i < pieces->n / 2; i++) {
        struct chain_piece piece = pieces->at[i];
        pieces->at[i] = pieces->at[pieces->n - 1 - i];
        pieces->at[pieces->n - 1 - i] = piece;
    }
}

/* A time in which all wake-ups of a thread are known, or only some. */
struct stretch {
    uint64_t begin;
    bool is_known;
};

/* The one that ends at `time` or later. */
static struct stretch stretch_at(const struct timeline *timeline, uint32_t thread, uint64_t time)
{
    const struct timeline_wake_list *list = timeline->wake_lists ? &timeline->wake_lists[thread] : NULL;
    if (!list || list->step <= 1 || list->window == 0 || time <= list->first)
        return (struct stretch){0, true};
    uint64_t window = (time - 1 - list->first) / list->window, complete = window - window % list->step;
    bool is_known = window == complete;
    return (struct stretch){list->first + (complete + !is_known) * list->window, is_known};
}

/* The piece that ends at `end` and begins with the wake-up, NULL if there is none in the stretch. */
static struct chain_piece piece_before(uint32_t thread, uint64_t begin, uint64_t end, bool is_known,
                                       const struct timeline_wake_up *wake_up, uint64_t unit)
{
    struct chain_piece piece = {thread, !is_known, begin, begin, end};
    if (wake_up) {
        uint64_t released = wake_up->released * unit, runs = wake_up->time * unit;
        piece.runs = runs < begin ? begin : runs < end ? runs : end;
        piece.from = released < piece.runs ? released : piece.runs;
        piece.from = piece.from < end ? piece.from : end - 1;
        piece.from = piece.from > begin ? piece.from : begin;
    }
    return piece;
}

/* Far more than wake-ups make, and windows of 50 ms in half a day. In a damaged file, pieces can be of 1 ns. */
#define MOST_PIECES (UINT64_C(1) << 20)

/* The time decreases with every step, also in a damaged file. */
chain_pieces longest_chain(const struct timeline *timeline, uint32_t thread, uint64_t begin, uint64_t end)
{
    chain_pieces pieces = {0};
    uint64_t unit = timeline->header.unit, most = MOST_PIECES + timeline->map.size;
    uint32_t waiter = 0;
    uint64_t since = 0; /* the waiter has waited for the thread since then; 0: there is none */
    while (end > begin && pieces.n < most) {
        struct stretch stretch = stretch_at(timeline, thread, end);
        const struct timeline_wake_up *wake_up = wake_up_before(timeline, thread, end);
        uint64_t least = since > stretch.begin ? since : stretch.begin;
        bool is_let = since > begin && since < end && least == since &&
                      (!wake_up || wake_up->time * unit < since) && is_idle_at(timeline, thread, since);
        bool is_in_it = !is_let && wake_up && wake_up->time * unit >= stretch.begin;
        uint64_t from = is_let ? since : !is_in_it && stretch.begin > begin ? stretch.begin : begin;
        struct chain_piece piece =
            piece_before(thread, from, end, stretch.is_known, is_in_it ? wake_up : NULL, unit);
        vec_push(&pieces, piece);
        since = 0;
        if (is_let) {
            thread = waiter;
        } else if (is_in_it) {
            waiter = thread;
            since = wake_up->began * unit;
            thread = (uint32_t)(timeline_thread(timeline, wake_up->profile) - timeline->threads);
        }
        end = piece.from;
    }
    if (end > begin)
        vec_push(&pieces, ((struct chain_piece){thread, true, begin, begin, end}));
    reverse(&pieces);
    return pieces;
}
