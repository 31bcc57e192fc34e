/* The structures of HPCToolkit's v4 database as they lie in its files, and the numbers in them;
 * doc/FORMAT-database.md says which of the format's freedoms we use, doc/FORMATS.md of
 * HPCToolkit's public repository is the specification. hpcprof writes them, hpcviewer reads them.
 *
 * Little-endian, like the machine. A pointer is a u64 offset from the start of its file; 0: none.
 * The stride of an array is stored next to it and may exceed the size of the structure here, in
 * files of a later minor version. Structures marked "fixed" never grow. */
#ifndef LIB_DATABASE_FORMAT_H
#define LIB_DATABASE_FORMAT_H

#include <stdint.h>

#define V4_MAGIC                     "HPCTOOLKIT"
#define V4_MAGIC_SIZE                10
#define V4_FORMAT_SIZE               4
#define V4_MAJOR                     4
#define V4_MINOR                     0
#define V4_HEADER_SIZE               16 /* the sections follow: a v4_section each */
#define V4_FOOTER_SIZE               8
#define V4_META_FORMAT               "meta"
#define V4_META_FOOTER               "_meta.db"
#define V4_PROFILE_FORMAT            "prof"
#define V4_PROFILE_FOOTER            "_prof.db"
#define V4_CCT_FORMAT                "ctxt"
#define V4_CCT_FOOTER                "__ctx.db"
#define V4_META_FILE                 "meta.db"
#define V4_PROFILE_FILE              "profile.db"
#define V4_CCT_FILE                  "cct.db"
#define V4_TRACE_FORMAT              "trce"
#define V4_TRACE_FOOTER              "trace.db"
#define V4_TRACE_FILE                "trace.db"
#define V4_PHYSICAL_FOLDER           "physical"
/* The procedure that has the work and span of the program's serial code. */
#define DATABASE_SERIAL_CODE         "<serial code, between computations>"

#define DATABASE_RUN_FILE            "run.json"
#define DATABASE_RUN_FORMAT          "hpctoolkit-run"
#define DATABASE_RUN_VERSION         2
#define DATABASE_INSTRUCTIONS_FILE   "instructions.json.gz"
#define DATABASE_INSTRUCTIONS_FORMAT "hpctoolkit-instructions 1"

struct v4_header {
    char magic[V4_MAGIC_SIZE];
    char format[V4_FORMAT_SIZE];
    uint8_t major, minor;
};

struct v4_section {
    uint64_t size, at;
};

enum v4_meta_section {
    V4_META_GENERAL,
    V4_META_ID_NAMES,
    V4_META_METRICS,
    V4_META_CONTEXTS,
    V4_META_STRINGS,
    V4_META_MODULES,
    V4_META_FILES,
    V4_META_FUNCTIONS,
    V4_META_SECTIONS
};

enum v4_profile_section { V4_PROFILE_INFOS, V4_PROFILE_ID_TUPLES, V4_PROFILE_SECTIONS };

enum v4_trace_section { V4_TRACE_HEADERS, V4_TRACE_SECTIONS };

enum v4_cct_section { V4_CCT_INFOS, V4_CCT_SECTIONS };

/* meta.db: general properties. */
struct v4_general {
    uint64_t title, description;
};

/* meta.db: names of the kinds of identifiers. */
struct v4_id_names {
    uint64_t names; /* an array of pointers to strings */
    uint8_t n_kinds;
};

/* meta.db: metrics. */
struct v4_metrics {
    uint64_t metrics;
    uint32_t n_metrics;
    uint8_t metric_size, scope_instance_size, summary_size;
    uint64_t scopes;
    uint16_t n_scopes;
    uint8_t scope_size;
};

struct v4_metric {
    uint64_t name, scope_instances, summaries;
    uint16_t n_scope_instances, n_summaries;
};

struct v4_scope_instance {
    uint64_t scope;
    uint16_t metric_id;
};

struct v4_summary {
    uint64_t scope, formula;
    uint8_t combine;
    uint16_t metric_id;
};

struct v4_scope {
    uint64_t name;
    uint8_t type, propagation_index;
};

enum v4_scope_type { V4_CUSTOM, V4_POINT, V4_EXECUTION, V4_TRANSITIVE };

enum v4_combine { V4_SUM, V4_MIN, V4_MAX };

/* meta.db: load modules, source files, functions. */
struct v4_table {
    uint64_t items;
    uint32_t n_items;
    uint16_t item_size;
};

struct v4_module {
    uint32_t flags;
    uint64_t path;
};

struct v4_file {
    uint32_t flags;
    uint64_t path;
};

enum v4_file_flag { V4_FILE_COPIED = 1 };

struct v4_function {
    uint64_t name, module, offset, file;
    uint32_t line, flags;
};

/* meta.db: the context tree. */
struct v4_context_tree {
    uint64_t entries;
    uint16_t n_entries;
    uint8_t entry_size;
};

struct v4_entry {
    uint64_t children_size, children;
    uint32_t context_id;
    uint16_t kind;
    uint64_t name;
};

/* Separates the names of an entry point and of its executable, if the database has several
 * executables: "main thread of make". */
#define V4_ENTRY_OF " of "

enum v4_entry_kind { V4_UNKNOWN_ENTRY, V4_MAIN_THREAD, V4_APPLICATION_THREAD };

/* Followed by 8 * n_flex_words bytes: pointer to function if V4_HAS_FUNCTION; pointer to file,
 * u32 line if V4_HAS_LOCATION; pointer to module, u64 offset if V4_HAS_POINT; each aligned to its
 * size, a u32 filling the first half word that is free. */
struct v4_context {
    uint64_t children_size, children;
    uint32_t context_id;
    uint8_t flags, relation, lexical_type, n_flex_words;
    uint16_t propagation;
};

enum v4_context_flag { V4_HAS_FUNCTION = 1, V4_HAS_LOCATION = 2, V4_HAS_POINT = 4 };

enum v4_relation { V4_LEXICAL, V4_CALL, V4_INLINED_CALL };

enum v4_lexical_type { V4_FUNCTION, V4_LOOP, V4_LINE, V4_INSTRUCTION };

/* profile.db: profiles, and the values of one, by context. */
struct v4_profiles {
    uint64_t profiles;
    uint32_t n_profiles;
    uint8_t profile_size;
};

struct v4_context_values { /* fixed */
    uint64_t n_values, values;
    uint32_t n_contexts;
    uint64_t contexts;
};

struct v4_profile {
    struct v4_context_values values;
    uint64_t id_tuple;
    uint32_t flags;
};

enum v4_profile_flag { V4_IS_SUMMARY = 1 };

struct v4_metric_value { /* fixed */
    uint16_t metric_id;
    double value;
} __attribute__((packed));

struct v4_context_index { /* fixed */
    uint32_t context_id;
    uint64_t start;
} __attribute__((packed));

/* profile.db: followed by n_ids v4_id. */
struct v4_id_tuple {
    uint16_t n_ids, reserved[3];
};

struct v4_id { /* fixed */
    uint8_t kind;
    uint16_t flags;
    uint32_t logical_id;
    uint64_t physical_id;
};

enum v4_id_flag { V4_ID_IS_PHYSICAL = 1 };

/* cct.db: contexts, and the values of one, by metric. */
struct v4_context_infos {
    uint64_t contexts;
    uint32_t n_contexts;
    uint8_t context_size;
};

struct v4_profile_values { /* fixed */
    uint64_t n_values, values;
    uint16_t n_metrics;
    uint64_t metrics;
};

struct v4_profile_value { /* fixed */
    uint32_t profile;
    double value;
} __attribute__((packed));

struct v4_metric_index { /* fixed */
    uint16_t metric_id;
    uint64_t start;
} __attribute__((packed));

/* trace.db: from its time on, the thread is in the context. */
struct v4_traces {
    uint64_t traces;
    uint32_t n_traces;
    uint8_t trace_size;
    uint64_t min_time, max_time; /* ns since the epoch */
};

struct v4_trace {
    uint32_t profile;
    uint64_t start, end;
};

struct v4_trace_element { /* fixed */
    uint64_t time;
    uint32_t context_id;
} __attribute__((packed));

_Static_assert(sizeof(struct v4_header) == V4_HEADER_SIZE, "as specified");
_Static_assert(sizeof(struct v4_metrics) == 0x20, "as specified");
_Static_assert(sizeof(struct v4_metric) == 0x20, "as specified");
_Static_assert(sizeof(struct v4_scope_instance) == 0x10, "as specified");
_Static_assert(sizeof(struct v4_summary) == 0x18, "as specified");
_Static_assert(sizeof(struct v4_scope) == 0x10, "as specified");
_Static_assert(sizeof(struct v4_module) == 0x10, "as specified");
_Static_assert(sizeof(struct v4_file) == 0x10, "as specified");
_Static_assert(sizeof(struct v4_function) == 0x28, "as specified");
_Static_assert(sizeof(struct v4_entry) == 0x20, "as specified");
_Static_assert(sizeof(struct v4_context) == 0x20, "as specified");
_Static_assert(sizeof(struct v4_context_values) == 0x20, "as specified");
_Static_assert(sizeof(struct v4_profile) == 0x30, "as specified");
_Static_assert(sizeof(struct v4_metric_value) == 0x0a, "as specified");
_Static_assert(sizeof(struct v4_context_index) == 0x0c, "as specified");
_Static_assert(sizeof(struct v4_id_tuple) == 0x08, "as specified");
_Static_assert(sizeof(struct v4_id) == 0x10, "as specified");
_Static_assert(sizeof(struct v4_profile_values) == 0x20, "as specified");
_Static_assert(sizeof(struct v4_profile_value) == 0x0c, "as specified");
_Static_assert(sizeof(struct v4_metric_index) == 0x0a, "as specified");
_Static_assert(sizeof(struct v4_traces) == 0x20, "as specified");
_Static_assert(sizeof(struct v4_trace) == 0x18, "as specified");
_Static_assert(sizeof(struct v4_trace_element) == 0x0c, "as specified");

#endif
