#include "tests/unit/lib/measurement_encoder.h"

#include <unistd.h>

struct bytes file, payload;
static uint32_t sequence;

void encode_u8(struct bytes *b, unsigned value)
{
    assert_true(b->n < sizeof b->at);
    b->at[b->n++] = (uint8_t)value;
}

void encode_fixed(struct bytes *b, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        encode_u8(b, (unsigned)(value >> (8 * i)) & 255);
}

void encode_v(struct bytes *b, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        encode_u8(b, (unsigned)(value & 127) | 128);
    encode_u8(b, (unsigned)value);
}

void encode_varints(const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        encode_v(&payload, values[i]);
}

void encode_string(struct bytes *b, const char *text)
{
    encode_v(b, strlen(text));
    for (; *text; text++)
        encode_u8(b, (unsigned char)*text);
}

static uint32_t bitwise_crc(const uint8_t *data, size_t size, uint32_t crc)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

void start_file(void)
{
    file.n = payload.n = 0;
    sequence = 0;
    for (const char *p = "HPCRUNMF"; *p; p++)
        encode_u8(&file, (unsigned char)*p);
    encode_fixed(&file, 2, 2);
    encode_fixed(&file, 2, 2);
    encode_fixed(&file, 0, 4);
}

void end_chunk_numbered(unsigned kind, uint32_t thread, uint32_t number)
{
    size_t start = file.n;
    encode_fixed(&file, 0x6b6e4843, 4);
    encode_fixed(&file, kind, 2);
    encode_fixed(&file, 0, 2);
    encode_fixed(&file, payload.n, 4);
    encode_fixed(&file, thread, 4);
    encode_fixed(&file, number, 4);
    uint32_t crc = bitwise_crc(file.at + start, 20, 0);
    encode_fixed(&file, bitwise_crc(payload.at, payload.n, crc), 4);
    for (size_t i = 0; i < payload.n; i++)
        encode_u8(&file, payload.at[i]);
    payload.n = 0;
}

void end_chunk(unsigned kind, uint32_t thread)
{
    end_chunk_numbered(kind, thread, sequence++);
}

void put_process(void)
{
    encode_string(&payload, "host");
    encode_fixed(&payload, 0x1234, 8);
    ENCODE(71, 70, 555, 2);
    encode_v(&payload, 1); /* zigzag of -1 */
    encode_v(&payload, 1);
    encode_string(&payload, "/usr/bin/xz");
    encode_string(&payload, "/tmp");
    encode_v(&payload, 2);
    encode_string(&payload, "xz");
    encode_string(&payload, "-9");
    ENCODE(1700000000, 1000, 200, 8);
    encode_string(&payload, "0.1");
    end_chunk(1, PROCESS);
}

void put_event(const char *name)
{
    encode_string(&payload, name);
    encode_string(&payload, "ns");
    ENCODE(10, 5000000, 5);
    encode_string(&payload, "perf_event_open is refused");
}

void put_events_and_metrics(void)
{
    ENCODE(0, 1);
    put_event("CPUTIME");
    end_chunk(2, PROCESS);
    ENCODE(0, 2);
    encode_string(&payload, "work");
    ENCODE(0, 1);
    encode_string(&payload, "idleness");
    ENCODE(0, 1);
    end_chunk(3, PROCESS);
}

void start_process_file(void)
{
    start_file();
    put_process();
    put_events_and_metrics();
}

void put_module(uint64_t id, const char *path)
{
    ENCODE(1, id);
    encode_fixed(&payload, 0x400000, 8);
    encode_fixed(&payload, 0x500000, 8);
    encode_fixed(&payload, 0x300000, 8);
    ENCODE(1, 3);
    encode_string(&payload, path);
    encode_v(&payload, 3);
    encode_u8(&payload, 0xab);
    encode_u8(&payload, 0);
    encode_u8(&payload, 0xcd);
    encode_fixed(&payload, 0xfeedface, 8);
    ENCODE(12345, 999);
    end_chunk(4, PROCESS);
}

void put_thread(uint32_t index)
{
    ENCODE(71 + index, index ? 1 : 0);
    encode_string(&payload, "worker");
    ENCODE(index, index ? 2 : 0, 1100, 10);
    end_chunk(16, index);
}

void put_plain_node(uint64_t distance, uint64_t instance, uint64_t offset)
{
    encode_v(&payload, distance);
    encode_u8(&payload, 0x58);
    ENCODE(instance, offset);
}

void put_chain(uint32_t thread, unsigned count)
{
    ENCODE(1, count);
    for (unsigned i = 0; i < count; i++)
        put_plain_node(1, 2, 0x100 * (i + 1));
    end_chunk(18, thread);
}

void put_value(uint32_t thread, uint64_t node, uint64_t metric, uint64_t amount)
{
    ENCODE(1, node, 1, metric, amount);
    end_chunk(20, thread);
}

char directory[64], path[128];

int make_directory(void **state)
{
    snprintf(directory, sizeof directory, "/tmp/test_measurement.XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/host-71-555-2.hpcrun", directory);
    return 0;
}

static struct measurement *last_read;

int remove_directory(void **state)
{
    measurement_free(last_read);
    last_read = NULL;
    unlink(path);
    return rmdir(directory);
}

struct measurement *read_bytes(const uint8_t *data, size_t size, char **cause)
{
    unlink(path); /* ext4 writes a file that was cut and written again to the disk at once */
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, size, stream), size);
    fclose(stream);
    *cause = NULL;
    measurement_free(last_read);
    last_read = measurement_open(path, cause);
    assert_true((last_read == NULL) == (*cause != NULL));
    return last_read;
}

struct measurement *read_file(void)
{
    char *cause;
    struct measurement *m = read_bytes(file.at, file.n, &cause);
    if (!m)
        fail_msg("%s", cause);
    return m;
}

void assert_problem(const struct measurement *m, const char *part)
{
    for (size_t i = 0; i < m->problems.n; i++)
        if (strstr(m->problems.at[i], part))
            return;
    fail_msg("no problem says '%s'", part);
}

void assert_no_file(const char *part)
{
    char *cause;
    struct measurement *m = read_bytes(file.at, file.n, &cause);
    assert_null(m);
    if (!strstr(cause, part))
        fail_msg("'%s' does not say '%s'", cause, part);
    free(cause);
}

uint64_t sum_of(const struct measurement *m)
{
    uint64_t sum = 0;
    for (size_t t = 0; t < m->threads.n; t++)
        for (size_t i = 0; i < m->threads.at[t].values.n; i++)
            sum += m->threads.at[t].values.at[i].amount;
    return sum;
}
