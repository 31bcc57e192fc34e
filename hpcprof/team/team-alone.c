/* A team of one. */
#include "hpcprof/team/team.h"

#include <assert.h>

const char team_tool[] = "hpcprof";

void team_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
}

int team_end(int status)
{
    return status;
}

unsigned team_rank(void)
{
    return 0;
}

unsigned team_size(void)
{
    return 1;
}

void team_wait(void)
{
}

void team_or(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

void team_sum(uint64_t *numbers, size_t count)
{
    (void)numbers;
    (void)count;
}

void team_sum_wide(unsigned __int128 *numbers, size_t count)
{
    (void)numbers;
    (void)count;
}

void team_broadcast(struct team_bytes *bytes, unsigned from)
{
    (void)bytes;
    (void)from;
}

void team_reduce(void *data, team_pack *pack, team_merge *merge)
{
    (void)data;
    (void)pack;
    (void)merge;
}

struct team_file *team_file_open(const char *path)
{
    (void)path;
    assert(!"a team of one writes its files itself");
    return NULL;
}

bool team_file_write(struct team_file *file, uint64_t offset, const void *data, size_t size)
{
    (void)file;
    (void)offset;
    (void)data;
    (void)size;
    return false;
}

bool team_file_sync(struct team_file *file)
{
    (void)file;
    return false;
}

bool team_file_close(struct team_file *file)
{
    (void)file;
    return false;
}
