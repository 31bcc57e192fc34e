/* Measurement files, arena files beside them, and perf maps in them. */
#include "tests/fuzz/fuzz-target.h"
#include "tests/fuzz/reader-checks.h"

#include "lib/alloc.h"
#include "lib/arena-format.h"
#include "lib/bytes.h"
#include "lib/measurement-builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A chunk whose checksum has this value keeps it; all others get the right one. */
#define WRONG_CHECKSUM 0xffffffffu

static void read_measurement(const char *path)
{
    char *cause = NULL;
    struct measurement *m = measurement_open(path, &cause);
    PROMISE(!m == (cause != NULL));
    free(cause);
    if (m)
        check_measurement(m);
    measurement_free(m);
}

/* Sets the checksums of a file's chunks: random changes would never pass otherwise. */
static void set_checksums(uint8_t *file, size_t size)
{
    for (size_t at = MEASUREMENT_HEADER_SIZE; size - at >= CHUNK_HEADER_SIZE && at < size;) {
        uint8_t *header = file + at;
        uint64_t payload = get_u32(header + 8);
        if (payload > size - at - CHUNK_HEADER_SIZE)
            return;
        uLong crc = crc32(crc32(0, header, 20), header + CHUNK_HEADER_SIZE, (uInt)payload);
        if (get_u32(header + 20) != WRONG_CHECKSUM)
            put_u32(header + 20, (uint32_t)crc);
        at += CHUNK_HEADER_SIZE + payload;
    }
}

static uint8_t *with_checksums(const uint8_t *data, size_t size)
{
    uint8_t *file = mem_alloc(size);
    if (size)
        memcpy(file, data, size);
    set_checksums(file, size);
    return file;
}

static void run_measurement(const uint8_t *data, size_t size)
{
    uint8_t *file = with_checksums(data, size);
    read_measurement(input_file(file, size));
    free(file);
}

/* A node of two bytes becomes 96 bytes of memory, in arrays that double. */
const struct fuzz_target measurement_target = {"measurement", run_measurement, 1 << 18, 400};

/* ---- arenas ---- */

/* The input is a measurement file, followed by an arena file. */
static void run_arenas(const uint8_t *data, size_t size)
{
    const uint8_t *arenas = memmem(data, size, ARENAS_MAGIC, strlen(ARENAS_MAGIC));
    if (!arenas)
        return;
    size_t first = (size_t)(arenas - data);
    uint8_t *file = with_checksums(data, first);
    char path[300];
    input_folder("a" ARENAS_SUFFIX, arenas, size - first);
    snprintf(path, sizeof path, "%s/a" MEASUREMENT_SUFFIX,
             input_folder("a" MEASUREMENT_SUFFIX, file, first));
    free(file);
    read_measurement(path);
}

const struct fuzz_target arenas_target = {"arenas", run_arenas, 1 << 18, 400};

/* ---- perf maps ---- */

/* The input is the map. The thread has nodes in code without module at some addresses. */
static void run_perf_map(const uint8_t *data, size_t size)
{
    struct measurement *m = mem_alloc(sizeof *m);
    struct builder b = {.m = m};
    struct measurement_thread thread = {.index = 0};
    for (uint64_t i = 0; i < 64; i++) {
        struct measurement_node node = {.ip_space = MEASUREMENT_NO_MODULE,
                                        .lip_space = MEASUREMENT_NO_NOTE,
                                        .ip_offset = i < 48 ? 0x1000 + 16 * i : UINT64_MAX >> i};
        vec_push(&thread.nodes, node);
    }
    vec_push(&m->threads, thread);
    vec_reserve(&b.code_map, size);
    if (size)
        memcpy(b.code_map.at, data, size);
    b.code_map.n = size;
    resolve_code_names(&b);
    for (size_t i = 0; i < m->code_names.n; i++) {
        PROMISE(i == 0 || m->code_names.at[i - 1].address < m->code_names.at[i].address);
        look_at_text(m->code_names.at[i].name);
    }
    vec_free(&b.code_map);
    measurement_free(m);
}

/* A name is copied for each address that it names. */
const struct fuzz_target perf_map_target = {"perf-map", run_perf_map, 1 << 16, 80};
