#include "viewer-tui/tree/sieve.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/order.h"

#include <stdlib.h>

#define FATE_UNKNOWN 0xff

/* Rows that may be elided for one list; more are not looked behind. */
#define MOST_ELIDED 100000

void sieve_open(struct sieve *sieve, struct view *view, const struct filters *filters)
{
    *sieve = (struct sieve){.view = view, .filters = filters};
}

void sieve_close(struct sieve *sieve)
{
    vec_free(&sieve->decisions);
    for (size_t i = 0; i < MOST_LEADS; i++)
        leads_free(&sieve->leads[i]);
}

static bool needs_leads(const struct sieve *sieve)
{
    return filters_only(sieve->filters) && !sieve->view->class->shows_callers;
}

/* Puts the leads of this index first. */
static void bring_to_front(struct sieve *sieve, size_t index)
{
    struct leads leads = sieve->leads[index];
    for (; index > 0; index--)
        sieve->leads[index] = sieve->leads[index - 1];
    sieve->leads[0] = leads;
}

static enum outcome find_leads(struct sieve *sieve)
{
    for (size_t i = 0; i < MOST_LEADS; i++)
        if (leads_are_for(&sieve->leads[i], sieve->filters, sieve->view)) {
            bring_to_front(sieve, i);
            return DONE;
        }
    leads_free(&sieve->leads[MOST_LEADS - 1]);
    bring_to_front(sieve, MOST_LEADS - 1);
    return leads_make(&sieve->leads[0], sieve->filters, sieve->view);
}

bool sieve_is_prepared(const struct sieve *sieve)
{
    return sieve->state == filters_number(sieve->filters) &&
           filters_allow_sorting(sieve->filters, sieve->sorting, sieve->view->sorting);
}

enum outcome sieve_prepare(struct sieve *sieve)
{
    sieve->state = filters_number(sieve->filters);
    sieve->sorting = sieve->view->sorting;
    sieve->decisions.n = 0;
    sieve->was_cut = false;
    return needs_leads(sieve) ? find_leads(sieve) : DONE;
}

uint64_t sieve_n_matches(const struct sieve *sieve)
{
    return needs_leads(sieve) ? sieve->leads[0].n_matches : 0;
}

static struct decision *known_decision(struct sieve *sieve, uint32_t row)
{
    bool is_known = row < sieve->decisions.n && sieve->decisions.at[row].fate != FATE_UNKNOWN;
    return is_known ? &sieve->decisions.at[row] : NULL;
}

static void remember(struct sieve *sieve, uint32_t row, struct decision decision)
{
    while (sieve->decisions.n <= row)
        vec_push(&sieve->decisions, (struct decision){FATE_UNKNOWN, NOTHING});
    sieve->decisions.at[row] = decision;
}

/* What is below a first-level row of callers are its callers: they cannot take its place. */
static enum fate fate_among_callers(struct sieve *sieve, uint32_t row, enum fate fate)
{
    struct filter *only = filters_only(sieve->filters);
    if (view_row(sieve->view, row)->depth != 1)
        return fate;
    bool is_left_out = only && !pattern_matches(only->pattern, sieve->view, row);
    return is_left_out || fate == FATE_ELIDED ? FATE_HIDDEN : fate;
}

/* With FILTER_ONLY: nothing is to be shown below rows that lead nowhere. */
static enum fate fate_by_match(struct sieve *sieve, uint32_t row, enum fate fate, bool leads_on)
{
    if (leads_on || fate == FATE_HIDDEN)
        return fate;
    bool matches = pattern_matches(filters_only(sieve->filters)->pattern, sieve->view, row);
    return matches && fate != FATE_ELIDED ? FATE_FOLDED : FATE_HIDDEN;
}

/* `above` is the decision on the row above. */
static struct decision judge(struct sieve *sieve, uint32_t row, struct decision above)
{
    enum fate fate = filters_fate(sieve->filters, sieve->view, row);
    uint32_t node = NOTHING;
    if (sieve->view->class->shows_callers) {
        fate = fate_among_callers(sieve, row, fate);
    } else if (filters_only(sieve->filters)) {
        node = leads_node(&sieve->leads[0], sieve->view, above.node, row);
        fate = fate_by_match(sieve, row, fate, node != NOTHING);
    }
    return (struct decision){(uint8_t)fate, node};
}

/* Decisions are passed from the nearest row above that has one. */
static struct decision decision_on(struct sieve *sieve, uint32_t row)
{
    struct decision decision = {FATE_SHOWN, 0};
    row_list unknown = {0};
    for (; row && !known_decision(sieve, row); row = view_row(sieve->view, row)->parent)
        vec_push(&unknown, row);
    if (row)
        decision = *known_decision(sieve, row);
    while (unknown.n) {
        row = unknown.at[--unknown.n];
        decision = judge(sieve, row, decision);
        remember(sieve, row, decision);
    }
    vec_free(&unknown);
    return decision;
}

static bool is_flattened(const struct sieve *sieve, uint32_t number)
{
    const struct row *row = view_row(sieve->view, number);
    return row->depth <= sieve->flat_depth && !row->is_leaf;
}

enum fate sieve_fate(struct sieve *sieve, uint32_t row)
{
    if (row == 0)
        return FATE_SHOWN;
    enum fate fate = filters_n(sieve->filters) ? decision_on(sieve, row).fate : FATE_SHOWN;
    return fate == FATE_SHOWN && is_flattened(sieve, row) ? FATE_ELIDED : fate;
}

bool sieve_can_open(struct sieve *sieve, uint32_t number)
{
    const struct row *row = view_row(sieve->view, number);
    if (row->is_leaf || sieve_fate(sieve, number) == FATE_FOLDED)
        return false;
    if (!row->is_expanded)
        return true;
    uint32_t first = row->first_child, n = row->n_children, i = 0;
    while (i < n && sieve_fate(sieve, first + i) == FATE_HIDDEN)
        i++;
    return i < n;
}

/* Rows on their way into a list. */
struct listing {
    struct sieve *sieve;
    row_list *into, *expanded;
    row_list elided; /* that have not been looked behind */
    size_t n_elided;
};

static void expand(struct listing *listing, uint32_t row)
{
    struct view *view = listing->sieve->view;
    bool was_expanded = view_row(view, row)->is_expanded;
    view_expand(view, row);
    if (listing->expanded && !was_expanded && view_row(view, row)->is_expanded)
        vec_push(listing->expanded, row);
}

/* What is elided only because it is on a flat level stays where there is nothing behind it. */
static void elide(struct listing *listing, uint32_t row)
{
    expand(listing, row);
    listing->n_elided++;
    if (view_row(listing->sieve->view, row)->n_children > 0)
        vec_push(&listing->elided, row);
    else if (!filters_n(listing->sieve->filters) ||
             decision_on(listing->sieve, row).fate == FATE_SHOWN)
        vec_push(listing->into, row);
}

static void list_below(struct listing *listing, uint32_t row)
{
    struct sieve *sieve = listing->sieve;
    for (uint32_t i = 0; i < view_row(sieve->view, row)->n_children; i++) {
        uint32_t child = view_child(sieve->view, row, i);
        enum fate fate = sieve_fate(sieve, child);
        if (fate == FATE_ELIDED)
            elide(listing, child);
        else if (fate != FATE_HIDDEN)
            vec_push(listing->into, child);
    }
}

static void list_behind_elided(struct listing *listing)
{
    struct sieve *sieve = listing->sieve;
    progress_begin("looking behind what is left out", 0);
    bool goes_on = true;
    while (listing->elided.n && goes_on) {
        list_below(listing, listing->elided.at[--listing->elided.n]);
        goes_on = progress_at(listing->n_elided) && listing->n_elided < MOST_ELIDED;
    }
    progress_end();
    sieve->was_cut |= listing->elided.n > 0;
}

void sieve_children(struct sieve *sieve, uint32_t row, row_list *children, row_list *expanded)
{
    struct listing listing = {.sieve = sieve, .into = children, .expanded = expanded};
    size_t first = children->n;
    if (sieve_fate(sieve, row) == FATE_FOLDED)
        return;
    expand(&listing, row);
    list_below(&listing, row);
    if (listing.n_elided) {
        list_behind_elided(&listing);
        view_sort_rows(sieve->view, children->at + first, children->n - first);
    }
    vec_free(&listing.elided);
}

void sieve_release(struct sieve *sieve, row_list *expanded, size_t keep)
{
    while (expanded->n > keep)
        view_release(sieve->view, expanded->at[--expanded->n]);
    if (sieve->decisions.n > sieve->view->rows.n)
        sieve->decisions.n = sieve->view->rows.n;
}

uint32_t sieve_parent(struct sieve *sieve, uint32_t row, uint32_t root)
{
    while (row != root) {
        row = view_row(sieve->view, row)->parent;
        if (row == 0 || sieve_fate(sieve, row) != FATE_ELIDED)
            break;
    }
    return row;
}
