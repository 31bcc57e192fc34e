#include "hpcstruct/dwarf/dwarf-reader.h"

#include "hpcstruct/dwarf/line-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limits of the process. Undamaged debug information of 100 MB takes one second of CPU time and
 * four times its size in memory. The limits are much higher: compressed sections take longer, and
 * on a machine that is shared with others the same work counts as more seconds. */
#define BASE_SECONDS     10
#define BYTES_PER_SECOND (1 << 18)
#define BASE_MEMORY      ((uint64_t)2 << 30)
#define MEMORY_FACTOR    50

/* The start of the file that passes the result from process to process; the debug information
 * follows. */
struct result_header {
    char problem[256]; /* empty: none */
};

static uint64_t uncompressed_size(const struct elf_image *image)
{
    uint64_t size = 0;
    for (size_t i = 0; i < image->sections.n; i++)
        if (strncmp(image->sections.at[i].name, ".debug", 6) == 0 ||
            strncmp(image->sections.at[i].name, ".zdebug", 7) == 0)
            size += image->sections.at[i].size;
    return size;
}

/* The size in a damaged section header can be anything; beyond this one it raises no limit. */
static uint64_t bounded(uint64_t size)
{
    const uint64_t most = (uint64_t)16 << 30;
    return size < most ? size : most;
}

/* The size of the debug information in all files. */
static uint64_t debug_size(const struct dwarf_inputs *inputs)
{
    uint64_t size = bounded(uncompressed_size(inputs->debug));
    for (size_t i = 0; inputs->split && i < inputs->split->files.n; i++)
        size += bounded(uncompressed_size(inputs->split->files.at[i]));
    return bounded(size);
}

/* The address space that the mapped files take already. */
static uint64_t mapped_size(const struct dwarf_inputs *inputs)
{
    uint64_t size = inputs->image->file.size + inputs->debug->file.size +
                    (inputs->supplement ? inputs->supplement->file.size : 0);
    for (size_t i = 0; inputs->split && i < inputs->split->files.n; i++)
        size += inputs->split->files.at[i]->file.size;
    return size;
}

static rlim_t seconds_for(uint64_t size)
{
    return BASE_SECONDS + size / BYTES_PER_SECOND;
}

/* Sets the limits of this process. The soft limit of time sends SIGXCPU, which tells the parent the
 * cause; the hard one is a second later, since it sends SIGKILL and would come first otherwise. */
static void limit_resources(const struct dwarf_inputs *inputs, uint64_t size)
{
    rlim_t seconds = seconds_for(size);
    rlim_t memory = BASE_MEMORY + MEMORY_FACTOR * size + mapped_size(inputs);
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
#else
    (void)memory;
#endif
}

/* The child: reads, writes the result to the file, and ends. */
static _Noreturn void read_and_exit(int fd, const struct dwarf_inputs *inputs, uint64_t size)
{
    struct debug_info info = {0};
    struct result_header header = {0};
    limit_resources(inputs, size);
    char *problem = dwarf_read_unprotected(&info, inputs);
    if (problem)
        snprintf(header.problem, sizeof header.problem, "%s", problem);
    FILE *out = fdopen(fd, "w");
    bool written =
        out && fwrite(&header, sizeof header, 1, out) == 1 && debug_info_save(&info, out);
    _exit(written ? 0 : 1);
}

/* Why the process failed; the caller frees. */
static char *failure(int status, uint64_t size)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return mem_printf("libdwarf did not finish within %llu s",
                          (unsigned long long)seconds_for(size));
    if (WIFSIGNALED(status))
        return mem_printf("libdwarf crashed (%s)", strsignal(WTERMSIG(status)));
    return mem_strdup("libdwarf failed");
}

/* Reads the result of the process from the file. Returns the problem as dwarf_read does. */
static char *read_result(struct debug_info *info, int fd)
{
    char *problem = NULL;
    struct stat status;
    struct result_header header;
    void *at = MAP_FAILED;
    if (fstat(fd, &status) == 0 && (size_t)status.st_size >= sizeof header)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return mem_strdup("the result of libdwarf is lost");
    memcpy(&header, at, sizeof header);
    const struct elf_bytes bytes = {(const uint8_t *)at + sizeof header,
                                    (size_t)status.st_size - sizeof header};
    if (!debug_info_load(info, bytes))
        problem = mem_strdup("libdwarf failed");
    else if (header.problem[0])
        problem = mem_strndup(header.problem, sizeof header.problem);
    munmap(at, (size_t)status.st_size);
    return problem;
}

static struct elf_bytes section_contents(const struct elf_image *image, const char *name)
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
static void read_lines_only(struct debug_info *info, const struct dwarf_inputs *inputs)
{
    const struct line_sections sections = {
        .lines = section_contents(inputs->debug, ".debug_line"),
        .line_strings = section_contents(inputs->debug, ".debug_line_str"),
        .strings = section_contents(inputs->debug, ".debug_str"),
    };
    line_tables_read_all(&sections, info, inputs->image);
    debug_info_finish(info);
}

char *dwarf_read(struct debug_info *info, const struct dwarf_inputs *inputs)
{
    char *problem;
    uint64_t size = debug_size(inputs);
    int fd = memfd_create("debug information", MFD_CLOEXEC), status = 0;
    fflush(NULL); /* else both processes write what is buffered now */
    pid_t process = fd < 0 ? -1 : fork();
    if (process == 0)
        read_and_exit(fd, inputs, size);
    if (process < 0) {
        problem = dwarf_read_unprotected(info, inputs);
    } else {
        while (waitpid(process, &status, 0) < 0 && errno == EINTR)
            ;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            problem = read_result(info, fd);
        else
            problem = failure(status, size);
        if (problem && info->files.count == 0)
            read_lines_only(info, inputs);
    }
    if (fd >= 0)
        close(fd);
    return problem;
}
