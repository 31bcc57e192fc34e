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

static void reverse(chain_pieces *pieces)
{
    for (size_t i = 0; i < pieces->n / 2; i++) {
        struct chain_piece piece = pieces->at[i];
        pieces->at[i] = pieces->at[pieces->n - 1 - i];
        pieces->at[pieces->n - 1 - i] = piece;
    }
}

/* The time decreases with every step, also in a damaged file. */
chain_pieces longest_chain(const struct timeline *timeline, uint32_t thread, uint64_t begin, uint64_t end)
{
    chain_pieces pieces = {0};
    uint64_t unit = timeline->header.unit;
    while (end > begin) {
        const struct timeline_wake_up *wake_up = wake_up_before(timeline, thread, end);
        uint64_t runs = wake_up ? wake_up->time * unit : begin, from = wake_up ? wake_up->released * unit : begin;
        runs = runs < end ? runs : end;
        from = from < runs ? from : runs;
        from = from < end ? from : end - 1;
        from = from > begin ? from : begin;
        runs = runs > from ? runs : from;
        vec_push(&pieces, ((struct chain_piece){thread, from, runs, end}));
        if (!wake_up)
            break;
        thread = (uint32_t)(timeline_thread(timeline, wake_up->profile) - timeline->threads);
        end = from;
    }
    reverse(&pieces);
    return pieces;
}
