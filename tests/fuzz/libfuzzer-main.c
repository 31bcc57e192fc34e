/* Chooses the target, counts its memory, and provides files with the input. */
#include "tests/fuzz/fuzz-target.h"

#include "lib/diag.h"
#include "lib/path.h"

#include <fcntl.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Those that are linked into this program; the others are NULL. */
static const struct fuzz_target *const targets[] = {
    &measurement_target,  &arenas_target,      &perf_map_target,   &structure_target,
    &elf_target,          &eh_frame_target,    &debug_line_target, &debug_info_target,
    &cfi_target,          &config_target,      &set_index_target,  &process_list_target,
    &database_target,     &run_json_target,    &instructions_json_target,
    &elf_notes_target,    &memory_test_target, &split_debug_target,
    &timeline_target,     &outside_target,     &go_table_target, &kernel_symbols_target,
    &perf_records_target,
};

static const struct fuzz_target *target;

_Noreturn void check_failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", target->name, what);
    __sanitizer_print_stack_trace();
    abort();
}

/* ---- memory ---- */

/* Bytes of heap that the run holds; it may hold at most `memory_limit`, 0: not counted now. */
static atomic_size_t held, memory_limit;

static void on_malloc(const volatile void *block, size_t size)
{
    (void)block;
    size_t now = atomic_fetch_add(&held, size) + size, limit = memory_limit;
    if (limit && now > limit) {
        memory_limit = 0;
        fprintf(stderr, "%zu bytes held, %zu allowed\n", now, limit);
        check_failed("allocations are not bounded by the size of the input");
    }
}

static void on_free(const volatile void *block)
{
    atomic_fetch_sub(&held, __sanitizer_get_allocated_size(block));
}

/* ---- files ---- */

const char *input_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    PROMISE(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

static char folder[256];

static void remove_folder(void)
{
    static const char *const names[] = {"meta.db",           "profile.db", "cct.db",   "run.json",
                                        "instructions.json", "set.index",  "a.hpcrun", "a.arenas",
                                        "module"};
    char path[512];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

const char *input_folder(const char *name, const uint8_t *data, size_t size)
{
    const char *top = getenv("TMPDIR");
    char path[512];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX", top ? top : "/tmp");
        PROMISE(mkdtemp(folder));
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    return folder;
}

/* ---- libFuzzer ---- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    const char *name = path_base((*argv)[0]);
    diag_init(name);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i] && strcmp(targets[i]->name, name) == 0)
            target = targets[i];
    if (!target)
        diag_usage("call this program by the name of a target (fuzz-target.h)");
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    held = 0;
    memory_limit = target->base + target->factor * size;
    target->run(data, size);
    memory_limit = 0;
    return 0;
}
