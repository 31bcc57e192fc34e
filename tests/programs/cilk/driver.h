/* The command line of the Cilk programs, and their one line of output.
 *
 * usage: PROGRAM [-w WORKERS] [SIZE] */
#ifndef TESTS_PROGRAMS_CILK_DRIVER_H
#define TESTS_PROGRAMS_CILK_DRIVER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <minicilk.h>

/* A number in least..most; else ends the program. */
static inline long driver_number(const char *program, const char *text, long least, long most)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (*text != '\0' && *end == '\0' && value >= least && value <= most)
        return value;
    fprintf(stderr, "%s: %s: must be a number from %ld to %ld\n", program, text, least, most);
    exit(2);
}

/* Starts the runtime with the options of the command line. Returns SIZE, or `usual` by default. */
static inline long driver_start(int argc, char **argv, long usual, long least, long most)
{
    int workers = 0;
    for (int option; (option = getopt(argc, argv, "+w:")) != -1;) {
        if (option != 'w') {
            fprintf(stderr, "usage: %s [-w WORKERS] [SIZE]\n", argv[0]);
            exit(2);
        }
        workers = (int)driver_number(argv[0], optarg, 1, MINICILK_MAX_WORKERS);
    }
    if (argc - optind > 1) {
        fprintf(stderr, "usage: %s [-w WORKERS] [SIZE]\n", argv[0]);
        exit(2);
    }
    const long size = optind < argc ? driver_number(argv[0], argv[optind], least, most) : usual;
    if (minicilk_init(workers) != 0)
        exit(1);
    return size;
}

/* malloc; ends the program without memory. */
static inline void *driver_memory(size_t size)
{
    void *memory = malloc(size);
    if (memory || size == 0)
        return memory;
    fprintf(stderr, "no memory for %zu bytes\n", size);
    exit(1);
}

/* Ends the runtime, prints whether the result is right and returns the program's exit status. */
static inline int driver_end(const char *what, long size, bool right)
{
    const int workers = minicilk_workers();
    minicilk_shutdown();
    printf("%s %ld: %s (%d workers)\n", what, size, right ? "ok" : "WRONG", workers);
    return right ? 0 : 1;
}

/* A small pseudo-random number generator, the same on every machine. */
static inline uint32_t driver_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

#endif
