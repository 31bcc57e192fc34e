/* cct.db: the values of a context in all threads, for those who want one context rather than one
 * thread. A database need not have it: profile.db says the same. */
#ifndef VIEWER_CCT_FILE_H
#define VIEWER_CCT_FILE_H

#include "viewer-tui/db/v4-map.h"

struct cct_file {
    struct v4_map map;
    struct v4_context_infos contexts;
};

/* False when there is none; with the problem noted where it is damaged. */
bool cct_file_open(struct cct_file *file, const char *folder);
void cct_file_close(struct cct_file *file); /* a zeroed one may be closed */

/* Notes the problem of a file that is there and damaged, for those who do not need it yet. */
void cct_file_check(const char *folder);

/* The values of one metric id in the context, of at most `most` profiles: n of them from the result
 * on. NULL and 0 where there are none; also where the context is damaged, with the problem noted.
 */
const struct v4_profile_value *cct_file_values(const struct cct_file *file, uint32_t context,
                                               int metric_id, uint64_t most, size_t *n);

#endif
