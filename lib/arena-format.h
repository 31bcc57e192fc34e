/* Signal handler: everything here may be used there.
 *
 * The arena file: the trees and fates of a process's threads while it runs, in a shared mapping
 * (doc/FORMAT-hpcrun.md, section 10). A process that ends in any way leaves it behind as it was at
 * that instant; the kernel keeps what was stored. libhpcrun writes these structures with plain
 * stores (thread/thread-image.h), lib/measurement-arenas.c reads them.
 *
 * The publication protocol, for a reader that sees the stores of a thread up to some instant, in
 * their order (x86 keeps the order of stores, the handler that of the compiler's):
 *
 *  1. A thread image counts if its state is THREAD_IMAGE_LIVE; then the thread's chunks in the
 *     measurement file don't count, except JOINS. The state is set after everything else was
 *     filled in, and cleared by one store after the thread's last chunk was written.
 *  2. Nodes, logical notes and values beyond the image's counts are not published. An item is
 *     complete before its count covers it. Published nodes never change, but for `seen` and `values`.
 *  3. Before a sample changes a published word (a value, a fate), it saves the word in `undo`, then
 *     raises the number of saved words. It sets the number to 0 at its end, after the counts. A
 *     reader that finds saved words puts them back, the last one first: that sample never was.
 *  4. The trace has its own word (below). A sample enters it after its end, so it may lack the last one.
 *
 * There are no pointers, so a damaged file can't mislead the process that writes it, and the file
 * can be read at any address. */
#ifndef LIB_ARENA_FORMAT_H
#define LIB_ARENA_FORMAT_H

#include "lib/fate-counts.h"
#include "lib/trace-format.h"

#include <stdbool.h>

#define ARENAS_MAGIC  "HPCRUNAR"
#define ARENAS_MAJOR  2
#define ARENAS_SUFFIX ".arenas"

#define ARENA_EVENTS   8
#define ARENA_JOINS    64
#define ARENA_SEGMENTS 20
#define ARENA_UNDO     16

/* Segment k of an array has 2^(ARENA_FIRST_BITS + k) items; of the trace's and of marks, fewer: so
 * a thread with few of them needs one page. */
#define ARENA_FIRST_BITS 10
#define ARENA_TRACE_BITS 7
#define ARENA_MARK_BITS  5

/* At offset 0. */
struct arena_header {
    char magic[8];
    uint32_t major;
    uint32_t thread_bytes; /* sizeof(struct arena_thread), which grows with the number of fates */
    uint64_t metrics;      /* amounts in a record of values */
    uint64_t began_wall;   /* CLOCK_MONOTONIC at the process's initialization, ns */
    uint64_t began_ticks;  /* the time stamp counter at that time */
    uint64_t wall, cpu;    /* clocks of the process when a thread last looked, ns */
    uint64_t first_thread; /* offset of a thread image; 0: none */
};

/* A node of a calling context tree (hpcrun/tree/cct.h). */
struct cct_node {
    uint64_t ip;         /* 0: the node has no p-note */
    uint32_t parent;
    uint32_t lip;        /* LIP_IS_IP, LIP_NONE, or LIP_OWN + index of a logical note */
    uint32_t values;     /* index of its metric values + 1; 0, or one that is not published: none */
    uint8_t association; /* enum association */
    uint8_t seen;        /* set of associations, by bit */
    uint8_t first;       /* 1: it is the first note of its bichord */
    uint8_t unused;
};

/* A logical note that differs from its node's ip. */
struct lnote {
    uint64_t value; /* an ip, or a name */
    uint64_t site;  /* ip of the call, or a position in the procedure of that name; 0: not known */
};

enum { LIP_IS_IP = 0, LIP_NONE = 1, LIP_OWN = 2 };

/* An ip. Bit 63: bits 0-46 are an address in no module; else bits 40-62 are the module instance, bits 0-39
 * the offset. */
#define IP_OFFSET_BITS 40
#define IP_NO_MODULE   ((uint64_t)1 << 63)

/* Splits an ip into the instance and offset of the measurement file. */
static inline uint32_t ip_instance(uint64_t ip)
{
    return ip & IP_NO_MODULE ? 0 : (uint32_t)(ip >> IP_OFFSET_BITS);
}

static inline uint64_t ip_offset(uint64_t ip)
{
    return ip & IP_NO_MODULE ? ip & ~IP_NO_MODULE : ip & (((uint64_t)1 << IP_OFFSET_BITS) - 1);
}

/* An lip may be a name instead. Bit 62: bits 40-61 are a name table, bits 0-39 a value in it. */
#define IP_NAMED ((uint64_t)1 << 62)

static inline uint64_t ip_named(uint32_t table, uint64_t value)
{
    return IP_NAMED | (uint64_t)table << IP_OFFSET_BITS | ip_offset(value);
}

/* The space of an lip in the measurement file. */
static inline uint64_t ip_space(uint64_t ip)
{
    bool is_named = (ip & (IP_NO_MODULE | IP_NAMED)) == IP_NAMED;
    return is_named ? 2 * (uint64_t)ip_instance(ip & ~IP_NAMED) + 1 : 2 * (uint64_t)ip_instance(ip);
}

/* An array: offsets of its segments in the file; 0: the segment is not there. A record of values is
 * the node's id and one amount for each metric, 64-bit words. */
struct arena_segments {
    uint64_t at[ARENA_SEGMENTS];
};

/* The trace of a thread is an array of records, an open record, and the recent records, which no one shares
 * yet. A sample only adds recent ones, in memory that it uses anyway. When there is no more room for them,
 * they enter the array, one by one: each either becomes its next record, or a part of the open one. A word
 * says which of them count. A store of it leads from one consistent state to the next; what it makes count
 * is complete before it.
 *
 *   bits 0-25   count: number of records in the array
 *   bits 26-30  scale: 2^scale recent records make one of the array
 *   bit  31     the array is being thinned
 *   bits 32-56  parts: number of those that are in the open record, trace_open[parts % 2]; 0: there is none.
 *               While the array is thinned: number of pairs that have been merged
 *   bits 57-63  taken: number of recent records that are in the array or the open record already
 *
 * The recent records from `taken` on count, up to trace_recent_count.
 *
 * Thinning replaces the records 2i and 2i + 1 by record i, for i = 0, 1, ... The record of pair 0 would
 * overwrite what it is made of, so it is trace_open[0] until the last pair is merged. In the meantime the
 * records are trace_open[0], 1 to parts - 1 and 2 parts to count - 1; with parts = 0, 0 to count - 1. */
#define TRACE_COUNT_BITS 26
#define TRACE_MAX_COUNT  (((uint32_t)1 << TRACE_COUNT_BITS) - ((uint32_t)1 << ARENA_TRACE_BITS))
#define TRACE_MAX_SCALE  24

#define ARENA_RECENT 64

struct trace_extent {
    uint32_t count, scale, parts, taken;
    bool is_thinned;
};

static inline uint64_t trace_word(struct trace_extent extent)
{
    return extent.count | (uint64_t)extent.scale << 26 | (uint64_t)extent.is_thinned << 31 |
           (uint64_t)extent.parts << 32 | (uint64_t)extent.taken << 57;
}

static inline struct trace_extent trace_extent(uint64_t word)
{
    return (struct trace_extent){.count = word & (((uint32_t)1 << TRACE_COUNT_BITS) - 1),
                                 .scale = word >> 26 & 31,
                                 .is_thinned = word >> 31 & 1,
                                 .parts = word >> 32 & 0x1ffffff,
                                 .taken = (uint32_t)(word >> 57)};
}

/* A mark on the time line. A thread has at most MAX_MARKS; further ones are counted. */
#define MAX_MARKS 4096
#define MARK_NAME 64

struct arena_mark {
    uint64_t ticks;
    uint32_t kind; /* enum mark_kind */
    char name[MARK_NAME];
};

/* A thread ended a wait of this one. When there are too many, some are left out (hpcrun/sample/wake-up-record.h), and the
 * array may be in the middle of that. Then the times ascend up to some item, and those of later items that are not later
 * than that one's are left over: a reader skips these. */
#define MAX_WAKE_UPS   8192
#define WAKE_UP_WINDOW ((uint64_t)1 << 27) /* ticks, at least 30 ms */

struct arena_wake_up {
    uint64_t ticks, began; /* when this thread went on, and when it began to wait */
    uint64_t released;     /* when the other thread let it; 0: at its end */
    uint64_t thread;       /* index of the other thread */
};

struct arena_join {
    uint32_t thread, node;
    uint64_t ip;
    uint64_t is_cut; /* 0 or 1 */
};

/* What a saved word is, in the bits from 56 on. */
enum arena_word {
    ARENA_WORD_VALUE = 1,  /* bits 8-55: index of the record; bits 0-7: metric */
    ARENA_WORD_COUNT = 2,  /* bits 8-55: event; bits 0-7: slot of the fate (fate-counts.h) */
    ARENA_WORD_AMOUNT = 3, /* the same */
};

static inline uint64_t arena_word(enum arena_word kind, uint64_t index, unsigned low)
{
    return (uint64_t)kind << 56 | index << 8 | low;
}

/* The words that the sample in progress has changed. */
struct arena_undo {
    uint32_t count;
    struct {
        uint64_t word, old;
    } at[ARENA_UNDO];
};

enum thread_image_state { THREAD_IMAGE_UNUSED = 0, THREAD_IMAGE_LIVE = 1 };

/* The system's names have at most 16 bytes; agents may know longer ones. */
#define ARENA_NAME_BYTES 64

/* A thread. Most samples change only the first line of 64 bytes, which ends with the first event's
 * fates `fired` and `recorded`, and two lines of `undo`: the caches are cold at every sample. */
struct arena_thread {
    uint64_t next; /* offset of another thread image; 0: the last one */
    uint32_t state;
    uint32_t nodes, lnotes, values; /* published items; node 0 is the root */
    uint64_t ticks;                 /* at the last sample */
    struct fate_count fates[ARENA_EVENTS][FATE_SLOTS];
    _Alignas(128) uint64_t trace_recent_count;
    struct arena_undo undo;

    uint64_t trace;       /* struct trace_extent */
    uint32_t trace_event; /* whose samples are traced */
    uint32_t trace_is_in_ns; /* 0: times of records are ticks */
    uint8_t source[ARENA_EVENTS]; /* enum sample_source; 0: the event was never open */
    uint32_t index, tid, kind;    /* THREAD */
    uint32_t creator, creation_node;
    uint64_t began_wall, began_cpu, start_ip;
    uint64_t looked_ticks, looked_wall, looked_cpu; /* clocks at one time, about every second */
    uint64_t looked_ready, looked_timeslices; /* until then, as in THREAD CLOCK */
    char name[ARENA_NAME_BYTES];
    struct arena_segments node_segments, lnote_segments, value_segments, trace_segments,
        mark_segments, wake_up_segments;
    uint32_t marks, lost_marks; /* published; above MAX_MARKS */
    uint32_t wake_ups, lost_wake_ups; /* published; left out */
    uint32_t wake_up_scale; /* one window of 2^scale is complete; the others have only waits of 2^scale windows or more */
    struct trace_record trace_open[2];
    _Alignas(64) struct trace_record trace_recent[ARENA_RECENT];
    uint32_t join_count;
    struct arena_join joins[ARENA_JOINS];
};

/* Puts back the fates that an unfinished sample has changed, the last one first. */
static inline void arena_undo_fates(struct arena_thread *thread)
{
    const struct arena_undo *undo = &thread->undo;
    for (uint32_t i = undo->count < ARENA_UNDO ? undo->count : ARENA_UNDO; i > 0; i--) {
        uint64_t word = undo->at[i - 1].word;
        uint64_t kind = word >> 56, event = word >> 8 & 0xffffffffffffu, slot = word & 255;
        if (event >= ARENA_EVENTS || slot >= FATE_SLOTS)
            continue;
        if (kind == ARENA_WORD_COUNT)
            thread->fates[event][slot].count = undo->at[i - 1].old;
        if (kind == ARENA_WORD_AMOUNT)
            thread->fates[event][slot].amount = undo->at[i - 1].old;
    }
}

/* Saves a word that the sample in progress is about to change. A sample changes at most two words of each of
 * three fates, and nine times a metric, fewer than ARENA_UNDO words. */
static inline void arena_undo_save(struct arena_undo *undo, uint64_t word, uint64_t old)
{
    uint32_t i = undo->count;
    if (i >= ARENA_UNDO)
        return;
    undo->at[i].word = word;
    undo->at[i].old = old;
    __atomic_store_n(&undo->count, i + 1, __ATOMIC_RELEASE);
    __asm__ volatile("" ::: "memory"); /* the change comes after this */
}

#endif
