#include "hpcprof/metrics/statistics.h"

#include <string.h>

const char *const statistic_names[STATISTICS] = {
    [STATISTIC_SUM] = "sum", [STATISTIC_MEAN] = "mean",     [STATISTIC_MIN] = "min",
    [STATISTIC_MAX] = "max", [STATISTIC_STDDEV] = "stddev",
};

bool statistics_read(statistic_set *set, const char *list)
{
    *set |= 1u << STATISTIC_SUM;
    for (;;) {
        size_t length = strcspn(list, ",");
        unsigned found = 0;
        for (int s = 0; s < STATISTICS; s++)
            if (strlen(statistic_names[s]) == length &&
                strncmp(list, statistic_names[s], length) == 0)
                found = 1u << s;
        if (!found)
            return false;
        *set |= found;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

size_t statistics_stored(statistic_set set, enum stored_statistic stored[STORED_STATISTICS])
{
    static const enum statistic needed_by[STORED_STATISTICS] = {
        [STORED_SQUARES] = STATISTIC_STDDEV,
        [STORED_MIN] = STATISTIC_MIN,
        [STORED_MAX] = STATISTIC_MAX,
    };
    size_t n = 0;
    for (int s = 0; s < STORED_STATISTICS; s++)
        if (statistics_have(set, needed_by[s]))
            stored[n++] = (enum stored_statistic)s;
    return n;
}
