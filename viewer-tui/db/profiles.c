#include "viewer-tui/db/profiles.h"

#include "viewer-tui/base/task.h"

#include <stddef.h>

/* False, with the problem noted, when the list does not lie in the file. */
static bool read_header(const struct database *db, struct v4_profiles *header)
{
    const struct v4_map *map = &db->profile;
    size_t least = offsetof(struct v4_profile, flags);
    if (v4_read(map, map->sections[V4_PROFILE_INFOS].at, header, sizeof *header) &&
        header->profile_size >= least &&
        v4_array(map, header->profiles, header->n_profiles, header->profile_size, 8))
        return true;
    problem_found(map->path, "corrupt: the list of profiles");
    return false;
}

uint32_t profiles_n(const struct database *db)
{
    struct v4_profiles header;
    return read_header(db, &header) ? header.n_profiles : 0;
}

struct v4_profile profiles_at(const struct database *db, uint32_t number)
{
    struct v4_profile profile = {0};
    struct v4_profiles header;
    if (!read_header(db, &header))
        return profile;
    uint64_t at = header.profiles + number * (uint64_t)header.profile_size;
    size_t size = header.profile_size < sizeof profile ? header.profile_size : sizeof profile;
    v4_read(&db->profile, at, &profile, size);
    return profile;
}
