/* A ledger that survives every end of a process: a mapped file in which threads note the CPU time that
 * they used. An entry has pid and tid (32 bits each), the time that the thread used on purpose, and its
 * CPU clock (64 bits each, ns). */
#ifndef TESTS_PROGRAMS_LEDGER_H
#define TESTS_PROGRAMS_LEDGER_H

#include "burn.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define LEDGER_ENTRIES 64

struct ledger_entry {
    _Atomic uint32_t pid, tid;
    uint64_t burned, cpu;
};

static struct ledger_entry *ledger;

static inline void ledger_open(const char *path)
{
    size_t size = LEDGER_ENTRIES * sizeof *ledger;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        exit(100);
    ledger = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ledger == MAP_FAILED)
        exit(100);
    close(fd);
}

/* The entry of the calling thread, taken at its first note. */
static inline struct ledger_entry *ledger_own(void)
{
    uint32_t pid = (uint32_t)getpid(), tid = (uint32_t)gettid();
    for (struct ledger_entry *entry = ledger; entry < ledger + LEDGER_ENTRIES; entry++) {
        uint32_t free = 0;
        if (atomic_compare_exchange_strong(&entry->tid, &free, tid))
            atomic_store(&entry->pid, pid);
        if (atomic_load(&entry->tid) == tid && atomic_load(&entry->pid) == pid)
            return entry;
    }
    exit(101);
}

static inline void ledger_note(uint64_t burned)
{
    struct ledger_entry *own = ledger_own();
    own->burned += burned;
    own->cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
