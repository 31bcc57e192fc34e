#include "tests/fuzz/reader-checks.h"
#include "tests/unit/lib/measurement_encoder.h"
#include "tests/unit/random_numbers.h"

/* 40 chunks, each of which adds 1 to a node of its own, so the test sees which chunk is lost. */
enum { PAYMENTS = 40 };
static size_t payment_start[PAYMENTS + 1];

static void start_payments(void)
{
    start_process_file();
    put_module(2, "/usr/bin/xz");
    put_thread(0);
    put_chain(0, PAYMENTS);
    for (unsigned i = 0; i < PAYMENTS; i++) {
        payment_start[i] = file.n;
        put_value(0, i + 1, 0, 1);
    }
    payment_start[PAYMENTS] = file.n;
}

TEST(truncation_anywhere_keeps_what_comes_before)
{
    start_payments();
    for (size_t size = 0; size < file.n; size++) {
        char *cause;
        struct measurement *m = read_bytes(file.at, size, &cause);
        free(cause);
        if (!m) {
            assert_true(size < payment_start[0]);
            continue;
        }
        unsigned whole = 0;
        while (whole < PAYMENTS && payment_start[whole + 1] <= size)
            whole++;
        assert_int_equal(sum_of(m), whole);
        bool between_chunks = size == payment_start[whole] || size < payment_start[0];
        if (!between_chunks)
            assert_problem(m, "are damaged");
    }
}

TEST(a_flipped_bit_costs_one_chunk)
{
    start_payments();
    for (size_t at = payment_start[0]; at < file.n; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            unsigned damaged = 0;
            while (payment_start[damaged + 1] <= at)
                damaged++;
            file.at[at] ^= (uint8_t)(1 << bit);
            struct measurement *m = read_file();
            file.at[at] ^= (uint8_t)(1 << bit);
            assert_false(m->complete);
            assert_problem(m, "are damaged");
            assert_int_equal(sum_of(m), PAYMENTS - 1);
            for (size_t i = 0; i < m->threads.at[0].values.n; i++)
                assert_int_not_equal(m->threads.at[0].values.at[i].node, damaged + 2);
        }
}

TEST(a_damaged_file_header_costs_nothing_else)
{
    start_payments();
    file.at[3] ^= 0x10;
    struct measurement *m = read_file();
    assert_problem(m, "file header is damaged");
    assert_int_equal(sum_of(m), PAYMENTS);
}

TEST(random_damage_is_survived)
{
    start_payments();
    static struct bytes damaged;
    for (unsigned round = 0; round < 3000; round++) {
        random_state = round;
        memcpy(damaged.at, file.at, file.n);
        damaged.n = file.n;
        for (unsigned hits = 1 + random_below(20); hits > 0; hits--)
            damaged.at[random_below((uint32_t)file.n)] = (uint8_t)random_below(256);
        char *cause;
        struct measurement *m = read_bytes(damaged.at, damaged.n, &cause);
        free(cause);
        if (m)
            check_measurement(m);
    }
}

/* A random number, usually small, sometimes huge. */
static uint64_t random_number(void)
{
    if (random_below(8))
        return random_below(6);
    return ((uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX)) >>
           random_below(64);
}

/* Well-formed chunks of random numbers: damage that no CRC detects. */
TEST(random_payloads_are_survived)
{
    static const unsigned kinds[] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 18, 18, 19, 20, 20, 21, 23, 23, 24};
    for (unsigned round = 0; round < 6000; round++) {
        random_state = round + 1000000;
        start_file();
        put_events_and_metrics();
        for (unsigned chunks = 1 + random_below(12); chunks > 0; chunks--) {
            for (unsigned i = random_below(40); i > 0; i--)
                encode_v(&payload, random_number());
            unsigned kind = kinds[random_below(sizeof kinds / sizeof *kinds)];
            end_chunk(kind, kind < 16 ? PROCESS : random_below(3));
        }
        struct measurement *m = read_file();
        check_measurement(m);
    }
}

TEST(hostile_sizes_are_refused)
{
    static const unsigned kinds[] = {2, 3, 4, 5, 6, 7, 18, 19, 20, 21, 23, 24};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        start_file();
        put_process();
        encode_v(&payload, UINT64_MAX / 2);
        encode_v(&payload, UINT64_MAX);
        encode_v(&payload, UINT64_MAX);
        end_chunk(kinds[k], kinds[k] < 16 ? PROCESS : 0);
        struct measurement *m = read_file();
        assert_problem(m, "malformed");
    }
    start_file();
    put_chain(0xfffffffe, 1);
    struct measurement *m = read_file();
    assert_int_equal(m->threads.n, 1);
    assert_int_equal(m->threads.at[0].index, 0xfffffffe);
}

/* If the reader trusted each of these headers, it would read more than 10 TB. */
TEST(a_file_full_of_false_headers_ends)
{
    static uint8_t false_header[24];
    file.n = 0;
    encode_fixed(&file, 0x6b6e4843, 4);
    encode_fixed(&file, 18, 4);
    encode_fixed(&file, 1 << 23, 4); /* size */
    memcpy(false_header, file.at, file.n);
    start_file();
    put_process();
    size_t size = 24 << 20, intact = file.n;
    uint8_t *data = malloc(size);
    assert_non_null(data);
    memcpy(data, file.at, intact);
    for (size_t at = intact; at < size; at++)
        data[at] = false_header[(at - intact) % sizeof false_header];
    char *cause;
    struct measurement *m = read_bytes(data, size, &cause);
    free(data);
    assert_non_null(m);
    assert_true(m->process.known);
    assert_problem(m, "are damaged");
}

EACH_TEST(make_directory, remove_directory);
