#include "viewer-tui/output/open-timeline.h"

#include "lib/binary-search.h"
#include "viewer-tui/base/shorten.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-restriction.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-samples.h"
#include "viewer-tui/output/time-looks.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <unistd.h>

/* Most columns of a procedure's name in a path. */
#define MOST_NAME_COLUMNS 40

const char *database_why_none(void)
{
    return problem_text() ? problem_text() : "the database cannot be read";
}

const char *timeline_why_none(const struct session *session)
{
    autofree char *path = mem_printf("%s/%s", session->runs.at[0].folder, TIMELINE_FILE);
    bool is_there = access(path, F_OK) == 0;
    return is_there && problem_text() ? problem_text()
                                      : "there is no time line: hpcrun records one unless it is told --trace off";
}

const char *open_timeline(struct open_timeline *open, struct session *session, enum projection projection,
                          bool has_all_threads, unsigned columns)
{
    const struct session_run *run = &session->runs.at[0];
    struct database *db = session_database(session, projection);
    struct threads threads;
    *open = (struct open_timeline){0};
    if (!db || !database_nodes(db))
        return database_why_none();
    open->timeline = session_timeline(session);
    if (!open->timeline)
        return timeline_why_none(session);
    open->hosts_differ = run_hosts_differ(run->runs_read.at[0]);
    open->clock_error = run_clock_error(run->runs_read.at[0]);
    open->scopes = place_scopes_of(db, open->timeline, projection == PHYSICAL);
    threads_read(&threads, db, has_all_threads ? run->runs_read.at[0] : session->run, has_all_threads);
    thread_set_keep(session->threads, &threads);
    open->regions = thread_regions_of(&threads, open->timeline);
    open->chart = time_chart_of(open->timeline, &open->scopes, threads, columns);
    if (run->ranges.n) {
        struct time_range span = time_ranges_span(&run->ranges);
        time_chart_show(&open->chart, span.from, span.to, columns);
    }
    if (open->chart.rows.n > 0)
        return NULL;
    close_timeline(open);
    return run->ranges.n ? "no thread has samples in this piece of time" : "these threads have no samples";
}

void close_timeline(struct open_timeline *open)
{
    time_chart_free(&open->chart);
    place_scopes_free(&open->scopes);
    vec_free(&open->regions);
}

void timeline_add_row(const struct open_timeline *open, size_t row, bool ascii, struct text *out)
{
    const struct thread_rows *rows = &open->chart.rows;
    const struct thread_row *of = &rows->rows.at[row];
    const struct thread *thread = thread_of_row(rows, of);
    if (!of->is_group && rows->grouping != BY_THREAD)
        text_add(out, "  ");
    if (!of->is_group) {
        thread_label(thread, open->hosts_differ, ascii, out);
        return;
    }
    if (rows->grouping == BY_PROCESS && thread->process) {
        run_add_place(thread->process, open->hosts_differ, ascii, out);
        text_add_clean(out, run_program_of(thread->process), ascii);
        text_printf(out, " %jd", (intmax_t)thread->pid);
    } else {
        text_add_clean(out, strtab_string(&rows->routines, rows->routine[rows->order[of->first]]), ascii);
    }
    text_printf(out, " (%zu thread%s)", of->n, of->n == 1 ? "" : "s");
}

/* ---- time ---- */

uint64_t timeline_tick_step(uint64_t length, unsigned most)
{
    static const unsigned factors[] = {1, 2, 5};
    uint64_t power = 1;
    for (;; power *= 10)
        for (size_t i = 0; i < 3; i++)
            if (length / (power * factors[i]) <= most || power > UINT64_MAX / 100)
                return power * factors[i];
}

void timeline_add_time(uint64_t time, uint64_t step, struct text *out)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t u = 0;
    while (u < 3 && step * 1000 < units[u].ns)
        u++;
    int decimals = 0;
    for (uint64_t unit = units[u].ns; unit > step && decimals < 9; unit /= 10)
        decimals++;
    text_printf(out, "%.*f %s", decimals, (double)time / (double)units[u].ns, units[u].name);
}

void timeline_add_axis(const struct time_window *window, struct text *out)
{
    uint64_t step = timeline_tick_step(window->end - window->begin, window->n / 10 + 1);
    autofree struct text label = {0};
    size_t at = 0; /* columns that are used */
    for (uint64_t time = (window->begin + step - 1) / step * step; time < window->end; time += step) {
        size_t column = time_window_column(window, time);
        text_clear(&label);
        text_add(&label, "|");
        timeline_add_time(time, step, &label);
        if (column < at || column + label.n > window->n)
            continue;
        text_pad(out, ' ', column - at);
        text_add(out, text_string(&label));
        at = column + label.n + 1;
        text_add(out, at <= window->n ? " " : "");
    }
}

void timeline_add_note(const struct open_timeline *open, struct text *out)
{
    const struct timeline *timeline = open->timeline;
    uint32_t step = 1;
    for (size_t i = 0; i < open->chart.rows.n; i++)
        step = open->chart.rows.records[i]->step > step ? open->chart.rows.records[i]->step : step;
    if (!timeline->is_time)
        text_say(out, false, "amounts of %s", timeline->event);
    else if (!timeline_has_waits(timeline))
        text_add(out, "empty: off CPU or ready, not measured; hpcrun -e REALTIME measures it");
    if (step > 1)
        text_printf(out, "%sa record stands for up to %u samples; hpcrun --trace full keeps all", out->n ? "; " : "",
                    step);
    if (!open->hosts_differ)
        return;
    text_add(out, out->n ? "; " : "");
    double error = open->clock_error; /* clocks that are not synchronized have one of 16 s */
    if (isnan(error))
        text_add(out, "how far the hosts' clocks are apart is not known");
    else if (error >= 1)
        text_add(out, "the hosts' clocks are not synchronized: their rows may be shifted");
    else
        text_printf(out, "the hosts' clocks are less than %.2g ms apart", 2e3 * error);
}

/* ---- the cursor ---- */

/* Adds the states of a sample with their shares, those with the most first, and returns the record with the most. */
static uint64_t add_states(const struct time_samples *sample, struct text *out)
{
    uint64_t amounts[TRACE_STATES] = {0}, most = sample->first;
    for (uint64_t i = sample->first; i < sample->next; i++) {
        amounts[time_sample_state(sample, i)] += trace_amount(sample->records[i].amount);
        if (trace_amount(sample->records[i].amount) > trace_amount(sample->records[most].amount))
            most = i;
    }
    for (bool is_first = true;; is_first = false) {
        int state = 0;
        for (int of = 1; of < TRACE_STATES; of++)
            state = amounts[of] > amounts[state] ? of : state;
        if (amounts[state] == 0)
            return most;
        text_printf(out, "%s%s", is_first ? "" : ", ", trace_states[state].words);
        if (amounts[state] < sample->amount)
            text_printf(out, " %.0f %%", 100 * (double)amounts[state] / (double)sample->amount);
        amounts[state] = 0;
    }
}

uint32_t timeline_add_instant(const struct open_timeline *open, size_t thread, uint64_t time, bool ascii,
                              struct text *out)
{
    const struct thread_rows *rows = &open->chart.rows;
    const struct thread *of = &rows->threads.list.at[rows->order[thread]];
    struct time_samples sample = time_samples_from(open->timeline, rows->records[thread], time);
    uint32_t number = UINT32_MAX;
    thread_label(of, open->hosts_differ, ascii, out);
    text_add(out, ": ");
    bool is_measured = time_samples_next(&sample) && (sample.begin <= time || !open->timeline->is_time);
    if (is_measured)
        number = sample.records[add_states(&sample, out)].place;
    else
        text_add(out, timeline_has_waits(open->timeline) ? "no sample" : "off CPU or ready, or not there");
    bool has_place = number < open->scopes.n;
    struct timeline_place place = has_place ? open->timeline->places[number] : (struct timeline_place){0};
    if (place.n)
        text_printf(out, "; %u of %u workers work", place.working, place.n);
    else if (place.working)
        text_printf(out, "; %u thread%s at work", place.working, place.working == 1 ? "" : "s");
    if (place.waiters)
        text_printf(out, "; %u wait%s for its lock", place.waiters, place.waiters == 1 ? "s" : "");
    thread_regions_add(&open->regions, of->profile, time, ascii, out);
    return has_place ? open->scopes.node[number] : 0;
}

uint32_t timeline_largest_node(const struct open_timeline *open, size_t thread, uint64_t from, uint64_t to)
{
    struct time_samples sample = time_samples_from(open->timeline, open->chart.rows.records[thread], from);
    uint32_t largest = 0;
    double most = 0;
    while (time_samples_next(&sample) && (sample.begin < to || sample.end <= to)) {
        uint64_t begin = sample.begin > from ? sample.begin : from, end = sample.end < to ? sample.end : to;
        double share = sample.end > sample.begin ? (double)(end - begin) / (double)(sample.end - sample.begin) : 1;
        for (uint64_t i = sample.first; i < sample.next; i++) {
            uint32_t place = sample.records[i].place, node = place < open->scopes.n ? open->scopes.node[place] : 0;
            double amount = share * (double)trace_amount(sample.records[i].amount);
            if (node && amount > most) {
                most = amount;
                largest = node;
            }
        }
    }
    return largest;
}

void timeline_add_waker(const struct open_timeline *open, size_t thread, uint64_t time, uint64_t step, size_t columns,
                        bool ascii, struct text *out)
{
    const struct thread_rows *rows = &open->chart.rows;
    const struct timeline *timeline = open->timeline;
    uint64_t n, unit = timeline->header.unit;
    const struct timeline_wake_up *all =
        timeline_wake_ups(timeline, (uint32_t)(rows->records[thread] - timeline->threads), &n);
    uint64_t at = partition_point(i, n, all[i].time * unit < time); /* the first one from then on */
    bool ends_wait = at < n && all[at].began * unit <= time;
    size_t waker = ends_wait ? time_chart_thread(&open->chart, all[at].profile) : rows->n;
    if (waker == rows->n)
        return;
    uint64_t released = all[at].released * unit;
    uint32_t node = timeline_largest_node(open, waker, released - (released > 0), released);
    text_add(out, "woken by ");
    thread_label(&rows->threads.list.at[rows->order[waker]], open->hosts_differ, ascii, out);
    text_add(out, " at ");
    timeline_add_time(released, step, out);
    text_add(out, node ? ": " : "");
    size_t used = text_columns(text_string(out));
    if (node && used < columns) {
        autofree struct text path = {0};
        timeline_add_path(open, node, columns - used, ascii, &path);
        text_add(out, text_string(&path));
    }
    text_cut(out, columns);
}

void timeline_add_path(const struct open_timeline *open, uint32_t node, size_t columns, bool ascii, struct text *out)
{
    const struct place_scopes *scopes = &open->scopes;
    autofree node_path path = {0};
    autofree struct text line = {0}, longer = {0}, place = {0};
    uint32_t at = node;
    while (at && scopes->nodes->kind[at] == KIND_INSTRUCTION)
        at = scopes->nodes->parent[at];
    if (at && scopes->nodes->kind[at] != KIND_ROOT && !is_procedure_kind(scopes->nodes->kind[at])) {
        text_add(&place, "  ");
        label_file_line(scopes->db, scopes->nodes->place[at], scopes->nodes->line[at], &place);
        text_add_clean(&line, text_string(&place), ascii);
    }
    node_path_find(scopes, node, &path);
    for (size_t i = path.n; i-- > 0;) {
        char buffer[NAME_SIZE];
        autofree struct text name = {0};
        text_add_clean(&name, database_procedure_name(scopes->db, scopes->nodes->place[path.at[i]], buffer), ascii);
        text_clear(&longer);
        shorten_name(text_string(&name), MOST_NAME_COLUMNS, ascii, &longer);
        text_printf(&longer, "%s%s", i + 1 < path.n ? " > " : "", text_string(&line));
        bool is_cut = i + 1 < path.n && text_columns(text_string(&longer)) + (i ? 6 : 0) > columns;
        if (is_cut) {
            text_add(out, "... > ");
            break;
        }
        text_clear(&line);
        text_add(&line, text_string(&longer));
    }
    text_add(out, text_string(&line));
    text_cut(out, columns);
}
