/* Runs the DWARF reader in a process of its own: on damaged files libdwarf 20210528 frees memory
 * twice, reads beyond its ends and loops. That must cost the debug information only. */
#include "hpcstruct/dwarf/debug-info.h"
#include "hpcstruct/dwarf/dwarf-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the process may use: far more than sane files need, which take a second and four times
 * their size for 100 MB; compressed ones take longer, and machines that others slow down count far
 * more seconds than they work. */
#define BASE_SECONDS   10
#define BYTES_A_SECOND (1 << 18)
#define BASE_MEMORY    ((uint64_t)2 << 30)
#define MEMORY_FACTOR  50

/* What it says besides the debug information: the beginning of the file between the processes. */
struct preface {
    bool is_split;
    char problem[256]; /* empty: none */
};

static uint64_t unpacked_size(const struct elf_image *image)
{
    uint64_t size = 0;
    for (size_t i = 0; i < image->sections.n; i++)
        if (strncmp(image->sections.at[i].name, ".debug", 6) == 0 ||
            strncmp(image->sections.at[i].name, ".zdebug", 7) == 0)
            size += image->sections.at[i].size;
    return size;
}

/* The most that a size in a file can make us allow. */
static uint64_t bounded(uint64_t size)
{
    const uint64_t most = (uint64_t)16 << 30;
    return size < most ? size : most;
}

/* The address space that the files take already. */
static uint64_t mapped_size(const struct dwarf_files *files)
{
    return files->image->file.size + files->from->file.size +
           (files->supplement ? files->supplement->file.size : 0);
}

static rlim_t seconds_for(uint64_t size)
{
    return BASE_SECONDS + size / BYTES_A_SECOND;
}

/* At the lower limit of time it gets SIGXCPU, which tells why it ends; were the higher one the
 * same, SIGKILL would come first. */
static void limit_myself(const struct dwarf_files *files, uint64_t size)
{
    rlim_t seconds = seconds_for(size);
    rlim_t memory = BASE_MEMORY + MEMORY_FACTOR * size + mapped_size(files);
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
#else
    (void)memory;
#endif
}

/* The process: reads, writes what it has read to the file, and ends. */
static _Noreturn void read_and_exit(int fd, const struct dwarf_files *files, uint64_t size)
{
    struct debug_info info = {0};
    struct preface preface = {0};
    limit_myself(files, size);
    struct dwarf_report report = dwarf_read_here(&info, files);
    preface.is_split = report.is_split;
    if (report.problem)
        snprintf(preface.problem, sizeof preface.problem, "%s", report.problem);
    FILE *out = fdopen(fd, "w");
    bool written =
        out && fwrite(&preface, sizeof preface, 1, out) == 1 && debug_info_save(&info, out);
    _exit(written ? 0 : 1);
}

static char *how_it_ended(int status, uint64_t size)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return mem_printf("libdwarf does not come to an end with it in %llu s",
                          (unsigned long long)seconds_for(size));
    if (WIFSIGNALED(status))
        return mem_printf("libdwarf fails with it (%s)", strsignal(WTERMSIG(status)));
    return mem_strdup("libdwarf fails with it");
}

/* Takes over what the process wrote to the file. */
static struct dwarf_report collect(struct debug_info *info, int fd)
{
    struct dwarf_report report = {0};
    struct stat status;
    struct preface preface;
    void *at = MAP_FAILED;
    if (fstat(fd, &status) == 0 && (size_t)status.st_size >= sizeof preface)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
        report.problem = mem_strdup("what libdwarf has read is lost");
        return report;
    }
    memcpy(&preface, at, sizeof preface);
    const struct elf_bytes bytes = {(const uint8_t *)at + sizeof preface,
                                    (size_t)status.st_size - sizeof preface};
    report.is_split = preface.is_split;
    if (!debug_info_load(info, bytes))
        report.problem = mem_strdup("libdwarf fails with it");
    else if (preface.problem[0])
        report.problem = mem_strndup(preface.problem, sizeof preface.problem);
    munmap(at, (size_t)status.st_size);
    return report;
}

static struct elf_bytes contents(const struct elf_image *image, const char *name)
{
    struct elf_section *section = elf_section(image, name);
    char *cause = NULL;
    struct elf_bytes bytes = {0};
    if (section)
        bytes = elf_section_data(section, &cause);
    free(cause);
    return bytes;
}

/* Reads the line tables one after the other, without the units that they belong to. */
static void read_lines_only(struct debug_info *info, const struct dwarf_files *files)
{
    const struct line_sections sections = {
        .lines = contents(files->from, ".debug_line"),
        .line_strings = contents(files->from, ".debug_line_str"),
        .strings = contents(files->from, ".debug_str"),
    };
    line_tables_read_all(&sections, info, files->image);
    debug_info_finish(info);
}

struct dwarf_report dwarf_read(struct debug_info *info, const struct dwarf_files *files)
{
    struct dwarf_report report = {0};
    uint64_t size = bounded(unpacked_size(files->from));
    int fd = memfd_create("debug information", MFD_CLOEXEC), status = 0;
    fflush(NULL); /* what is buffered is not the other process's to write */
    pid_t process = fd < 0 ? -1 : fork();
    if (process == 0)
        read_and_exit(fd, files, size);
    if (process < 0) {
        report = dwarf_read_here(info, files);
    } else {
        while (waitpid(process, &status, 0) < 0 && errno == EINTR)
            ;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            report = collect(info, fd);
        else
            report.problem = how_it_ended(status, size);
        if (report.problem && info->files.count == 0)
            read_lines_only(info, files);
    }
    if (fd >= 0)
        close(fd);
    return report;
}
