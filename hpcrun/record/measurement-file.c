#include "hpcrun/record/measurement-file.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/append-file.h"
#include "hpcrun/record/chunk-writer.h"
#include "hpcrun/record/process-chunks.h"

#include <string.h>

enum { FILE_NONE, FILE_OPENING, FILE_OPEN, FILE_CLOSED };

#define MAX_EXEC_SEQUENCE 100000

static struct {
    _Atomic int state;
    uint32_t exec_sequence;
    char path[PATH_MAX + 512];
    char begun[PATH_MAX + 512]; /* the file's name until it describes the process */
    size_t stem;                /* length of the paths up to the exec sequence number */
} measurement;

/* Readers ignore files with this suffix. */
#define BEGUN_SUFFIX ".begun"

void measurement_init(void)
{
    struct text path = TEXT(measurement.path);
    text_add(&path, process.config.directory);
    text_add(&path, "/");
    identity_add_host(&path);
    text_add(&path, "-");
    text_add_number(&path, (uint64_t)process.pid);
    text_add(&path, "-");
    text_add_number(&path, process.start_ticks);
    text_add(&path, "-");
    memcpy(measurement.begun, measurement.path, path.length);
    measurement.stem = path.length;
    measurement.exec_sequence = 0;
    chunks_init();
    file_forget_failures();
    atomic_store(&measurement.state, FILE_NONE);
}

static void add_sequence(char *path, const char *suffix)
{
    struct text text = {.at = path, .length = measurement.stem, .room = sizeof measurement.path};
    text_add_number(&text, measurement.exec_sequence);
    text_add(&text, suffix);
}

static long rename_in(int directory, const char *from, const char *to)
{
    return sys4(SYS_renameat, directory, output_directory_name(directory, from), directory,
                output_directory_name(directory, to));
}

/* Earlier images of the process have the smaller sequence numbers. */
static int create_in(int directory)
{
    for (measurement.exec_sequence = process.images_before; measurement.exec_sequence < MAX_EXEC_SEQUENCE;
         measurement.exec_sequence++) {
        add_sequence(measurement.path, MEASUREMENT_SUFFIX);
        add_sequence(measurement.begun, BEGUN_SUFFIX);
        long there =
            rename_in(directory, measurement.path,
                      measurement.path); /* changes nothing; fails if there is no such file */
        if (there == 0)
            continue;
        if (there != -ENOENT)
            return (int)there;
        int error = file_create(directory, output_directory_name(directory, measurement.begun));
        if (error != -EEXIST)
            return error;
    }
    return -EEXIST;
}

static int create(void)
{
    int directory, error = output_directory_open(&directory);
    if (error == 0) {
        error = create_in(directory);
        output_directory_close(directory);
    }
    return error;
}

static bool write_header(void)
{
    uint8_t header[MEASUREMENT_HEADER_SIZE] = MEASUREMENT_MAGIC;
    put_u16(header + 8, MEASUREMENT_MAJOR);
    put_u16(header + 10, MEASUREMENT_MINOR);
    return file_write(header, sizeof header);
}

static bool begin_file(void)
{
    if (!write_header() || !process_chunks_write(measurement.exec_sequence))
        return false;
    if (file_is_parents())
        return true;
    int directory;
    long error = output_directory_open(&directory);
    if (error == 0) {
        error = rename_in(directory, measurement.begun, measurement.path);
        output_directory_close(directory);
    }
    return error == 0 || file_failed(error);
}

/* Restores the state before the attempt. In a parent's file the pieces so far remain: the next attempt
 * repeats them, with the same numbers. */
static void give_up_file(void)
{
    int directory;
    if (!file_is_parents() && output_directory_open(&directory) == 0) {
        sys3(SYS_unlinkat, directory, output_directory_name(directory, measurement.begun), 0);
        output_directory_close(directory);
    }
    if (!file_is_parents())
        file_close();
    chunks_init();
    atomic_store(&measurement.state, FILE_NONE);
}

bool measurement_create(void)
{
    int state = FILE_NONE;
    if (!atomic_compare_exchange_strong(&measurement.state, &state, FILE_OPENING))
        return state == FILE_OPEN;
    int error = create();
    if (error != 0 && !file_is_parents()) {
        atomic_store(&measurement.state, FILE_NONE);
        return file_failed(error);
    }
    if (measurement.exec_sequence > 0 && process.origin != ORIGIN_FORK)
        process.origin = ORIGIN_EXEC;
    if (!begin_file()) {
        give_up_file();
        return false;
    }
    atomic_store(&measurement.state, FILE_OPEN);
    return true;
}

void measurement_await(uint64_t wait_ns)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    uint64_t deadline = sys_clock(CLOCK_MONOTONIC) + wait_ns;
    while (atomic_load(&measurement.state) == FILE_OPENING && sys_clock(CLOCK_MONOTONIC) < deadline)
        sys2(SYS_nanosleep, &nap, NULL);
}

bool measurement_is_open(void)
{
    return atomic_load(&measurement.state) == FILE_OPEN;
}

void measurement_close(void)
{
    if (atomic_exchange(&measurement.state, FILE_CLOSED) == FILE_OPEN)
        file_close();
}

void measurement_leave_to_parent(void)
{
    if (atomic_exchange(&measurement.state, FILE_CLOSED) != FILE_OPEN)
        return;
    if (output_directory_may_be_lost())
        file_keep_parents();
    else
        file_close_or_reserve();
}

const char *measurement_path(void)
{
    return measurement.path;
}
