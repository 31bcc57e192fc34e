/* Sections of our code that the program's handlers must not interrupt: every signal is blocked, but
 * SIGSEGV and SIGBUS are not, unless the program has blocked them. Another process may cut the arena
 * file at any time, so a store may fault: hooks/signals.c then repairs the page. A fault signal that
 * somebody sends waits until the section has ended. Sections may be nested. */
#ifndef HPCRUN_BASE_OWN_SECTION_H
#define HPCRUN_BASE_OWN_SECTION_H

#include "hpcrun/base/sys.h"

/* Number of sections that the thread is in. Static TLS. */
extern __thread unsigned own_sections __attribute__((tls_model("initial-exec")));

/* Normal context. Returns the mask to restore. */
static inline uint64_t own_section_begin(void)
{
    own_sections++;
    __asm__ volatile("" ::: "memory");
    return sys_mask(SIG_BLOCK, ~(sys_mask_bit(SIGSEGV) | sys_mask_bit(SIGBUS)));
}

static inline void own_section_end(uint64_t mask)
{
    __asm__ volatile("" ::: "memory");
    own_sections--;
    sys_mask(SIG_SETMASK, mask);
}

/* Any context. Whether the thread is in one. */
static inline bool own_section_is_active(void)
{
    return own_sections != 0;
}

#endif
