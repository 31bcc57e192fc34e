#include "hpcrun/cilktool/cilkscale-probes.h"

#include "hpcrun/base/hook.h"
#include "hpcrun/cilktool/tool-engine.h"
#include "hpcrun/span/strand-clock.h"

#include <stdatomic.h>
#include <stdio.h>

static void complain(const char *what)
{
    static _Atomic bool has_complained; /* tasks may come here millions of times */
    if (!atomic_exchange(&has_complained, true))
        fprintf(stderr, "libhpctoolkit-cilktool: %s\n", what);
}

/* Zeros, and a line on standard error, if nothing was measured. */
HOOK wsp_t wsp_getworkspan(void)
{
    const struct frame_events *events = tool_engine();
    struct span_totals totals = {0};
    if (!events)
        complain("wsp_getworkspan: memory ran out; all values are 0");
    else if (!events->now(&totals))
        complain(
            "wsp_getworkspan: this thread executes nothing that is measured (a thread that Cilk did not "
            "start, or the child of a fork); its values are 0");
    span_totals_correct(&totals);
    return (wsp_t){.work = (int64_t)(totals.work.time >> STRAND_SHIFT),
                   .span = (int64_t)(totals.span.time >> STRAND_SHIFT),
                   .bspan = (int64_t)(totals.burdened_span.time >> STRAND_SHIFT)};
}

HOOK wsp_t wsp_add(wsp_t left, wsp_t right)
{
    return (wsp_t){left.work + right.work, left.span + right.span, left.bspan + right.bspan};
}

HOOK wsp_t wsp_sub(wsp_t left, wsp_t right)
{
    return (wsp_t){left.work - right.work, left.span - right.span, left.bspan - right.bspan};
}

/* ---- operators of C++: <cilk/cilkscale.h> declares them outside of extern "C" ---- */

/* operator+=(wsp_t &, const wsp_t &) and so on, as g++ and clang name them. */
wsp_t *operator_add(wsp_t *left, const wsp_t *right) __asm__("_ZpLR5wsp_tRKS_");
wsp_t *operator_subtract(wsp_t *left, const wsp_t *right) __asm__("_ZmIR5wsp_tRKS_");
void *operator_print(void *stream, const wsp_t *values) __asm__("_ZlsRSoRK5wsp_t");
void *operator_print_to_file(void *stream, const wsp_t *values) __asm__(
    "_ZlsRSt14basic_ofstreamIcSt11char_traitsIcEERK5wsp_t");

/* std::ostream::write: a program that has a stream has this, too. */
void *stream_write(void *stream, const char *text, long size) __asm__("_ZNSo5writeEPKcl")
    __attribute__((weak, visibility("default")));

HOOK wsp_t *operator_add(wsp_t *left, const wsp_t *right)
{
    *left = wsp_add(*left, *right);
    return left;
}

HOOK wsp_t *operator_subtract(wsp_t *left, const wsp_t *right)
{
    *left = wsp_sub(*left, *right);
    return left;
}

/* Work, span, parallelism, burdened span, burdened parallelism. */
HOOK void *operator_print(void *stream, const wsp_t *values)
{
    char text[160];
    double work = (double)values->work * 1e-9, span = (double)values->span * 1e-9,
           burdened = (double)values->bspan * 1e-9;
    int size = snprintf(text, sizeof text, "%g, %g, %g, %g, %g", work, span, work / span, burdened,
                        work / burdened);
    if (stream_write)
        stream_write(stream, text, size);
    return stream;
}

/* A std::ofstream begins with its std::ostream. */
HOOK void *operator_print_to_file(void *stream, const wsp_t *values)
{
    return operator_print(stream, values);
}
