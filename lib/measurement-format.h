/* The numbers in measurement files, and their names; doc/FORMAT-hpcrun.md describes them. */
#ifndef LIB_MEASUREMENT_FORMAT_H
#define LIB_MEASUREMENT_FORMAT_H

#include <stdint.h>

#define MEASUREMENT_MAGIC        "HPCRUNMF"
#define MEASUREMENT_MAJOR        2
#define MEASUREMENT_MINOR        7
#define MEASUREMENT_OLDEST_MINOR 2 /* before that, metrics have other names */
#define MEASUREMENT_HEADER_SIZE  16
#define MEASUREMENT_SUFFIX       ".hpcrun"
#define MEASUREMENT_LOG          "hpcrun.log"
#define MEASUREMENT_PROCESSES    ".processes"

#define CHUNK_MAGIC       0x6b6e4843u
#define CHUNK_HEADER_SIZE 24
#define CHUNK_CRC_OFFSET  20
#define CHUNK_MAX_PAYLOAD (1u << 24)
#define CHUNK_NO_THREAD   0xffffffffu
#define CHUNK_NO_NUMBER   0xffffffffu /* of CHUNK_CHILD */

enum chunk_kind {
    CHUNK_PROCESS = 1,
    CHUNK_EVENTS = 2,
    CHUNK_METRICS = 3,
    CHUNK_MODULES = 4,
    CHUNK_NAMES = 5,
    CHUNK_AGENTS = 6,
    CHUNK_WORKERS = 7,
    CHUNK_PROCESS_CLOCK = 8,
    CHUNK_CODE_NAMES = 9,
    CHUNK_REFUSALS = 10,
    CHUNK_OLD_DAG = 11, /* of earlier versions: skipped */
    CHUNK_METRIC_STATES = 12,
    CHUNK_REGIONS = 13,
    CHUNK_CHILD = 14,
    CHUNK_LINES = 15,
    CHUNK_THREAD = 16,
    CHUNK_THREAD_CLOCK = 17,
    CHUNK_NODES = 18,
    CHUNK_ASSOCIATIONS = 19,
    CHUNK_VALUES = 20,
    CHUNK_FATES = 21,
    CHUNK_JOINS = 22,
    CHUNK_TRACE = 23,
    CHUNK_MARKS = 24,
    CHUNK_WAKE_UPS = 25,
};

enum process_origin { ORIGIN_LAUNCHED, ORIGIN_EXEC, ORIGIN_FORK, ORIGIN_OTHER };

/* The title of the database of hpcrun -a. */
#define SYSTEM_TITLE "whole system"

enum event_flag {
    EVENT_TIME = 1,
    EVENT_WALL_CLOCK = 2,
    EVENT_BY_DEFAULT = 4,
    EVENT_BY_RATE = 8,
    EVENT_EXACT = 16,
};

enum metric_flag { METRIC_UNIT_OF_EVENT = 1 };

/* How well a process knows the values of a metric. */
enum recorded_state { RECORDED_EXACT, RECORDED_LOWER_BOUND, RECORDED_NOTHING, RECORDED_STATES };

/* A start or stop of the region was where it cannot be measured. */
enum region_flag { REGION_PARTIAL = 1 };

/* Fixed-point shift of times. */
#define TIME_SHIFT 10

enum module_flag {
    MODULE_MAIN = 1,
    MODULE_VDSO = 2,
    MODULE_HPCRUN = 4,
    MODULE_LIBC = 8,
    MODULE_REPLACED = 16,
    MODULE_KERNEL = 32,
};

/* The path of the module that stands for the kernel. Offsets in it count from where the kernel's code begins; 0: code
 * whose address the kernel hides. */
#define KERNEL_MODULE "[kernel]"

enum process_state {
    PROCESS_RUNNING,
    PROCESS_EXIT,
    PROCESS_EXIT_NOW,
    PROCESS_EXEC,
    PROCESS_SIGNAL,
    PROCESS_QUICK_EXIT,
    PROCESS_RUNS_ON, /* it was measured from outside for a time */
};

/* How much of a process image's measurement could not be written. */
enum image_loss { LOSS_NONE, LOSS_PART, LOSS_ALL };

/* Why a program or process that a measured process started is not measured. */
enum unmeasured {
    UNMEASURED_NONE, /* it is */
    UNMEASURED_STATIC,
    UNMEASURED_OTHER_MACHINE,
    UNMEASURED_OTHER_LIBC,
    UNMEASURED_SETUID,
    UNMEASURED_SETGID,
    UNMEASURED_CAPABILITIES,
    UNMEASURED_ENVIRONMENT,
    UNMEASURED_OUT_OF_REACH,
    UNMEASURED_OTHER_USER,
    UNMEASURED_OTHER_RUN,
    UNMEASURED_SHARED_MEMORY,
    UNMEASURED_UNSEEN,
    UNMEASURED_UNKNOWN, /* this and the one before are never written */
    UNMEASURED_REASONS
};

enum thread_kind { THREAD_INITIAL, THREAD_PTHREAD, THREAD_C11 };

enum association { ASSOC_1_1, ASSOC_1_0, ASSOC_M_0, ASSOC_M_1, ASSOC_1_M };

enum node_tag {
    NODE_ASSOCIATION = 7,
    NODE_FIRST_OF_BICHORD = 1 << 3,
    NODE_HAS_IP = 1 << 4,
    NODE_HAS_LIP = 1 << 5,
    NODE_LIP_IS_IP = 1 << 6,
};

/* How the positions of a name map to lines; numbered as in agents/agent.h. */
enum line_encoding { LINES_NONE, LINES_PYTHON };

enum join_flag { JOIN_IS_CUT = 1 };

/* A region that the program names (include/hpctoolkit.h) begins or ends. */
enum mark_kind { MARK_BEGIN = 1, MARK_END = 2 };

/* What a record of TRACE has, in the byte of its state (lib/trace-format.h). */
enum trace_record_flag { TRACE_HAS_CAPACITY = 1 << 5, TRACE_HAS_WAITERS = 1 << 6 };

/* Reserved module instances. */
#define INSTANCE_NO_MODULE   0
#define INSTANCE_PLACEHOLDER 1
#define INSTANCE_FIRST       2

/* The name of the agent for plain threads. If it is among those of WORKERS, samples of waiting
 * threads pay `waiting`, not `work`. */
#define AGENT_FOR_THREADS "pthread"

enum placeholder {
    PLACEHOLDER_PARTIAL = 1,
    PLACEHOLDER_KERNEL = 2,
    PLACEHOLDER_LOCK = 3,   /* a lock in no module: on the heap or a stack */
    PLACEHOLDER_SERIAL = 4, /* serial code, between computations of a runtime */
    PLACEHOLDER_LOCK_WITHOUT_CPU = 5, /* a thread has no CPU while others wait for its lock; below its path */
};

/* Placeholder of an l-note: this number + the index of the thread on whose stack the path inside of the
 * note begins. */
#define PLACEHOLDER_STACK_OF ((uint64_t)1 << 32)

enum sample_source {
    SOURCE_TASK_CLOCK = 1,
    SOURCE_TASK_CLOCK_USER = 2,
    SOURCE_CPU_TIMER = 3,
    SOURCE_MONOTONIC_TIMER = 4,
    SOURCE_COUNTER = 5,
    SOURCE_OUTSIDE = 6,
    SOURCE_OUTSIDE_USER = 7,
};

enum fate {
    FATE_FIRED = 0,
    FATE_RECORDED = 1,
    FATE_IDLE = 2,
    FATE_NOBODY_WORKING = 3,
    FATE_DROPPED_OWN_CODE = 16,
    FATE_DROPPED_NO_MEMORY = 17,
    FATE_DROPPED_ENDING = 18,
    FATE_DROPPED_BEING_WRITTEN = 19,
    FATE_PARTIAL_NO_FDE = 64,
    FATE_PARTIAL_NO_RULE = 65,
    FATE_PARTIAL_NOT_READABLE = 66,
    FATE_PARTIAL_NOT_A_RETURN_ADDRESS = 67,
    FATE_PARTIAL_TOO_DEEP = 68,
    FATE_PARTIAL_NO_PROGRESS = 69,
    FATE_PARTIAL_BUDGET = 70,
    FATE_KERNEL_UNATTRIBUTED = 96,
};

/* Names of the numbers above as doc/FORMAT-hpcrun.md has them; NULL for unknown numbers. */
const char *fate_name(uint64_t fate);           /* "recorded", "dropped: out of memory" */
const char *fate_drop_reason(uint64_t fate);    /* the text behind "dropped: ", else NULL */
const char *fate_partial_reason(uint64_t fate); /* the text behind "partial: ", else NULL */
const char *source_name(uint64_t source);       /* "perf counter" */
const char *origin_name(uint64_t origin);       /* "launched" */
const char *process_state_name(uint64_t state); /* "_exit" */
const char *thread_kind_name(uint64_t kind);    /* "pthread" */
const char *unmeasured_reason(uint64_t reason); /* "statically linked" */

#endif
