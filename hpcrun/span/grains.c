#include "hpcrun/span/grains.h"

#include "hpcrun/span/strand-clock.h"

#include <emmintrin.h>
#include <stddef.h>

#define GRAIN      ((uint64_t)GRAIN_NS << STRAND_SHIFT)
#define LARGE      (8 * GRAIN)
#define MOST_LARGE 16u /* large ones may have this part of the work */
#define PROBES     8u
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* A class that was not used in as many look-ups is as good as free. */
#define STALE 4096u

/* The excess is computed anew after as many grains. */
#define GRAINS_PER_EXCESS 1024u

/* Fewer trials or grains of a class say nothing of its variance. */
#define LEAST_GROUP 8

/* ---- classes ---- */

static uint64_t key_of(uint32_t parent, uint64_t code, uint32_t depth)
{
    uint64_t key = (((uint64_t)parent << 32 | depth) * MULTIPLIER ^ code) * MULTIPLIER;
    return (key ^ key >> 32) | 1;
}

/* If classes that an earlier phase of the program used often stayed, the classes of a later phase would
 * share the few places left, and forget each other before they are known. */
static uint64_t uses_of(const struct grain_classes *classes, const struct grain_class *class)
{
    return classes->lookups - class->last_lookup < STALE ? class->count : 0;
}

struct grain_class *grain_class_of(struct grain_classes *classes, uint32_t parent, uint64_t code,
                                   uint32_t depth)
{
    uint64_t key = key_of(parent, code, depth);
    struct grain_class *rarest = NULL, *found = NULL;
    for (unsigned i = 0; i < PROBES && !found; i++) {
        struct grain_class *class = &classes->at[((key >> 8) + i) % GRAIN_CLASSES];
        if (class->key == key)
            found = class;
        if (!rarest || uses_of(classes, class) < uses_of(classes, rarest))
            rarest = class;
    }
    if (!found)
        *(found = rarest) = (struct grain_class){.key = key};
    found->last_lookup = ++classes->lookups;
    return found;
}

/* splitmix64. */
static uint64_t next_random(struct grain_classes *classes)
{
    uint64_t z = classes->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 27;
}

enum grain_choice grain_choose(struct grain_classes *classes, const struct grain_class *class)
{
    if (class->observed.count < OBSERVED_FIRST || class->is_mixed ||
        class->observed.spawns == 0)
        return GRAIN_NO;
    if (class->work > class->count * GRAIN || class->large > class->work / MOST_LARGE)
        return GRAIN_NO;
    return next_random(classes) % OBSERVED_ONE_IN > 0 ? GRAIN_YES : GRAIN_TRIAL;
}

static void add_to_group(struct grain_group *group, uint64_t work, uint64_t strands)
{
    group->count++;
    group->work += (double)work;
    group->squares += (double)work * (double)work;
    group->strands += (double)strands;
}

static void add_work(struct grain_class *class, uint64_t work)
{
    class->count++;
    class->work += work;
    class->large += work > LARGE ? work : 0;
}

/* The time without what measuring has added to it. */
static double pure_time(const struct grain_classes *classes, uint64_t time, uint64_t strands)
{
    double pure = (double)time - classes->excess * (double)strands;
    return pure > 0 ? pure : 0;
}

void grain_observed(const struct grain_classes *classes, struct grain_class *class,
                    const struct grain_lengths *lengths, bool is_mixed, bool is_trial)
{
    double work = pure_time(classes, lengths->work, lengths->strands);
    add_work(class, lengths->work);
    class->is_mixed |= is_mixed;
    if (is_trial)
        add_to_group(&class->trials, lengths->work, lengths->strands);
    class->observed.count++;
    class->observed.spawns += (double)lengths->spawns;
    class->observed.work += work;
    class->observed.squares += work * work;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        double path =
            pure_time(classes, lengths->path[kind].length, lengths->path[kind].strands);
        class->observed.path[kind] += path;
        class->observed.products[kind] += path * work;
    }
}

void grain_ended(struct grain_classes *classes, struct grain_class *class, uint64_t work)
{
    struct grain_trials trials = {0};
    add_work(class, work);
    add_to_group(&class->grains, work, 1);
    if (classes->ended++ % GRAINS_PER_EXCESS > 0)
        return;
    grain_trials_add(&trials, classes);
    classes->excess = grain_excess(&trials).mean;
}

/* The line through the observed activations, at this work. */
static double line_at(const struct grain_class *class, double work, double sum, double products)
{
    double n = class->observed.count, mean = class->observed.work / n;
    double squares = class->observed.squares / n - mean * mean;
    double slope = squares > 0 ? (products / n - mean * sum / n) / squares : 0;
    double value = sum / n + slope * (work - mean);
    return value > 0 ? value : 0;
}

/* A path is at most as long as the work, but for burdens. What is measured of a grain is one strand. */
struct grain_lengths grain_lengths_of(const struct grain_classes *classes,
                                      const struct grain_class *class, uint64_t work, bool is_part)
{
    double pure = pure_time(classes, work, 1);
    double share = class->observed.work > 0 ? pure / class->observed.work : 0;
    struct grain_lengths lengths = {.work = work, .strands = 1};
    lengths.spawns = (uint64_t)(share * class->observed.spawns + 0.5);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        double path = class->observed.path[kind];
        path = is_part ? share * path : line_at(class, pure, path, class->observed.products[kind]);
        bool is_all = kind == PLAIN && path > pure;
        lengths.path[kind].length = (uint64_t)(is_all ? pure : path);
    }
    return lengths;
}

/* ---- trials ---- */

static double mean_of(const struct grain_group *group)
{
    return group->work / group->count;
}

/* Of the mean. */
static double variance_of(const struct grain_group *group)
{
    double mean = mean_of(group);
    return (group->squares / group->count - mean * mean) / (group->count - 1);
}

static void add_class(struct grain_trials *sum, const struct grain_group *trials,
                      const struct grain_group *grains)
{
    if (trials->count < LEAST_GROUP || grains->count < LEAST_GROUP)
        return;
    double strands = trials->strands / trials->count - 1;
    double excess = (mean_of(trials) - mean_of(grains)) / strands;
    double variance = (variance_of(trials) + variance_of(grains)) / (strands * strands);
    if (!(strands > 0 && variance > 0))
        return;
    sum->classes++;
    sum->weight += 1 / variance;
    sum->sum += excess / variance;
    sum->squares += excess * excess / variance;
}

void grain_trials_add(struct grain_trials *trials, const struct grain_classes *classes)
{
    for (unsigned i = 0; i < GRAIN_CLASSES; i++)
        add_class(trials, &classes->at[i].trials, &classes->at[i].grains);
}

/* The C library's sqrt is in a library of its own. */
static double square_root(double x)
{
    return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}

/* Without trials: 12 to 28 ns were found in programs with short strands, where a strand was
 * uncertain by 15 ns. So the mean is one uncertainty, give or take another one: as if one more class had
 * said so. Classes that differ by more than chance make the mean less certain. */
struct strand_excess grain_excess(const struct grain_trials *trials)
{
    double least = (double)strand_uncertainty();
    double known = least > 0 ? 4 / (least * least) : 1; /* 1 / variance */
    double weight = trials->weight + known, sum = trials->sum + least * known;
    double squares = trials->squares + least * least * known;
    double mean = sum / weight;
    double spread = trials->classes > 0 ? (squares - mean * sum) / trials->classes : 1;
    double of_mean = (spread > 1 ? spread : 1) / weight;
    return (struct strand_excess){mean, least + 2 * square_root(of_mean)};
}
