/* The names of codes in measurement files, as doc/FORMAT-hpcrun.md has them. Codes that it does not
 * know are NULL. */
#ifndef LIB_MEASUREMENT_WORDS_H
#define LIB_MEASUREMENT_WORDS_H

#include <stdint.h>

const char *fate_name(uint64_t code);   /* section 8: "recorded", "dropped: out of memory" */
const char *source_name(uint64_t code); /* section 7: "perf task-clock" */
const char *origin_name(uint64_t code);
const char *process_state_name(uint64_t state);
const char *thread_kind_name(uint64_t kind);
const char *unmeasured_reason(uint64_t code); /* "statically linked" */

/* The text behind "dropped: " or "partial: " in a fate's name; NULL for other fates. */
const char *fate_drop_reason(uint64_t code);
const char *fate_partial_reason(uint64_t code);

#endif
