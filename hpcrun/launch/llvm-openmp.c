#include "hpcrun/launch/llvm-openmp.h"

#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/elf-sections.h"
#include "lib/safe-input.h"
#include "lib/subprocess.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OPTION "--openmp=llvm"
#define LIBOMP "libomp.so.5"

/* ---- ELF files ---- */

static bool map_file(const char *path, struct elf_file *file, char **cause)
{
    struct stat status;
    const void *at = input_map(path, &status, cause);
    *file = at ? (struct elf_file){at, (size_t)status.st_size} : (struct elf_file){0};
    return at != NULL;
}

static void unmap_file(struct elf_file *file)
{
    munmap((void *)file->at, file->size);
}

/* A file's symbols for the dynamic linker. */
struct dynamic_symbols {
    const Elf64_Sym *at;
    size_t n;
    const char *names;
    size_t name_bytes;
};

static struct dynamic_symbols dynamic_symbols(const struct elf_file *file)
{
    unsigned count = 0;
    const Elf64_Shdr *all = elf_file_sections(file, &count);
    for (unsigned i = 0; all && i < count; i++) {
        const Elf64_Shdr *strings = all[i].sh_link < count ? &all[all[i].sh_link] : NULL;
        if (all[i].sh_type == SHT_DYNSYM && strings && strings->sh_size > 0 &&
            all[i].sh_offset % _Alignof(Elf64_Sym) == 0 &&
            elf_file_holds(file, all[i].sh_offset, all[i].sh_size) &&
            elf_file_holds(file, strings->sh_offset, strings->sh_size) &&
            file->at[strings->sh_offset + strings->sh_size - 1] == '\0')
            return (struct dynamic_symbols){(const void *)(file->at + all[i].sh_offset),
                                            all[i].sh_size / sizeof(Elf64_Sym),
                                            file->at + strings->sh_offset, strings->sh_size};
    }
    return (struct dynamic_symbols){0};
}

static const char *name_of(const struct dynamic_symbols *symbols, size_t i)
{
    return symbols->at[i].st_name < symbols->name_bytes ? symbols->names + symbols->at[i].st_name
                                                        : "";
}

static bool defines(const struct dynamic_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->n; i++)
        if (symbols->at[i].st_shndx != SHN_UNDEF && strcmp(name_of(symbols, i), name) == 0)
            return true;
    return false;
}

/* libomp has it, but crashes in tasks with a `detach` clause that gcc compiled (libomp 14). */
#define FULFILL_EVENT "omp_fulfill_event"

/* Ends the process if a file calls a function of libgomp that libomp lacks. Such a call would find
 * libgomp, which does not know libomp's threads. */
static void check_calls(const char *path, const char *libomp)
{
    struct elf_file caller, runtime;
    char *cause = NULL;
    if (!map_file(path, &caller, &cause)) {
        free(cause);
        return;
    }
    if (!map_file(libomp, &runtime, &cause))
        diag_fatal(libomp, "%s", cause);
    struct dynamic_symbols called = dynamic_symbols(&caller), known = dynamic_symbols(&runtime);
    for (size_t i = 0; i < called.n; i++) {
        const char *name = name_of(&called, i);
        bool is_of_openmp = strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0;
        if (called.at[i].st_shndx != SHN_UNDEF || !is_of_openmp)
            continue;
        if (!defines(&known, name))
            diag_fatal(path, OPTION ": it calls %s, which %s lacks", name, libomp);
        if (strcmp(name, FULFILL_EVENT) == 0)
            diag_fatal(path, OPTION ": it has tasks with `detach`, on which libomp crashes");
    }
    unmap_file(&caller);
    unmap_file(&runtime);
}

/* ---- the program ---- */

/* The program's dynamic linker. The caller frees. */
static char *interpreter_of(const char *program)
{
    struct elf_file file;
    char *found = NULL, *cause = NULL;
    if (!map_file(program, &file, &cause))
        diag_fatal(program, "%s", cause);
    unsigned count = 0;
    const Elf64_Shdr *all = elf_file_sections(&file, &count);
    const Elf64_Ehdr *header = (const void *)file.at;
    for (unsigned i = 0; all && i < header->e_phnum; i++) {
        uint64_t at = header->e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr segment = {0};
        if (elf_file_holds(&file, at, sizeof segment))
            memcpy(&segment, file.at + at, sizeof segment);
        if (segment.p_type == PT_INTERP &&
            elf_file_holds(&file, segment.p_offset, segment.p_filesz))
            found = mem_strndup(file.at + segment.p_offset, segment.p_filesz);
    }
    unmap_file(&file);
    return found;
}

/* Checks a library of a line "name => path (address)". Returns whether it is libgomp. */
static bool check_library(char *line, const char *libomp)
{
    char *path = strstr(line, "=> "), *end = path ? strstr(path, " (0x") : NULL;
    if (!end)
        return false;
    *end = '\0';
    if (strstr(line, "libgomp.so.1 "))
        return true;
    check_calls(path + 3, libomp);
    return false;
}

/* Checks the program's libraries, which the dynamic linker lists. Returns whether libgomp is one of them. */
static bool check_libraries(const char *program, const char *linker, const char *libomp)
{
    char *const arguments[] = {"env", "-u", "LD_PRELOAD", (char *)linker, "--list", (char *)program, NULL};
    struct program_output result = run_program(&(struct program_start){
        .path = "/usr/bin/env", .arguments = arguments, .input = NO_INPUT, .messages_pass = true});
    if (!result.output)
        diag_fatal(linker, "%s", result.errors);
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (getline(&line, &room, result.output) >= 0)
        found |= check_library(line, libomp);
    free(line);
    program_output_free(&result);
    return found;
}

/* ---- libomp ---- */

/* Where Debian, Fedora and others have it. The last path of a pattern is that of the newest LLVM. */
static char *find_libomp(void)
{
    static const char *const patterns[] = {
        "/usr/lib/x86_64-linux-gnu/" LIBOMP, "/usr/lib64/" LIBOMP, "/usr/local/lib/" LIBOMP,
        "/usr/lib/" LIBOMP, "/usr/lib/llvm-*/lib/" LIBOMP};
    const char *paths = getenv("LD_LIBRARY_PATH");
    for (const char *at = paths ? paths : ""; *at;) {
        size_t length = strcspn(at, ":");
        char *path = mem_printf("%.*s/" LIBOMP, (int)length, at);
        if (length && access(path, R_OK) == 0)
            return path;
        free(path);
        at += length + (at[length] == ':');
    }
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        if (glob(patterns[i], 0, NULL, &found) != 0)
            continue;
        char *path = mem_strdup(found.gl_pathv[found.gl_pathc - 1]);
        globfree(&found);
        return path;
    }
    return NULL;
}

char *llvm_openmp_for(const char *program)
{
    char *linker = interpreter_of(program), *libomp = find_libomp();
    if (!libomp)
        diag_fatal(NULL, OPTION ": LLVM's OpenMP, " LIBOMP ", is not installed (Debian: libomp5)");
    if (strpbrk(libomp, ": \t"))
        diag_fatal(libomp, OPTION ": a path with a space or colon can't be preloaded");
    if (!linker || !check_libraries(program, linker, libomp))
        diag_fatal(program, OPTION ": it is not linked to GCC's OpenMP, libgomp.so.1");
    check_calls(program, libomp);
    free(linker);
    diag_note(program,
              OPTION ": its OpenMP runs on %s in place of GCC's libgomp, with the schedules, the way "
                     "of waiting and the costs of that",
              libomp);
    return libomp;
}
