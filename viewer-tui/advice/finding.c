#include "viewer-tui/advice/finding.h"

#include "lib/number.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             const struct text *text)
{
    struct finding new = {.kind = kind,
                          .order = (int)kind,
                          .procedure = NOTHING,
                          .file = NOTHING,
                          .text = mem_strdup(text_string(text))};
    vec_push(&findings->list, new);
    return &findings->list.at[findings->list.n - 1];
}

void finding_set_text(struct finding *finding, const struct text *text)
{
    free(finding->text);
    finding->text = mem_strdup(text_string(text));
}

bool findings_have(const struct findings *findings, enum finding_kind kind)
{
    for (size_t i = 0; i < findings->list.n; i++)
        if (findings->list.at[i].kind == kind)
            return true;
    return false;
}

void finding_add_detail(struct finding *finding, const struct text *text)
{
    vec_push(&finding->details, mem_strdup(text_string(text)));
}

static int compare(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    bool a_is_first = a->order == FINDING_BEFORE_ALL, b_is_first = b->order == FINDING_BEFORE_ALL;
    if (a_is_first != b_is_first)
        return a_is_first ? -1 : 1;
    bool a_gains = a->gain_state == GAIN_AT_MOST, b_gains = b->gain_state == GAIN_AT_MOST;
    if (a_gains != b_gains)
        return a_gains ? -1 : 1;
    if (a_gains && a->gain.low != b->gain.low)
        return a->gain.low > b->gain.low ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

void findings_sort(struct findings *findings)
{
    if (findings->list.n)
        qsort(findings->list.at, findings->list.n, sizeof *findings->list.at, compare);
}

void findings_free(struct findings *findings)
{
    for (size_t i = 0; i < findings->list.n; i++) {
        struct finding *finding = &findings->list.at[i];
        for (size_t d = 0; d < finding->details.n; d++)
            free(finding->details.at[d]);
        vec_free(&finding->details);
        free(finding->text);
    }
    vec_free(&findings->list);
}

const char *finding_kind_name(enum finding_kind kind)
{
    assert(kind < FINDING_KINDS);
    static const char *const names[FINDING_KINDS] = {
        [FINDING_PARALLELIZATION] = "parallelization",
        [FINDING_PARALLELISM] = "parallelism",
        [FINDING_SPAN] = "span",
        [FINDING_IMBALANCE] = "imbalance",
        [FINDING_ONE_THREAD] = "one thread",
        [FINDING_LOCK] = "lock",
        [FINDING_BLOCKED] = "blocked",
        [FINDING_NOT_OPTIMIZED] = "not optimized",
        [FINDING_SYSTEM_CALLS] = "system calls",
        [FINDING_MEMORY_CALLS] = "memory calls",
        [FINDING_NO_NAMES] = "no names",
        [FINDING_NO_LINES] = "no lines",
        [FINDING_TOO_MANY_THREADS] = "too many threads",
        [FINDING_NO_CPU] = "no cpu",
        [FINDING_WAITING] = "waiting",
        [FINDING_HOT_PLACE] = "hot place",
    };
    return names[kind];
}

/* ---- Gains ---- */

/* Larger factors are printed as this bound: they are too uncertain. */
#define MOST_GAIN 100

static double factor_without(double share)
{
    return share < 1 ? 1 / (1 - share) : INFINITY;
}

struct gain gain_without(const struct share *share)
{
    return (struct gain){.factor = factor_without(share->value),
                         .low = factor_without(share->low),
                         .high = factor_without(share->high)};
}

static void add_factor(double factor, struct text *out)
{
    if (factor > MOST_GAIN)
        text_printf(out, "more than %dx", MOST_GAIN);
    else
        text_printf(out, "%.2fx", factor);
}

/* Whether two factors are printed alike. */
static bool are_alike(double a, double b)
{
    return fabs(a - b) < 0.005;
}

void gain_describe(const struct gain *gain, struct text *out)
{
    add_factor(gain->factor, out);
    text_add(out, " faster");
    if (are_alike(gain->low, gain->factor) && are_alike(gain->factor, gain->high))
        return;
    text_add(out, " (");
    add_factor(gain->low, out);
    text_add(out, " to ");
    add_factor(gain->high, out);
    text_add(out, ")");
}

static void add_percent(double share, struct text *out)
{
    char percent[NUMBER_SIZE];
    number_percent(share, 1, percent);
    text_printf(out, "%s%%", percent);
}

void share_describe(const struct share *share, const char *more, struct text *out)
{
    add_percent(share->value, out);
    text_add(out, " (");
    add_percent(share->low, out);
    text_add(out, " to ");
    add_percent(share->high, out);
    text_printf(out, "%s%s)", *more ? "; " : "", more);
}
