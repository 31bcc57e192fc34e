/* The code of bodies, which OMPT does not tell: read from libomp's own structures, where these look as
 * expected. Only rows for bodies and their names depend on it. Normal context. */
#ifndef AGENTS_OPENMP_BODY_CODE_H
#define AGENTS_OPENMP_BODY_CODE_H

#include "agents/openmp/ompt.h"

#include <stdbool.h>

/* Tells code of libomp and of agents from that of the program. */
typedef bool is_runtime_code(const void *address);

/* No body is known before. */
void body_code_begin(is_runtime_code *is_runtime);

/* Modules have come or gone: forgets what is known of their code. */
void body_code_forget(void);

/* The body of the region with this data, as a member of its team sees it; NULL: unknown. */
const void *body_code_of_region(const ompt_data_t *parallel);

/* The body of an explicit task, which may be libomp's; NULL: unknown. */
const void *body_code_of_task(const ompt_data_t *task);

#endif
