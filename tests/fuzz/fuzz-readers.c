/* Damages an input of hpcprof in many ways, and reads each with its reader, in one process:
 *     fuzz-readers measurement|arenas|structure FILE FIRST_SEED COUNT
 * With `arenas` the damaged arena files overwrite FILE, and its measurement file is read.
 * Build it with sanitizers. All results of a reader are examined. A crash, a hang, a violated
 * contract or excessive use of memory ends it with a line that names the seed. */
#include "tests/fuzz/promise.h"
#include "tests/fuzz/reader-checks.h"

#include "lib/arena-format.h"
#include "lib/bytes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <zlib.h>

#define SECONDS_EACH 20 /* of CPU time */

static volatile unsigned long seed_at_work;

_Noreturn void check_failed(const char *what)
{
    char line[160];
    int length = snprintf(line, sizeof line, "seed %lu: %s\n", seed_at_work, what);
    ssize_t ignored = write(STDOUT_FILENO, line, (size_t)length);
    (void)ignored;
    _exit(1);
}

static void on_end_of_time(int signal)
{
    (void)signal;
    check_failed("no end");
}

/* ---- random numbers ---- */

static uint64_t random_state;

/* xorshift64* (Vigna): the same on every machine. */
static uint64_t next_random(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du;
}

static size_t below(size_t limit)
{
    return limit ? next_random() % limit : 0;
}

/* ---- bytes ---- */

struct bytes {
    uint8_t *at;
    size_t n, cap;
};

static void append(struct bytes *to, const void *from, size_t size)
{
    vec_reserve(to, size);
    if (size)
        memcpy(to->at + to->n, from, size);
    to->n += size;
}

static struct bytes read_file(const char *path)
{
    struct bytes bytes = {0};
    uint8_t buffer[1 << 14];
    FILE *file = fopen(path, "rbe");
    if (!file) {
        perror(path);
        exit(2);
    }
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, file)) > 0;)
        append(&bytes, buffer, size);
    fclose(file);
    return bytes;
}

/* A byte that is likely to break a reader, or a random one. */
static uint8_t interesting(void)
{
    static const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff};
    return next_random() % 2 ? values[below(sizeof values)] : (uint8_t)next_random();
}

/* Changes, repeats, inserts or removes a few bytes. */
static void damage_bytes(struct bytes *bytes)
{
    for (size_t left = 1 + below(4); left > 0 && bytes->n; left--) {
        size_t at = below(bytes->n), size = 1 + below(bytes->n - at < 12 ? bytes->n - at : 12);
        switch (below(4)) {
        case 0: bytes->at[at] ^= (uint8_t)(1 << below(8)); break;
        case 1:
            for (size_t i = 0; i < size; i++)
                bytes->at[at + i] = interesting();
            break;
        case 2:
            vec_reserve(bytes, size);
            memmove(bytes->at + at + size, bytes->at + at, bytes->n - at);
            bytes->n += size;
            break;
        default:
            memmove(bytes->at + at, bytes->at + at + size, bytes->n - at - size);
            bytes->n -= size;
        }
    }
}

/* ---- measurement files ---- */

/* Adds a chunk, with a damaged payload if `damaged`. Size and checksum in its header are right. */
static void append_chunk(struct bytes *to, const uint8_t *chunk, bool damaged)
{
    struct bytes payload = {0};
    append(&payload, chunk + CHUNK_HEADER_SIZE, get_u32(chunk + 8));
    if (damaged)
        damage_bytes(&payload);
    uint8_t header[CHUNK_HEADER_SIZE];
    memcpy(header, chunk, sizeof header);
    put_u32(header + 8, (uint32_t)payload.n);
    if (damaged && below(8) == 0)
        put_u16(header + 4, (uint16_t)below(24));
    if (damaged && below(8) == 0)
        put_u32(header + 12, below(2) ? (uint32_t)below(3) : interesting() * 0x01010101u);
    uLong crc = crc32(crc32(0, header, 20), payload.at, (uInt)payload.n);
    put_u32(header + 20, (uint32_t)crc);
    append(to, header, sizeof header);
    append(to, payload.at, payload.n);
    vec_free(&payload);
}

/* Damages chunks, drops some, repeats some; sometimes damages the file as a whole. */
static struct bytes damaged_measurement(const struct bytes *whole)
{
    struct bytes damaged = {0};
    append(&damaged, whole->at, MEASUREMENT_HEADER_SIZE);
    size_t often = 1 + below(6);
    for (size_t at = MEASUREMENT_HEADER_SIZE; at + CHUNK_HEADER_SIZE <= whole->n;
         at += CHUNK_HEADER_SIZE + get_u32(whole->at + at + 8)) {
        const uint8_t *chunk = whole->at + at;
        if (below(30) == 0)
            continue;
        append_chunk(&damaged, chunk, below(often) == 0);
        if (below(30) == 0)
            append_chunk(&damaged, chunk, true);
    }
    if (below(8) == 0)
        damage_bytes(&damaged);
    if (below(16) == 0)
        damaged.n = below(damaged.n);
    return damaged;
}

static void read_measurement(const char *path)
{
    char *cause = NULL;
    struct measurement *m = measurement_open(path, &cause);
    PROMISE(!m == (cause != NULL));
    free(cause);
    if (!m)
        return;
    check_measurement(m);
    measurement_free(m);
}

/* ---- arena files ---- */

/* Most of its contents are near its beginning. */
static size_t place_of_word(const struct bytes *bytes, size_t size)
{
    size_t room = bytes->n - size, near = room < 65536 ? room : 65536;
    return (below(4) ? below(near) : below(room)) / size * size;
}

static struct bytes damaged_words(const struct bytes *whole)
{
    static const uint64_t values[] = {0, 1, 2, 4096, 65536, UINT32_MAX, UINT64_MAX, INT64_MAX};
    struct bytes damaged = {0};
    append(&damaged, whole->at, whole->n);
    for (size_t left = 1 + below(6); left > 0; left--) {
        size_t size = below(2) ? 4 : 8, at = place_of_word(&damaged, size);
        uint64_t value = get_u64(damaged.at + place_of_word(&damaged, 8));
        switch (below(4)) {
        case 0: damaged.at[at] ^= (uint8_t)(1 << below(8)); break;
        case 1: value = values[below(sizeof values / sizeof *values)]; /* fall through */
        case 2: memcpy(damaged.at + at, &value, size); break;
        default: memset(damaged.at + at, interesting(), size);
        }
    }
    if (below(16) == 0)
        damaged.n = below(damaged.n);
    return damaged;
}

static void read_arenas(const struct bytes *bytes, const char *path)
{
    char measurement[4096];
    FILE *file = fopen(path, "wbe");
    PROMISE(file && fwrite(bytes->at, 1, bytes->n, file) == bytes->n && fclose(file) == 0);
    snprintf(measurement, sizeof measurement, "%.*s" MEASUREMENT_SUFFIX,
             (int)(strlen(path) - strlen(ARENAS_SUFFIX)), path);
    read_measurement(measurement);
}

/* ---- structure ---- */

static void read_structure(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct structure *s = structure_read_file(fd, NULL);
    if (s)
        check_structure(s);
    structure_free(s);
    close(fd);
}

/* ---- all together ---- */

/* Reads a file with these bytes. */
static void read_bytes(const struct bytes *bytes, void (*read_path)(const char *path))
{
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    char path[64];
    PROMISE(fd >= 0 && write(fd, bytes->at, bytes->n) == (ssize_t)bytes->n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_path(path);
    close(fd);
}

int main(int argc, char **argv)
{
    bool measurement = argc == 5 && strcmp(argv[1], "measurement") == 0;
    bool arenas = argc == 5 && strcmp(argv[1], "arenas") == 0;
    if (!measurement && !arenas && (argc != 5 || strcmp(argv[1], "structure") != 0)) {
        fputs("usage: fuzz-readers measurement|arenas|structure FILE FIRST_SEED COUNT\n", stderr);
        return 2;
    }
    struct bytes whole = read_file(argv[2]);
    unsigned long first = strtoul(argv[3], NULL, 10), count = strtoul(argv[4], NULL, 10);
    signal(SIGPROF, on_end_of_time);
    for (seed_at_work = first; seed_at_work < first + count; seed_at_work++) {
        random_state = seed_at_work * 0x9e3779b97f4a7c15u + 1;
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS_EACH}, NULL);
        struct bytes damaged = measurement ? damaged_measurement(&whole) : damaged_words(&whole);
        if (arenas)
            read_arenas(&damaged, argv[2]);
        else
            read_bytes(&damaged, measurement ? read_measurement : read_structure);
        vec_free(&damaged);
    }
    vec_free(&whole);
    return 0;
}
