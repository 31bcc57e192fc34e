/* The profiles of profile.db: number 0 is the summary, the others are threads. */
#ifndef VIEWER_PROFILES_H
#define VIEWER_PROFILES_H

#include "viewer-tui/db/database.h"

/* How many there are; 0, with the problem noted, when their list is damaged. */
uint32_t profiles_n(const struct database *db);

/* Describes the profile `number` < profiles_n. */
struct v4_profile profiles_at(const struct database *db, uint32_t number);

/* Whether it is a sum over others. */
static inline bool profile_is_summary(const struct v4_profile *profile)
{
    return profile->flags & V4_IS_SUMMARY;
}

#endif
