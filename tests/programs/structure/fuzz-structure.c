/* Damages a binary in many ways and has hpcstruct analyze each, in one process:
 *     fuzz-structure BINARY FIRST_SEED COUNT
 * A crash, a hang or a request for all memory ends it with a line that names the seed. */
#include "hpcstruct/structure/analyze.h"

#include "lib/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define SECONDS_EACH 20 /* of CPU time */
/* Memory limit of an analysis, in addition to a multiple of the size of the file. */
#define MEMORY_LIMIT ((rlim_t)4 << 30)

static volatile unsigned long seed_at_work;

static void on_signal(int signal)
{
    char line[80];
    int length = snprintf(line, sizeof line, "seed %lu: %s\n", seed_at_work,
                          signal == SIGPROF ? "no end" : strsignal(signal));
    ssize_t ignored = write(STDOUT_FILENO, line, (size_t)length);
    (void)ignored;
    _exit(1);
}

/* xorshift64* (Vigna): the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* A value at a limit of its type, or a random one. */
static uint64_t interesting(uint64_t *state)
{
    static const uint64_t values[] = {0,
                                      1,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      UINT64_MAX};
    uint64_t choice = next_random(state) % (2 * sizeof values / sizeof *values);
    return choice < sizeof values / sizeof *values ? values[choice] : next_random(state);
}

static void damage(uint8_t *bytes, size_t *size, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    unsigned changes = 1 + (unsigned)(next_random(&state) % 16);
    for (unsigned i = 0; i < changes; i++) {
        /* Damage in the headers and in the tables at the end has most effect. */
        uint64_t where = next_random(&state) % 4, at = next_random(&state);
        if (where == 0)
            at %= 1024 < *size ? 1024 : *size;
        else if (where == 1)
            at = *size - 1 - at % (*size / 4);
        else
            at %= *size;
        uint64_t value = interesting(&state);
        size_t width = (size_t)1 << next_random(&state) % 4;
        memcpy(bytes + at, &value, width < *size - at ? width : *size - at);
    }
    if (next_random(&state) % 16 == 0)
        *size = 1 + next_random(&state) % *size;
}

static void analyze(const char *path, FILE *out)
{
    const struct analysis_options options = {.workers = 1, .debug_directory = "/nonexistent"};
    struct binary binary;
    if (!binary_open(&binary, path, &options))
        return;
    binary_analyze(&binary, &options, out);
    binary_close(&binary);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    char *cause = NULL;
    struct elf_image *image = elf_open(path, &cause);
    if (!image)
        diag_fatal(path, "%s", cause);
    uint8_t *copy = mem_alloc(image->file.size);
    memcpy(copy, image->file.at, image->file.size);
    *size = image->file.size;
    elf_close(image);
    return copy;
}

int main(int argc, char **argv)
{
    diag_init("fuzz-structure");
    if (argc != 4)
        diag_usage("usage: fuzz-structure BINARY FIRST_SEED COUNT");
    size_t whole_size;
    uint8_t *whole = read_file(argv[1], &whole_size);
    unsigned long first = strtoul(argv[2], NULL, 10), count = strtoul(argv[3], NULL, 10);
    FILE *out = fopen("/dev/null", "w");
    int fd = memfd_create("damaged", 0);
    char *path = mem_printf("/proc/self/fd/%d", fd);
    uint8_t *bytes = mem_alloc(whole_size);
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGPROF};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], on_signal);
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY_LIMIT, MEMORY_LIMIT});
#endif
    for (seed_at_work = first; seed_at_work < first + count; seed_at_work++) {
        size_t size = whole_size;
        memcpy(bytes, whole, whole_size);
        damage(bytes, &size, seed_at_work);
        if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
            diag_fatal(path, "%s", strerror(errno));
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS_EACH}, NULL);
        analyze(path, out);
    }
    printf("%lu seeds\n", count);
    free(bytes);
    free(whole);
    free(path);
    fclose(out);
    close(fd);
    return 0;
}
