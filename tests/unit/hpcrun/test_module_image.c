/* Images of modules whose headers another user may have made up. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/outside/measured-process.h"
#include "hpcrun/outside/module-image.h"
#include "hpcrun/process/process.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define AT   0x500000000000u
#define PAGE 4096u

static char path[] = "/tmp/test_module_image-XXXXXX";
static int file;
static struct {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2]; /* code at the file's begin; data after it */
    uint8_t rest[2 * PAGE];
} module;

struct process process;

int measured_open(int pid, const char *name, int flags)
{
    char self[64];
    (void)pid;
    snprintf(self, sizeof self, "/proc/self/%s", name);
    return (int)sys4(SYS_openat, AT_FDCWD, self, flags | O_CLOEXEC, 0);
}

bool measured_read(uint64_t address, void *to, size_t size)
{
    (void)address;
    (void)to;
    (void)size;
    return false;
}

void measured_link(const char *link, char *to, size_t room)
{
    ssize_t length = readlink(link, to, room - 1);
    to[length > 0 ? length : 0] = '\0';
}

static int begin(void **state)
{
    file = mkstemp(path);
    return file < 0 ? -1 : 0;
}

static int end(void **state)
{
    return unlink(path);
}

ALL_TESTS(begin, end);

static void make_module(void)
{
    memset(&module, 0, sizeof module);
    memcpy(module.header.e_ident, ELFMAG, SELFMAG);
    module.header.e_ident[EI_CLASS] = ELFCLASS64;
    module.header.e_machine = EM_X86_64;
    module.header.e_phentsize = sizeof(Elf64_Phdr);
    module.header.e_phoff = sizeof module.header;
    module.header.e_phnum = 2;
    module.segments[0] = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = PAGE, .p_memsz = PAGE};
    module.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_flags = PF_R | PF_W,
                                      .p_offset = PAGE,
                                      .p_vaddr = PAGE,
                                      .p_filesz = 16,
                                      .p_memsz = PAGE};
}

static enum image_result place(struct module_image *image)
{
    struct stat status;
    struct mapping mapping = {.start = AT, .end = AT + PAGE};
    assert_int_equal(pwrite(file, &module, sizeof module, 0), sizeof module);
    assert_int_equal(fstat(file, &status), 0);
    snprintf(mapping.path, sizeof mapping.path, "%s", path);
    mapping.inode = status.st_ino;
    mapping.major = major(status.st_dev);
    mapping.minor = minor(status.st_dev);
    return module_image_place(image, &mapping);
}

TEST(a_module)
{
    static struct module_image image;
    make_module();
    assert_int_equal(place(&image), IMAGE_PLACED);
    assert_true(image.start == AT && image.end == AT + 2 * PAGE && image.segment_count == 2);
    assert_memory_equal((const void *)(uintptr_t)AT, &module, sizeof module.header);
    module_image_remove(&image);
}

/* Nothing of such a module is mapped here. */
TEST(segments_that_no_loader_maps)
{
    static const struct {
        uint64_t address, file_size, size;
    } damage[] = {
        {0x500000000000, 16, PAGE},           /* beyond the addresses of programs */
        {-(uint64_t)AT - PAGE, 16, 2 * PAGE}, /* around the end of the address space */
        {PAGE, 2 * PAGE, PAGE},               /* more in the file than in memory */
        {PAGE, 1ul << 40, 1ul << 40},         /* a terabyte */
    };
    static struct module_image image;
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        make_module();
        module.segments[1].p_vaddr = damage[i].address;
        module.segments[1].p_filesz = damage[i].file_size;
        module.segments[1].p_memsz = damage[i].size;
        assert_int_equal(place(&image), IMAGE_NO_ELF);
        assert_int_equal(image.segment_count, 0);
    }
}
