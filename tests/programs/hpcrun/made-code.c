/* made-code [LIBRARY]: runs code that it makes, without a library in a part of its .bss, else in the place of the library,
 * which it loads and unloads before. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static unsigned char bss[4 * PAGE];

/* Counts down its argument. */
static const unsigned char code[] = "\x48\xff\xcf\x75\xfb\xc3";

static void *page_of(void *address)
{
    return (void *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1));
}

static void *page_of_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW), *place = library ? page_of(dlsym(library, "in_library")) : NULL;
    if (!place || dlclose(library) != 0)
        exit(1);
    return mmap(place, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(int count, char **arguments)
{
    void *page = count > 1 ? page_of_library(arguments[1]) : page_of(bss + 2 * PAGE);
    memcpy(page, code, sizeof code);
    if (mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 1;
    ((void (*)(long))(uintptr_t)page)(300000000);
    return 0;
}
