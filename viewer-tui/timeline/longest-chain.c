#include "viewer-tui/timeline/longest-chain.h"

#include "lib/binary-search.h"
#include "viewer-tui/base/scope.h"

/* What there is to go back in. */
struct chain {
    const struct timeline *timeline;
    const uint64_t *ends; /* by thread; NULL: none is known */
};

/* The index of the thread that ended a wait or created another thread; NOTHING: the file does not have it. */
static uint32_t waker_of(const struct chain *chain, const struct timeline_wake_up *wake_up)
{
    const struct timeline_thread *waker = timeline_thread(chain->timeline, wake_up->profile);
    return waker ? (uint32_t)(waker - chain->timeline->threads) : NOTHING;
}

/* The creation of a thread by another one; NULL: it is not known. A wait is never as short. */
static const struct timeline_wake_up *creation_of(const struct chain *chain, uint32_t thread)
{
    uint64_t n;
    const struct timeline_wake_up *all = timeline_wake_ups(chain->timeline, thread, &n);
    return n > 0 && all[0].began == all[0].time && waker_of(chain, all) != NOTHING ? all : NULL;
}

/* When a thread began; 0: its creation is not known. */
static uint64_t begin_of(const struct chain *chain, uint32_t thread)
{
    const struct timeline_wake_up *creation = creation_of(chain, thread);
    return creation ? creation->time * (uint64_t)chain->timeline->header.unit : 0;
}

/* UINT64_MAX: it is not known. */
static uint64_t end_of(const struct chain *chain, uint32_t thread)
{
    return chain->ends ? chain->ends[thread] : UINT64_MAX;
}

/* `time`, or the begin of the wait in which that is. A creator may wait when the thread that it created begins to
 * run. */
static uint64_t before_wait(const struct chain *chain, uint32_t thread, uint64_t time)
{
    uint64_t n, unit = chain->timeline->header.unit;
    const struct timeline_wake_up *all = timeline_wake_ups(chain->timeline, thread, &n);
    uint64_t at = partition_point(i, n, all[i].time * unit < time);
    return at < n && all[at].began * unit < time ? all[at].began * unit : time;
}

/* Whether it is known who ended a wait. A thread that had ended before did not: to join one takes a while if
 * others have the CPU. */
static bool has_waker(const struct chain *chain, const struct timeline_wake_up *wake_up)
{
    uint32_t waker = waker_of(chain, wake_up);
    return waker != NOTHING && end_of(chain, waker) >= wake_up->began * (uint64_t)chain->timeline->header.unit;
}

/* The wake-up after which a thread did what it did at `time`; NULL: there is none but its creation. Clocks of threads
 * differ by microseconds: in the middle of a wait, the nearer end of that counts. */
static const struct timeline_wake_up *wake_up_before(const struct chain *chain, uint32_t thread, uint64_t time)
{
    const struct timeline *timeline = chain->timeline;
    uint64_t n, unit = timeline->header.unit;
    const struct timeline_wake_up *all = timeline_wake_ups(timeline, thread, &n);
    uint64_t at = partition_point(i, n, all[i].time * unit < time);
    if (at < n && all[at].began * unit < time && all[at].time * unit - time < time - all[at].began * unit)
        at++;
    while (at > 0 && !has_waker(chain, &all[at - 1]))
        at--;
    return at > 0 && &all[at - 1] != creation_of(chain, thread) ? &all[at - 1] : NULL;
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

/* Makes a piece begin at `from`, if it began later. */
static void begin_earlier(struct chain_piece *piece, uint64_t begin, uint64_t from)
{
    from = from > begin ? from : begin;
    piece->from = from < piece->from ? from : piece->from;
}

/* Where the chain goes on before a piece. */
struct turn {
    uint32_t thread;
    uint32_t waiter;
    uint64_t since; /* the waiter has waited for the thread since then; 0: it is not known */
};

/* Whatever is recorded or lost, a thread is not on the chain before its begin or after its end. At its begin, the chain
 * goes on with its creator. Each thread is passed once, even if a damaged file has threads that create each other. */
static void keep_within_life(const struct chain *chain, struct turn *turn, uint64_t begin, struct chain_piece *piece)
{
    for (uint32_t i = 0; i < chain->timeline->header.n_threads; i++) {
        uint64_t began = begin_of(chain, turn->thread), end = end_of(chain, turn->thread);
        if (end > began)
            begin_earlier(piece, begin, end);
        if (piece->from <= begin || piece->from > began)
            return;
        turn->thread = waker_of(chain, creation_of(chain, turn->thread));
        turn->since = 0;
        begin_earlier(piece, begin, before_wait(chain, turn->thread, piece->from));
    }
}

/* Far more than wake-ups make, and windows of 50 ms in half a day. In a damaged file, pieces can be of 1 ns. */
#define MOST_PIECES (UINT64_C(1) << 20)

/* The time decreases with every step, also in a damaged file. */
chain_pieces longest_chain(const struct timeline *timeline, const uint64_t *ends, uint32_t thread, uint64_t begin,
                           uint64_t end)
{
    const struct chain chain = {timeline, ends};
    chain_pieces pieces = {0};
    uint64_t unit = timeline->header.unit, most = MOST_PIECES + timeline->map.size;
    struct turn turn = {thread, 0, 0};
    while (end > begin && pieces.n < most) {
        const uint32_t at = turn.thread;
        uint64_t since = turn.since, life = begin_of(&chain, at), least = life > begin ? life : begin;
        if (least >= end)
            break;
        struct stretch stretch = stretch_at(timeline, at, end);
        const struct timeline_wake_up *wake_up = wake_up_before(&chain, at, end);
        bool is_let = since > least && since < end && since >= stretch.begin &&
                      (!wake_up || wake_up->time * unit < since) && is_idle_at(timeline, at, since);
        bool is_in_it = !is_let && wake_up && wake_up->time * unit >= stretch.begin;
        uint64_t from = is_let ? since : least;
        if (!is_let && !is_in_it && stretch.begin > least)
            from = stretch.begin;
        from = from < end ? from : end - 1;
        struct chain_piece piece =
            piece_before(at, from, end, stretch.is_known, is_in_it ? wake_up : NULL, unit);
        if (is_let)
            turn = (struct turn){.thread = turn.waiter};
        else if (is_in_it)
            turn = (struct turn){waker_of(&chain, wake_up), at, wake_up->began * unit};
        else
            turn.since = 0;
        keep_within_life(&chain, &turn, begin, &piece);
        vec_push(&pieces, piece);
        end = piece.from;
    }
    if (end > begin)
        vec_push(&pieces, ((struct chain_piece){turn.thread, true, begin, begin, end}));
    reverse(&pieces);
    return pieces;
}
