/* The values of a thread: those of profile.db, or the sums of its records in the piece of time to which the database is
 * restricted. */
#ifndef VIEWER_THREAD_PROFILE_H
#define VIEWER_THREAD_PROFILE_H

#include "viewer-tui/db/database.h"

/* False if the number is that of a summary, or, with the problem noted, if its values are damaged. They are valid until
 * the database is restricted otherwise. */
bool thread_profile(const struct database *db, uint32_t number, struct values *values);

#endif
