#include "hpcrun/outside/module-image.h"

#include "hpcrun/outside/eh-frame-index.h"
#include "hpcrun/outside/go-frames.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/process/process.h"

#include <elf.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE                   4096u
#define MAX_HEADERS            64
#define MAX_SECTIONS           4096
#define MAX_NAME_BYTES         (1u << 20)
#define MAX_UNWIND_INFORMATION (256u << 20)
#define MAX_SEGMENT            (4ul << 30) /* code reaches 2 GB */
#define USER_END               (1ul << 47) /* of the addresses of programs */

/* Opening a device or a pipe has effects. So a path is first looked up, and then opened if it is the file. */
#define LOOK_UP    O_PATH
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* A module being placed. */
struct placing {
    struct module_image *image;
    const struct mapping *mapping;
    int fd; /* -1: from the process's memory */
    Elf64_Ehdr header;
    Elf64_Phdr segments[MAX_HEADERS];
    Elf64_Shdr *sections; /* owned, as their names, which programs keep when they are stripped */
    char *names;
    size_t names_size; /* 0: no section is known */
};

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

/* Whether the file has these bytes: no table is as large as a number in a damaged file says. */
static bool has_bytes(const struct placing *p, uint64_t offset, uint64_t size)
{
    struct stat status;
    return fstat(p->fd, &status) == 0 && offset <= (uint64_t)status.st_size &&
           size <= (uint64_t)status.st_size - offset;
}

/* This process's vdso; no fault beyond its end. */
static bool read_vdso(uint64_t offset, void *to, size_t size)
{
    struct iovec local = {.iov_base = to, .iov_len = size};
    struct iovec here = {.iov_base = (uint8_t *)getauxval(AT_SYSINFO_EHDR) + offset, .iov_len = size};
    return sys6(SYS_process_vm_readv, sys_getpid(), SYS_ARG(&local), 1, SYS_ARG(&here), 1, 0) == (long)size;
}

/* Reads bytes of the file. The one module without a file, the vdso, is the same one here; but that of a 32-bit
 * process is another one. */
static bool read_at(const struct placing *p, uint64_t offset, void *to, size_t size)
{
    if (p->fd < 0)
        return read_vdso(offset, to, size);
    return pread(p->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* ---- the file ---- */

/* Looks it up by its path in the process's root directory. Kernels before 5.6 can't confine a path; there, only a
 * process with the same root directory has files. */
static int look_up_path(const char *path)
{
    const int flags = LOOK_UP | O_NOFOLLOW | O_CLOEXEC;
    int root = measured_open(process.pid, "root", O_PATH | O_DIRECTORY);
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    struct stat there, here;
    if (root < 0)
        return (int)sys4(SYS_openat, AT_FDCWD, path, flags, 0); /* the process has ended */
    int fd = (int)sys4(SYS_openat2, root, path, &how, sizeof how);
    if (fd == -ENOSYS && fstat(root, &there) == 0 && stat("/", &here) == 0 &&
        there.st_ino == here.st_ino && there.st_dev == here.st_dev)
        fd = (int)sys4(SYS_openat, AT_FDCWD, path, flags, 0);
    close(root);
    return fd;
}

/* Looks up the mapped file itself, also if it was deleted. Only root may. */
static int look_up_mapped(const struct mapping *mapping)
{
    char name[64];
    snprintf(name, sizeof name, "map_files/%lx-%lx", mapping->start, mapping->end);
    return measured_open(process.pid, name, LOOK_UP);
}

static bool is_the_inode(int fd, const struct mapping *mapping)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == mapping->inode;
}

/* Some file systems show another device in mappings than in the status of a file. */
static bool is_the_device(int fd, const struct mapping *mapping)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == makedev(mapping->major, mapping->minor);
}

#define LINK_BYTES 32

static const char *own_link(char link[LINK_BYTES], int fd)
{
    snprintf(link, LINK_BYTES, "/proc/self/fd/%d", fd);
    return link;
}

/* Opens the file that was looked up, if it is the mapped one, and closes what it was looked up as. */
static int open_if_mapped(int looked_up, const struct mapping *mapping)
{
    char link[LINK_BYTES];
    if (looked_up < 0)
        return -1;
    bool is_it = is_the_inode(looked_up, mapping);
    int fd = is_it ? (int)sys4(SYS_openat, AT_FDCWD, own_link(link, looked_up), OPEN_FLAGS, 0) : -1;
    close(looked_up);
    return fd;
}

static int open_file(const struct mapping *mapping)
{
    int fd = open_if_mapped(look_up_path(mapping->path), mapping);
    if (fd < 0)
        fd = open_if_mapped(look_up_mapped(mapping), mapping);
    if (fd < 0) /* a deleted program of one's own */
        fd = open_if_mapped(measured_open(process.pid, "exe", LOOK_UP), mapping);
    return fd;
}

/* The path of an open file, as this process sees it. */
static void set_path(struct module_image *image, int fd)
{
    char link[LINK_BYTES];
    measured_link(own_link(link, fd), image->path, sizeof image->path);
}

/* ---- headers ---- */

static bool read_headers(struct placing *p)
{
    const Elf64_Ehdr *header = &p->header;
    return read_at(p, 0, &p->header, sizeof p->header) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64 &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum > 0 &&
           header->e_phnum <= MAX_HEADERS &&
           read_at(p, header->e_phoff, p->segments, header->e_phnum * sizeof *p->segments);
}

/* Finds the segment that the mapping is of: it gives the bias. */
static bool find_bias(struct placing *p)
{
    for (unsigned i = 0; i < p->header.e_phnum; i++) {
        const Elf64_Phdr *segment = &p->segments[i];
        uint64_t first = page_of(segment->p_offset), end = segment->p_offset + segment->p_filesz;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
            p->mapping->offset < first || p->mapping->offset >= end)
            continue;
        p->image->bias =
            p->mapping->start - p->mapping->offset + segment->p_offset - segment->p_vaddr;
        return true;
    }
    return false;
}

/* ---- segments ---- */

/* False for segments that no loader maps, or that would take much of our address space. */
static bool find_bounds(struct placing *p)
{
    struct module_image *image = p->image;
    image->start = UINT64_MAX;
    image->end = 0;
    for (unsigned i = 0; i < p->header.e_phnum; i++) {
        const Elf64_Phdr *segment = &p->segments[i];
        uint64_t start = image->bias + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start > end || end > USER_END || segment->p_filesz > segment->p_memsz ||
            segment->p_filesz > MAX_SEGMENT)
            return false;
        image->start = page_of(start) < image->start ? page_of(start) : image->start;
        image->end = end > image->end ? end : image->end;
    }
    return true;
}

/* Memory at an address where nothing is; NULL: something is. */
static void *map_at(uint64_t at, size_t size, int fd, uint64_t offset)
{
    void *wanted = (void *)(uintptr_t)at;
    int flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_ANONYMOUS : 0);
    long mapped = sys6(SYS_mmap, SYS_ARG(at), SYS_ARG(size),
                       fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ, flags, fd, SYS_ARG(offset));
    if ((void *)mapped == wanted)
        return wanted;
    if (mapped > 0) /* a kernel older than 4.17 */
        sys_unmap((void *)mapped, size);
    return NULL;
}

static bool note_segment(struct module_image *image, void *at, size_t size)
{
    image->segments[image->segment_count].at = (uint64_t)(uintptr_t)at;
    image->segments[image->segment_count].size = size;
    image->segment_count += at != NULL;
    return at;
}

static bool place_segment(struct placing *p, const Elf64_Phdr *segment)
{
    uint64_t at = p->image->bias + segment->p_vaddr, in_page = at % PAGE;
    if (segment->p_offset % PAGE != in_page || p->image->segment_count == IMAGE_SEGMENTS)
        return false;
    void *placed =
        map_at(at - in_page, in_page + segment->p_filesz, p->fd, page_of(segment->p_offset));
    return note_segment(p->image, placed, in_page + segment->p_filesz);
}

static bool place_segments(struct placing *p)
{
    for (unsigned i = 0; i < p->header.e_phnum; i++)
        if (p->segments[i].p_type == PT_LOAD && p->segments[i].p_filesz > 0 &&
            !place_segment(p, &p->segments[i]))
            return false;
    return true;
}

/* A module without a file: its bytes are copied. */
static bool place_copy(struct placing *p)
{
    size_t size = p->mapping->end - p->mapping->start;
    void *at = map_at(p->mapping->start, size, -1, 0);
    return note_segment(p->image, at, size) && read_at(p, 0, at, size);
}

static bool is_placed(const struct module_image *image, uint64_t address, size_t size)
{
    for (unsigned i = 0; i < image->segment_count; i++)
        if (address - image->segments[i].at < image->segments[i].size &&
            size <= image->segments[i].size - (address - image->segments[i].at))
            return true;
    return false;
}

/* ---- unwind information ---- */

static void read_sections(struct placing *p)
{
    const Elf64_Ehdr *header = &p->header;
    size_t size = header->e_shnum * sizeof(Elf64_Shdr);
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum > MAX_SECTIONS ||
        header->e_shstrndx >= header->e_shnum)
        return;
    p->sections = malloc(size);
    if (!p->sections || !read_at(p, header->e_shoff, p->sections, size))
        return;
    const Elf64_Shdr *names = &p->sections[header->e_shstrndx];
    if (!has_bytes(p, names->sh_offset, names->sh_size) || names->sh_size >= MAX_NAME_BYTES)
        return;
    p->names = calloc(1, names->sh_size + 1);
    if (p->names && read_at(p, names->sh_offset, p->names, names->sh_size))
        p->names_size = names->sh_size;
}

static bool find_section(const struct placing *p, const char *wanted, Elf64_Shdr *found)
{
    for (unsigned i = 0; p->names_size > 0 && i < p->header.e_shnum; i++) {
        const Elf64_Shdr *section = &p->sections[i];
        if ((section->sh_flags & SHF_ALLOC) && section->sh_name < p->names_size &&
            strcmp(p->names + section->sh_name, wanted) == 0) {
            *found = *section;
            return found->sh_type != SHT_NOBITS && found->sh_size <= MAX_UNWIND_INFORMATION;
        }
    }
    return false;
}

/* A copy of a section, which the caller frees; NULL: it has none. */
static uint8_t *copy_section(const struct placing *p, const char *name, struct eh_frame_copy *copy)
{
    Elf64_Shdr section;
    if (!find_section(p, name, &section) || !has_bytes(p, section.sh_offset, section.sh_size))
        return NULL;
    uint8_t *bytes = malloc(section.sh_size + 1);
    if (bytes && !read_at(p, section.sh_offset, bytes, section.sh_size)) {
        free(bytes);
        bytes = NULL;
    }
    *copy = (struct eh_frame_copy){bytes, section.sh_size, p->image->bias + section.sh_addr};
    return bytes;
}

/* Go's linker puts the functions of Go at the begin of the code, and nothing else into a program without C. */
static bool set_text(const struct placing *p, struct go_table *table)
{
    Elf64_Shdr code;
    struct go_function last;
    if (table->version == GO_1_16 || table->text) {
        table->text += p->image->bias;
        return true;
    }
    table->text = find_section(p, ".text", &code) ? p->image->bias + code.sh_addr : 0;
    return table->text && go_table_function(table, table->count - 1, &last) &&
           last.end == table->text + code.sh_size;
}

/* Makes unwind information of Go's functions, if the module has any. */
static void add_go(struct placing *p, struct eh_frame_copy *frames)
{
    struct eh_frame_copy functions;
    struct go_table table;
    uint8_t *copy = copy_section(p, ".gopclntab", &functions), *made = NULL;
    if (!copy)
        copy = copy_section(p, ".data.rel.ro.gopclntab", &functions);
    if (copy && go_table_open(&table, copy, functions.size) && set_text(p, &table))
        made = go_frames_make(&table, &frames->size);
    uint8_t *placed = made ? map_near(p->image->end, frames->size) : NULL;
    if (note_segment(p->image, placed, frames->size)) {
        memcpy(placed, made, frames->size);
        frames->at = placed;
        frames->address = (uint64_t)(uintptr_t)placed;
    }
    free(made);
    free(copy);
}

/* Makes an index of what has none: .eh_frame of statically linked programs, and what Go has instead. */
static void make_index(struct placing *p)
{
    struct eh_frame_copy sections[2] = {{0}};
    size_t bytes;
    add_go(p, &sections[1]);
    if (p->image->eh_frame_hdr && !sections[1].at)
        return;
    uint8_t *copy = copy_section(p, ".eh_frame", &sections[0]);
    if (!copy)
        sections[0].size = 0;
    const uint8_t *index = eh_frame_index(sections, 2, p->image->end, &bytes);
    if (note_segment(p->image, (void *)(uintptr_t)index, bytes))
        p->image->eh_frame_hdr = index;
    free(copy);
}

static void find_unwind_information(struct placing *p)
{
    struct module_image *image = p->image;
    for (unsigned i = 0; i < p->header.e_phnum; i++) {
        const Elf64_Phdr *segment = &p->segments[i];
        uint64_t at = image->bias + segment->p_vaddr;
        if (segment->p_type == PT_GNU_EH_FRAME && is_placed(image, at, segment->p_filesz))
            image->eh_frame_hdr = (const uint8_t *)(uintptr_t)at;
    }
    if (p->fd < 0)
        return;
    read_sections(p);
    make_index(p);
    free(p->sections);
    free(p->names);
}

/* ---- all together ---- */

/* Whether the process has the same ELF header in memory. */
static bool has_same_header(const struct placing *p)
{
    Elf64_Ehdr header;
    return measured_read(p->image->start, &header, sizeof header) &&
           memcmp(&header, &p->header, sizeof header) == 0;
}

static enum image_result place(struct placing *p)
{
    if (!read_headers(p))
        return IMAGE_NO_ELF;
    if (p->fd < 0)
        p->image->bias = p->mapping->start - p->segments[0].p_vaddr;
    else if (!find_bias(p))
        return IMAGE_NO_ELF;
    if (!find_bounds(p))
        return IMAGE_NO_ELF;
    if (p->fd >= 0 && !is_the_device(p->fd, p->mapping) && !has_same_header(p))
        return IMAGE_NO_FILE;
    if (p->fd < 0 ? !place_copy(p) : !place_segments(p)) {
        module_image_remove(p->image);
        return IMAGE_NO_ROOM;
    }
    find_unwind_information(p);
    return IMAGE_PLACED;
}

enum image_result module_image_place(struct module_image *image, const struct mapping *mapping)
{
    struct placing p = {.image = image, .mapping = mapping, .fd = -1};
    memset(image, 0, sizeof *image);
    if (mapping->path[0] == '/') {
        p.fd = open_file(mapping);
        if (p.fd < 0)
            return IMAGE_NO_FILE;
        set_path(image, p.fd);
    }
    enum image_result result = place(&p);
    if (p.fd >= 0)
        close(p.fd);
    return result;
}

void module_image_remove(struct module_image *image)
{
    while (image->segment_count > 0) {
        image->segment_count--;
        sys_unmap((void *)(uintptr_t)image->segments[image->segment_count].at,
                  image->segments[image->segment_count].size);
    }
}
