/* Test modes: -DMINICILK_MODES=... for the runtime and for the program alike. Never in a product.
 * minicilk_init refuses a program that was compiled with other modes than the library. */
#ifndef MINICILK_MODES_H
#define MINICILK_MODES_H

#define MINICILK_MALLOC        1u /* every frame is malloc'ed and freed: AddressSanitizer sees it */
#define MINICILK_CHAOS         2u /* random yields in push, pop, steal and the scheduler's steps */
#define MINICILK_MAGICAL       4u /* frames carry a magic number and their depth; both are checked */
#define MINICILK_NO_MEMBARRIER 8u  /* idle workers sleep as on a kernel without membarrier */
#define MINICILK_EAGER_JOIN    16u /* wrong on purpose: joins before the base is cleared */

/* With MINICILK_CHAOS every yield has a probability of 1 / MINICILK_CHAOS_ODDS. */
#ifndef MINICILK_CHAOS_ODDS
#define MINICILK_CHAOS_ODDS 128
#endif

#ifndef MINICILK_MODES
#define MINICILK_MODES 0u
#endif

#define MINICILK_IN_MODE(mode) ((MINICILK_MODES & (mode)) != 0)

#endif
