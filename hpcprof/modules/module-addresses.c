#include "hpcprof/modules/module-addresses.h"

#include "lib/binary-search.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
    return compare_unsigned(*(const uint64_t *)a, *(const uint64_t *)b);
}

void address_set_add(struct address_set *set, const struct address_set *added)
{
    vec_reserve(&set->all, added->all.n);
    if (added->all.n)
        memcpy(set->all.at + set->all.n, added->all.at, added->all.n * sizeof *set->all.at);
    set->all.n += added->all.n;
}

void address_set_finish(struct address_set *set)
{
    size_t n = 0;
    vec_sort(&set->all, by_value);
    for (size_t i = 0; i < set->all.n; i++)
        if (n == 0 || set->all.at[n - 1] != set->all.at[i])
            set->all.at[n++] = set->all.at[i];
    set->all.n = n;
}

int address_set_file(const struct address_set *set)
{
    int fd = memfd_create("addresses", MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(dup(fd), "w");
    for (size_t i = 0; file && i < set->all.n; i++)
        fprintf(file, "%" PRIx64 "\n", set->all.at[i]);
    bool is_written = file && !ferror(file);
    is_written = file && fclose(file) == 0 && is_written;
    if (is_written && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void module_addresses_free(struct module_addresses *addresses)
{
    for (size_t i = 0; i < addresses->n; i++)
        vec_free(&addresses->of_module[i].all);
    free(addresses->of_module);
    *addresses = (struct module_addresses){0};
}
