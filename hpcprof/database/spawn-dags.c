#include "hpcprof/base/output-file.h"
#include "hpcprof/database/database-files.h"

#include "lib/bytes.h"
#include "lib/database-format.h"

static bool write_dag(FILE *out, const struct measurement *m)
{
    uint8_t size[8];
    put_u64(size, m->dag.n);
    return fwrite(size, sizeof size, 1, out) == 1 && fwrite(m->dag.at, m->dag.n, 1, out) == 1;
}

void spawn_dags_write(const char *path, const struct measurements *measurements)
{
    FILE *out = NULL;
    bool is_written = true;
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        if (m->dag.n == 0)
            continue;
        if (!out) {
            out = output_stream(path);
            is_written = fputs(DATABASE_DAGS_MAGIC, out) >= 0;
        }
        is_written &= write_dag(out, m);
    }
    if (out)
        output_stream_close(out, path, is_written);
}
