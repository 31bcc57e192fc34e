/* jit MAP MS: makes code at run time, names it in a perf map as MAP says, and runs in it for MS of
 * CPU time per kind of code. Prints for every kind, and for code below which C runs, a line
 *     CALLER:OUTER:INNER:NS:NEIGHBORS_NS
 * the C function that called OUTER again and again, which called INNER, and the time of all that.
 * NEIGHBORS_NS is the time since the line before, without NS, and that of the last call of OUTER. If a
 * virtual machine is halted meanwhile, the sample that pays for it may come a little later, on the
 * other side of the beginning or the end of NS.
 *
 * MAP: "good"; "none"; "link" (a symbolic link to a good one); "old" (a good one, from before the
 * program began); "foreign" (another user's); "garbage"; "fork" (a good one, and the work is done
 * by a child); "renamed" (the same, and the child has a map with other names, "new NAME"); "large" (a
 * good one, after many other lines, one of them long). */
#include "burn.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef void outer(void (*inner)(long, long), long spins);

/* outer_KIND(inner, spins) calls inner(inner, spins) in a frame of its kind; inner_KIND counts
 * down. */
static const struct code {
    const char *name;
    unsigned size;
    unsigned char bytes[24];
} codes[] = {
    /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
    {"outer framed", 8, "\x55\x48\x89\xe5\xff\xd7\x5d\xc3"},
    /* push rbp; mov rbp, rsp; 1: dec rsi; jnz 1b; pop rbp; ret */
    {"inner framed", 11, "\x55\x48\x89\xe5\x48\xff\xce\x75\xfb\x5d\xc3"},
    /* push rsi; push rdi; push rsi; call rdi; add rsp, 24; ret */
    {"outer plain", 10, "\x56\x57\x56\xff\xd7\x48\x83\xc4\x18\xc3"},
    /* 1: dec rsi; jnz 1b; ret */
    {"inner plain", 6, "\x48\xff\xce\x75\xfb\xc3"},
    /* push rbp; mov rbp, 0x3039; call rdi; pop rbp; ret */
    {"outer trashed", 12, "\x55\x48\xc7\xc5\x39\x30\x00\x00\xff\xd7\x5d\xc3"},
    /* push rbp; mov rbp, rsi; 1: dec rbp; jnz 1b; pop rbp; ret */
    {"inner trashed", 11, "\x55\x48\x89\xf5\x48\xff\xcd\x75\xfb\x5d\xc3"},
};

enum { CODES = sizeof codes / sizeof *codes, SPACING = 64 };

static unsigned char *made; /* the code of codes[i] at i * SPACING */

static void make_code(void)
{
    made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < CODES; i++)
        memcpy(made + i * SPACING, codes[i].bytes, codes[i].size);
    mprotect(made, 4096, PROT_READ | PROT_EXEC);
}

static const char *prefix = ""; /* of the names in the map */

static void write_names(FILE *file)
{
    for (int i = 0; i < CODES; i++)
        fprintf(file, i % 2 ? "0x%lx 0x%x %s%s\n" : "%lx %x %s%s\n", (long)made + i * SPACING,
                codes[i].size, prefix, codes[i].name);
}

/* Between a name of code that existed before and invalid lines. */
static void write_names_and_others(FILE *file)
{
    fprintf(file, "%lx 1000 stale\nno numbers here\n\n0x%lx\n", (long)made, (long)made);
    write_names(file);
    fprintf(file, "%lx %x never finish", (long)made, SPACING * CODES);
}

/* hpcrun copies a map in pieces of so many bytes, or fewer that end with a line. */
#define PIECE 16384

/* Names of code in other places: lines of 32 bytes, one of six pieces, and a last one that leaves five
 * bytes of its piece, so that the first name of our code is in two pieces. */
static void write_large(FILE *file)
{
    for (int i = 0; i < 40 * PIECE / 32; i++)
        fprintf(file, "%08x 10 %-19d\n", 0x1000 + 16 * i, i);
    fprintf(file, "%-*s\n", 6 * PIECE - 1, "800000 10 long");
    for (int i = 0; i < PIECE / 32 - 1; i++)
        fprintf(file, "%08x 10 %-19d\n", 0x900000 + 16 * i, i);
    fprintf(file, "%08x 10 %-14s\n", 0xa00000, "short");
    write_names(file);
}

static void get_map_path(char *path, size_t size)
{
    snprintf(path, size, "/tmp/perf-%d.map", getpid());
}

/* Another user may have left a map of a process with the same number. Then a child goes on, which has
 * another number. */
static void find_own_name(void)
{
    char path[64];
    int status;
    for (;;) {
        get_map_path(path, sizeof path);
        if (unlink(path) == 0 || errno == ENOENT)
            return;
        pid_t child = fork();
        if (child > 0)
            exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
    }
}

static void write_map(const char *how)
{
    char map_path[64], path[80];
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    get_map_path(map_path, sizeof map_path);
    snprintf(path, sizeof path, "%s%s", map_path, strcmp(how, "link") == 0 ? ".target" : "");
    FILE *file = fopen(path, "w");
    if (strcmp(how, "garbage") == 0)
        for (int i = 0; i < 100000; i++)
            putc(i * i % 251, file);
    else if (strcmp(how, "large") == 0)
        write_large(file);
    else
        write_names_and_others(file);
    fclose(file);
    if (strcmp(how, "link") == 0 && symlink(path, map_path) != 0)
        exit(3);
    if (strcmp(how, "old") == 0)
        utimensat(AT_FDCWD, path, times, 0);
    if (strcmp(how, "foreign") == 0 && chown(path, 12345, 12345) != 0)
        exit(3);
}

static uint64_t budget;

/* The thread's CPU clock at the last line, and the time of the last call of OUTER. */
static uint64_t last_line, last_turn;

/* Calls OUTER with INNER again and again. */
#define CALLER(name)                                                                               \
    __attribute__((noinline)) static uint64_t name(outer *call, void (*inner)(long, long))         \
    {                                                                                              \
        uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = begin, turn = begin;             \
        for (; now < begin + budget; now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) {                    \
            turn = now;                                                                            \
            call(inner, 200000);                                                                   \
        }                                                                                          \
        last_turn = now - turn;                                                                    \
        return now - begin;                                                                        \
    }

CALLER(call_framed)
CALLER(call_plain)
CALLER(call_trashed)
CALLER(call_framed_to_c)
CALLER(call_plain_to_c)
CALLER(call_trashed_to_c)

__attribute__((noinline)) static void c_below(long inner, long spins)
{
    volatile uint64_t room[8];
    (void)inner;
    for (long i = 0; i < spins; i += 4000) {
        room[i % 8] = burn_sink;
        burn_unit();
    }
    burn_sink += room[0];
}

static void run(const char *caller, uint64_t (*call)(outer *, void (*)(long, long)), int which,
                bool to_c)
{
    outer *outer_code = (outer *)(void *)(made + which * SPACING);
    void (*inner)(long, long) = (void (*)(long, long))(void *)(made + (which + 1) * SPACING);
    uint64_t used = call(outer_code, to_c ? c_below : inner),
             end = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    printf("%s:%s:%s:%lu:%lu\n", caller, codes[which].name,
           to_c ? "c_below" : codes[which + 1].name, used, end - last_line - used + last_turn);
    last_line = end;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    budget = (uint64_t)atoi(arguments[2]) * 1000000u;
    find_own_name();
    last_line = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    make_code();
    if (strcmp(arguments[1], "none") != 0)
        write_map(arguments[1]);
    bool is_renamed = strcmp(arguments[1], "renamed") == 0;
    if (is_renamed || strcmp(arguments[1], "fork") == 0) {
        if (fork() != 0)
            return wait(NULL) < 0;
        if (is_renamed) {
            prefix = "new ";
            write_map("good");
        }
        last_line = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    }
    run("call_framed", call_framed, 0, false);
    run("call_plain", call_plain, 2, false);
    run("call_trashed", call_trashed, 4, false);
    run("call_framed_to_c", call_framed_to_c, 0, true);
    run("call_plain_to_c", call_plain_to_c, 2, true);
    run("call_trashed_to_c", call_trashed_to_c, 4, true);
    return 0;
}
