/* A time line as trace events (the JSON array format of Chrome, which Perfetto and others read): for each thread nested
 * slices, one for each procedure of the call path while it stays the same; within these one that says the state, unless
 * that is working; counters of threads by state; and the regions that the program names, as asynchronous events. */
#include "viewer-tui/output/timeline-lines.h"

#include "lib/json.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-samples.h"

#include <math.h>

/* What is in the window of a record of a thread. Those of one sample, which share an interval, follow each other in it. */
struct piece_of_time {
    double begin, end; /* ns */
    bool continues;    /* where the one before ended: periods vary by half, so gaps of up to a period are none */
    enum trace_state state;
    uint32_t node; /* 0: none */
};

struct chrome_trace {
    struct timeline_lines *lines;
    struct json_writer json;
    int64_t pid, tid; /* of the events' thread */
    bool has_processes;   /* several */
    node_path open, path; /* nodes whose slices are open; those of the piece */
    enum trace_state state;
    bool shows_state; /* a slice of the state is open */
    double end;       /* of the last piece */
};

static void begin_event(struct chrome_trace *trace, const char *phase, double time)
{
    json_print(&trace->json, "\n{ph:%s pid:%jd tid:%jd ts:%g", phase, (intmax_t)trace->pid, (intmax_t)trace->tid,
               time / 1000);
}

/* Begins or ends a slice; some readers want its name at its end, too. */
static void write_slice(struct chrome_trace *trace, const char *phase, const char *name, const char *category,
                        double time)
{
    begin_event(trace, phase, time);
    json_print(&trace->json, "name:%s cat:%s}", name, category);
}

static void write_procedure(struct chrome_trace *trace, const char *phase, uint32_t node, double time)
{
    const struct place_scopes *scopes = &trace->lines->open->scopes;
    char buffer[NAME_SIZE];
    write_slice(trace, phase, database_procedure_name(scopes->db, scopes->nodes->place[node], buffer), "procedure",
                time);
}

/* Ends slices until `n` procedures are open. */
static void end_slices(struct chrome_trace *trace, size_t n)
{
    if (trace->shows_state)
        write_slice(trace, "E", trace_states[trace->state].key, "state", trace->end);
    trace->shows_state = false;
    while (trace->open.n > n)
        write_procedure(trace, "E", trace->open.at[--trace->open.n], trace->end);
}

static void take_piece(struct chrome_trace *trace, const struct piece_of_time *piece)
{
    size_t same = 0;
    node_path_find(&trace->lines->open->scopes, piece->node, &trace->path);
    if (piece->continues)
        trace->end = piece->begin;
    while (piece->continues && same < trace->open.n && same < trace->path.n &&
           trace->open.at[same] == trace->path.at[same])
        same++;
    if (same < trace->open.n || same < trace->path.n || piece->state != trace->state || !piece->continues)
        end_slices(trace, same);
    for (; same < trace->path.n; same++) {
        write_procedure(trace, "B", trace->path.at[same], piece->begin);
        vec_push(&trace->open, trace->path.at[same]);
    }
    if (piece->state != TRACE_WORK && !trace->shows_state) {
        write_slice(trace, "B", trace_states[piece->state].key, "state", piece->begin);
        trace->shows_state = true;
    }
    trace->state = piece->state;
    trace->end = piece->end;
}

/* Takes the pieces of a thread that lie in the window, in the order of time. */
static void take_pieces(struct chrome_trace *trace, size_t thread)
{
    const struct open_timeline *open = trace->lines->open;
    const struct time_window *window = &open->chart.window;
    struct time_samples sample = time_samples_from(open->timeline, open->chart.rows.records[thread], window->begin);
    double end_before = 0, length_before = INFINITY;
    while (time_samples_next(&sample) && sample.begin < window->end) {
        double begin = fmax((double)sample.begin, (double)window->begin);
        double length = fmin((double)sample.end, (double)window->end) - begin;
        if (sample.end > sample.begin && length <= 0)
            continue;
        for (uint64_t i = sample.first; i < sample.next; i++) {
            uint64_t amount = trace_amount(sample.records[i].amount);
            double part = sample.amount ? length * (double)amount / (double)sample.amount : 0;
            uint32_t place = sample.records[i].place;
            take_piece(trace, &(struct piece_of_time){.begin = begin,
                                                      .end = begin + part,
                                                      .continues = begin - end_before <= fmax(part, length_before),
                                                      .state = time_sample_state(&sample, i),
                                                      .node = place < open->scopes.n ? open->scopes.node[place] : 0});
            begin = end_before = begin + part;
            length_before = part;
        }
    }
}

static const struct thread *thread_at(const struct open_timeline *open, size_t number)
{
    return &open->chart.rows.threads.list.at[open->chart.rows.order[number]];
}

/* The pid of a thread's process; if several hosts can have the same one, the number of its first thread, which is unique. */
static int64_t process_number(const struct open_timeline *open, size_t number)
{
    const struct thread *of = thread_at(open, number);
    for (size_t i = 0; open->hosts_differ && i < number; i++)
        if (of->process && thread_at(open, i)->process == of->process)
            return thread_at(open, i)->profile;
    return open->hosts_differ || of->pid < 0 ? of->profile : of->pid;
}

/* Writes a name for a thread or its process. */
static void write_name(struct chrome_trace *trace, const char *what, const char *name)
{
    begin_event(trace, "M", 0);
    json_print(&trace->json, "name:%s args:{name:%s}}", what, name);
}

static void set_thread(struct chrome_trace *trace, size_t number)
{
    const struct open_timeline *open = trace->lines->open;
    const struct thread *of = thread_at(open, number);
    trace->pid = process_number(open, number);
    trace->tid = open->hosts_differ || of->tid < 0 ? of->profile : of->tid;
}

static void write_thread(struct chrome_trace *trace, size_t number)
{
    const struct open_timeline *open = trace->lines->open;
    const struct thread *thread = thread_at(open, number);
    autofree struct text name = {0};
    int64_t last_pid = trace->pid;
    set_thread(trace, number);
    trace->has_processes |= number > 0 && trace->pid != last_pid;
    run_add_place(thread->process, open->hosts_differ, false, &name);
    text_add_clean(&name, thread->process ? run_program_of(thread->process) : "process", false);
    write_name(trace, "process_name", text_string(&name));
    text_clear(&name);
    thread_label(thread, open->hosts_differ, false, &name);
    write_name(trace, "thread_name", text_string(&name));
    trace->end = 0;
    trace->state = TRACE_STATES;
    take_pieces(trace, number);
    end_slices(trace, 0);
}

static void write_regions(struct chrome_trace *trace)
{
    const struct open_timeline *open = trace->lines->open;
    const struct time_window *window = &open->chart.window;
    for (size_t i = 0; i < 2 * open->regions.n; i++) {
        const struct thread_region *region = &open->regions.at[i / 2];
        size_t thread = time_chart_thread(&open->chart, region->profile);
        if (thread == open->chart.rows.n || region->begin >= window->end || region->end <= window->begin)
            continue;
        set_thread(trace, thread);
        begin_event(trace, i % 2 ? "e" : "b", (double)(i % 2 ? region->end : region->begin));
        json_print(&trace->json, "name:%s cat:'region' id:%zu}", region->name, i / 2 + 1);
    }
}

static void write_counters(struct chrome_trace *trace)
{
    struct time_chart *chart = &trace->lines->open->chart;
    struct json_writer *json = &trace->json;
    set_thread(trace, 0); /* they have no thread, but viewers show them in a process */
    for (unsigned column = 0; column < chart->window.n; column++) {
        begin_event(trace, "C", (double)time_window_at(&chart->window, column));
        json_print(json, "name:%s args:{", trace->has_processes ? "threads of all processes" : "threads");
        for (size_t line = 0; line + 1 < STRIP_LINES; line++)
            json_print(json, "%s:%g", strip_lines[line].key, timeline_strip_value(trace->lines, line, column));
        json_print(json, "}}");
    }
}

void print_timeline_chrome(struct timeline_lines *lines, const char *command, FILE *out)
{
    struct chrome_trace trace = {.lines = lines};
    struct json_writer *json = &trace.json;
    json_write_start(json, out, 0);
    json_print(json, "{displayTimeUnit:'ms' otherData:{command:%s event:%s} traceEvents:[", command,
               lines->open->timeline->event);
    for (size_t thread = 0; thread < lines->open->chart.rows.n; thread++)
        write_thread(&trace, thread);
    write_regions(&trace);
    write_counters(&trace);
    json_print(json, "]}");
    json_write_finish(json);
    vec_free(&trace.open);
    vec_free(&trace.path);
}
