#include "hpcrun/outside/perf-records.h"

#include "hpcrun/source/kernel-frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields that end every record but a sample. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time, id;
};

static struct trailer trailer_of(const struct perf_event_header *record)
{
    struct trailer trailer = {0};
    if (record->size >= sizeof *record + sizeof trailer)
        memcpy(&trailer, (const uint8_t *)record + record->size - sizeof trailer, sizeof trailer);
    return trailer;
}

struct map_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t start, size, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    char path[];
};

struct name_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    char name[];
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

/* ---- all records ---- */

/* The least size of a record that has its fields. */
static size_t least_size(unsigned type)
{
    switch (type) {
    case PERF_RECORD_SAMPLE:
    case PERF_RECORD_CAUGHT: return sizeof(struct sample_record);
    case PERF_RECORD_MMAP2: return sizeof(struct map_record) + sizeof(struct trailer);
    case PERF_RECORD_COMM: return sizeof(struct name_record) + sizeof(struct trailer);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: return sizeof(struct task_record);
    case PERF_RECORD_LOST: return sizeof(struct lost_record);
    default: return sizeof(struct perf_event_header);
    }
}

/* Its type; 0, which is none of those above, if it lacks fields. */
static unsigned type_of(const struct perf_event_header *record)
{
    return record->size < least_size(record->type) ? 0 : record->type;
}

static bool has_fields(const struct perf_event_header *record)
{
    return type_of(record) == PERF_RECORD_SAMPLE || type_of(record) == PERF_RECORD_CAUGHT;
}

uint64_t perf_record_time(const struct perf_event_header *record)
{
    return has_fields(record) ? ((const struct sample_record *)record)->time : trailer_of(record).time;
}

int perf_record_tid(const struct perf_event_header *record)
{
    return (int)(has_fields(record) ? ((const struct sample_record *)record)->tid : trailer_of(record).tid);
}

uint64_t perf_record_event(const struct perf_event_header *record)
{
    return type_of(record) == PERF_RECORD_SAMPLE ? ((const struct sample_record *)record)->id : trailer_of(record).id;
}

uint64_t perf_record_lost(const struct perf_event_header *record)
{
    return type_of(record) == PERF_RECORD_LOST ? ((const struct lost_record *)(const void *)record)->lost : 0;
}

const struct perf_event_header *perf_record_of_losses(uint64_t records)
{
    static struct lost_record record;
    record = (struct lost_record){.header = {.type = PERF_RECORD_LOST, .size = sizeof record}, .lost = records};
    return &record.header;
}

/* Sample, mapping, name, begin and end have it at the same place. */
int perf_record_pid(const struct perf_event_header *record)
{
    switch (type_of(record)) {
    case PERF_RECORD_SAMPLE:
    case PERF_RECORD_CAUGHT:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: return (int)((const struct task_record *)record)->pid;
    default: return (int)trailer_of(record).pid;
    }
}

const struct task_record *perf_record_begin(const struct perf_event_header *record)
{
    return type_of(record) == PERF_RECORD_FORK ? (const struct task_record *)record : NULL;
}

bool perf_record_is_exec(const struct perf_event_header *record, char name[PROCESS_NAME])
{
    bool is_exec = type_of(record) == PERF_RECORD_COMM && (record->misc & PERF_RECORD_MISC_COMM_EXEC);
    size_t room = is_exec ? record->size - sizeof(struct name_record) - sizeof(struct trailer) : 0;
    memset(name, 0, PROCESS_NAME);
    if (is_exec)
        memcpy(name, ((const struct name_record *)record)->name, room < PROCESS_NAME - 1 ? room : PROCESS_NAME - 1);
    return is_exec;
}

/* ---- mappings ---- */

void perf_record_mapping(const struct perf_event_header *record, struct mapping *mapping)
{
    const struct map_record *map = (const void *)record;
    size_t fixed = sizeof *map + sizeof(struct trailer);
    *mapping = (struct mapping){0};
    if (type_of(record) != PERF_RECORD_MMAP2)
        return;
    mapping->start = map->start;
    mapping->end = map->start + map->size;
    mapping->offset = map->offset;
    mapping->inode = map->inode;
    mapping->major = map->major;
    mapping->minor = map->minor;
    snprintf(mapping->path, sizeof mapping->path, "%.*s", (int)(record->size - fixed), map->path);
}

static void visit_map(const struct perf_visitor *visitor, const struct perf_event_header *record)
{
    static struct mapping mapping;
    perf_record_mapping(record, &mapping);
    visitor->map(&mapping);
}

struct perf_event_header *perf_record_of_mapping(int pid, const struct mapping *mapping)
{
    struct trailer trailer = {.pid = (uint32_t)pid};
    size_t path = (strlen(mapping->path) / 8 + 1) * 8;
    size_t size = sizeof(struct map_record) + path + sizeof trailer;
    struct map_record *map = calloc(1, size);
    if (!map)
        return NULL;
    map->header = (struct perf_event_header){.type = PERF_RECORD_MMAP2, .size = (uint16_t)size};
    map->pid = (uint32_t)pid;
    map->start = mapping->start;
    map->size = mapping->end - mapping->start;
    map->offset = mapping->offset;
    map->inode = mapping->inode;
    map->major = mapping->major;
    map->minor = mapping->minor;
    strcpy(map->path, mapping->path);
    memcpy((uint8_t *)map + size - sizeof trailer, &trailer, sizeof trailer);
    return &map->header;
}

/* ---- samples ---- */

/* The part of a record after its kernel frames; NULL if these go beyond its end. */
static const uint8_t *take_kernel(struct perf_sample *sample, const struct sample_record *fields, const uint8_t *end)
{
    size_t room = (size_t)(end - (const uint8_t *)fields->chain) / sizeof *fields->chain;
    if (fields->chain_length > room)
        return NULL;
    uint64_t n = kernel_frames_in(fields->chain, fields->chain_length, &sample->kernel);
    sample->kernel_count = (unsigned)(n < KERNEL_FRAMES ? n : KERNEL_FRAMES);
    return (const uint8_t *)(fields->chain + fields->chain_length);
}

static uint64_t least_period; /* ns; 0: none is known */

void perf_records_expect(uint64_t period)
{
    least_period = period;
}

static uint64_t period_of(const struct sample_record *sample)
{
    bool is_former = sample->period < least_period && sample->period != SWITCH_PERIOD;
    return is_former ? least_period : sample->period;
}

/* After the fixed fields: the kernel's frames; the kind of registers; these, unless there are none; the number of bytes
 * of the stack; these; and how many of them are valid. */
static bool take_sample(struct perf_sample *sample, const struct perf_event_header *record)
{
    const struct sample_record *fields = (const void *)record;
    *sample = (struct perf_sample){.tid = (int)fields->tid,
                                   .event = fields->id,
                                   .time = fields->time,
                                   .period = period_of(fields)};
    const uint8_t *end = (const uint8_t *)record + record->size, *at = take_kernel(sample, fields, end);
    uint64_t abi, bytes = 0, valid = 0;
    if (!at || (size_t)(end - at) < sizeof abi)
        return false;
    memcpy(&abi, at, sizeof abi);
    at += sizeof abi;
    sample->is_64_bit = abi == PERF_SAMPLE_REGS_ABI_64;
    size_t registers = abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : sizeof sample->registers;
    if ((size_t)(end - at) < registers + sizeof bytes)
        return false;
    memcpy(sample->registers, at, registers);
    memcpy(&bytes, at + registers, sizeof bytes);
    at += registers + sizeof bytes;
    if (bytes > 0 && bytes <= (uint64_t)(end - at) && (uint64_t)(end - at) - bytes >= sizeof valid)
        memcpy(&valid, at + bytes, sizeof valid);
    sample->stack = at;
    sample->copy_bytes = bytes;
    sample->stack_bytes = valid < bytes ? valid : bytes;
    return true;
}

size_t perf_record_unused(const struct perf_event_header *record)
{
    struct perf_sample sample;
    bool has_stack = type_of(record) == PERF_RECORD_SAMPLE && take_sample(&sample, record) && sample.stack_bytes > 0;
    return has_stack ? (sample.copy_bytes - sample.stack_bytes) / 8 * 8 : 0;
}

void perf_record_copy(struct perf_event_header *to, const struct perf_event_header *record, size_t unused)
{
    struct perf_sample sample;
    uint64_t valid;
    memcpy(to, record, record->size - unused);
    if (unused == 0 || !take_sample(&sample, record))
        return;
    uint8_t *stack = (uint8_t *)to + (sample.stack - (const uint8_t *)record);
    uint64_t bytes = sample.copy_bytes - unused;
    valid = sample.stack_bytes;
    memcpy(stack - sizeof bytes, &bytes, sizeof bytes);
    memcpy(stack + bytes, &valid, sizeof valid);
    to->size = (uint16_t)(record->size - unused);
}

uint64_t perf_record_period(const struct perf_event_header *record)
{
    return type_of(record) == PERF_RECORD_SAMPLE ? period_of((const void *)record) : 0;
}

bool perf_record_is_switch(const struct perf_event_header *record)
{
    return type_of(record) == PERF_RECORD_SAMPLE && ((const struct sample_record *)record)->period == SWITCH_PERIOD;
}

bool perf_records_have_equal_registers(const struct perf_event_header *a, const struct perf_event_header *b)
{
    struct perf_sample one, other;
    return take_sample(&one, a) && take_sample(&other, b) && one.is_64_bit && other.is_64_bit &&
           memcmp(one.registers, other.registers, sizeof one.registers) == 0;
}

void perf_record_visit(const struct perf_event_header *record, const struct perf_visitor *visitor)
{
    const struct task_record *task = (const void *)record;
    struct perf_sample sample;
    switch (type_of(record)) {
    case PERF_RECORD_MMAP2: visit_map(visitor, record); break;
    case PERF_RECORD_SAMPLE:
        if (!perf_record_is_switch(record) && take_sample(&sample, record))
            visitor->sample(&sample);
        break;
    case PERF_RECORD_LOST: visitor->lost(perf_record_lost(record)); break;
    case PERF_RECORD_THROTTLE: visitor->throttled(); break;
    case PERF_RECORD_FORK: visitor->begin((int)task->tid, task->time); break;
    case PERF_RECORD_EXIT: visitor->end((int)task->tid, task->time); break;
    case PERF_RECORD_SWITCH:
        visitor->switched((int)trailer_of(record).tid, !(record->misc & PERF_RECORD_MISC_SWITCH_OUT),
                          record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
        break;
    }
}
