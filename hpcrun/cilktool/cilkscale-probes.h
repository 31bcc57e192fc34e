/* Cilkscale's interface, as in OpenCilk's <cilk/cilkscale.h>: probes that a program places by hand. */
#ifndef HPCRUN_CILKTOOL_CILKSCALE_PROBES_H
#define HPCRUN_CILKTOOL_CILKSCALE_PROBES_H

#include <stdint.h>

/* Work, span and burdened span up to a point of the program, in ns; or their differences. */
typedef struct {
    int64_t work, span, bspan;
} wsp_t;

wsp_t wsp_getworkspan(void);
wsp_t wsp_add(wsp_t left, wsp_t right);
wsp_t wsp_sub(wsp_t left, wsp_t right);

#endif
