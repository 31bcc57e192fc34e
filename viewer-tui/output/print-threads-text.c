/* The threads as text: one line each, what they cost on the left, who they are on the right. */
#include "viewer-tui/output/print.h"

#include "lib/number.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/output/columns.h"
#include "viewer-tui/output/heads.h"
#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/threads/thread-origin.h"
#include "viewer-tui/tree/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Sums over many threads are larger than costs in the trees. */
#define TOTAL_WIDTH  12
#define COLUMN_WIDTH (TOTAL_WIDTH + PERCENT_WIDTH)
#define ID_WIDTH     9

struct printing {
    const struct thread_table *table;
    bool ascii, hosts_differ;
    struct text line;
};

static void end_line(struct printing *printing)
{
    text_end_line(&printing->line, printing->table->out);
}

static double magnitude(const void *threads, size_t metric)
{
    const struct threads *all = threads;
    double sum = all->statistics[SUM][metric];
    return isfinite(sum) ? sum : all->statistics[LARGEST][metric];
}

static struct number_scale scale_of(const struct printing *printing, size_t metric)
{
    const struct thread_table *table = printing->table;
    return columns_scale_beside(&table->db->metrics, metric, magnitude, table->threads);
}

/* Titles in as many lines as they need; those of the other columns are in the first. */
static void print_column_heads(struct printing *printing)
{
    const struct metrics *metrics = &printing->table->db->metrics;
    struct heads heads = {0};
    struct text title = {0};
    for (size_t m = metrics_with_columns(metrics, 0); m < metrics->n;
         m = metrics_with_columns(metrics, m + 1)) {
        text_clear(&title);
        columns_title(&metrics->at[m], scale_of(printing, m).unit, printing->ascii, &title);
        heads_add(&heads, text_string(&title), COLUMN_WIDTH);
    }
    heads_take_line(&heads, false, &printing->line);
    text_printf(&printing->line, "%*s%*s  name", ID_WIDTH, "process", ID_WIDTH, "thread");
    end_line(printing);
    while (heads_take_line(&heads, false, &printing->line))
        end_line(printing);
    heads_free(&heads);
    vec_free(&title);
}

static void add_values(struct printing *printing, const double *values, bool with_shares)
{
    const struct metrics *metrics = &printing->table->db->metrics;
    for (size_t m = metrics_with_columns(metrics, 0); m < metrics->n;
         m = metrics_with_columns(metrics, m + 1)) {
        char number[NUMBER_SIZE], percent[NUMBER_SIZE] = "";
        double whole = threads_whole(printing->table->threads, metrics, m);
        struct number_scale scale = scale_of(printing, m);
        columns_value(&metrics->at[m], values[m], &scale, number);
        bool has_share = metric_is_measured(&metrics->at[m]) && isfinite(values[m]) &&
                         isfinite(whole) && whole != 0;
        if (has_share)
            number_percent(values[m], whole, percent);
        text_add_right(&printing->line, number, TOTAL_WIDTH);
        if (with_shares && has_share && values[m] != 0)
            text_printf(&printing->line, "%*s%%", PERCENT_WIDTH - 1, percent);
        else
            text_pad(&printing->line, ' ', PERCENT_WIDTH);
    }
}

static void add_id(struct printing *printing, int64_t id)
{
    if (id >= 0)
        text_printf(&printing->line, "%*" PRId64, ID_WIDTH, id);
    else
        text_printf(&printing->line, "%*s", ID_WIDTH, "-");
}

/* What the summary explains. */
static void add_losses(struct printing *printing, const struct thread *thread)
{
    if (thread->dropped || thread->partial)
        text_printf(&printing->line,
                    "  (of %" PRIu64 " samples %" PRIu64 " dropped, %" PRIu64 " partial)",
                    thread->samples, thread->dropped, thread->partial);
}

static void print_thread(struct printing *printing, const struct thread *thread)
{
    add_values(printing, thread->totals, true);
    add_id(printing, thread->pid);
    add_id(printing, thread->tid);
    text_add(&printing->line, "  ");
    if (thread->process)
        run_add_place(thread->process, printing->hosts_differ, printing->ascii, &printing->line);
    text_add_clean(&printing->line, thread->pid >= 0 ? thread->name : thread->id, printing->ascii);
    add_losses(printing, thread);
    if (thread->created_at) {
        text_add(&printing->line, "  created at ");
        thread_origin_add(thread->created_at, printing->ascii, &printing->line);
    }
    end_line(printing);
}

static void print_efforts(struct printing *printing)
{
    const struct metrics *metrics = &printing->table->db->metrics;
    for (size_t m = metrics_with_columns(metrics, 0); m < metrics->n;
         m = metrics_with_columns(metrics, m + 1)) {
        if (!metric_is_sum(&metrics->at[m]))
            continue;
        text_add_clean(&printing->line, metrics->at[m].name, printing->ascii);
        text_add(&printing->line, " = ");
        efficiency_add_formula(metrics, m, &printing->line);
        text_add(&printing->line, ", whose percentages are of the effort of all threads");
        end_line(printing);
    }
}

void print_threads_text(const struct thread_table *table)
{
    struct printing printing = {.table = table,
                                .ascii = describe_in_ascii(),
                                .hosts_differ = run_hosts_differ(table->session->run)};
    text_add_clean(&printing.line, session_title(table->session, table->db), printing.ascii);
    text_printf(&printing.line, ": %zu thread%s", table->threads->list.n,
                table->threads->list.n == 1 ? "" : "s");
    end_line(&printing);
    print_efforts(&printing);
    end_line(&printing);
    print_column_heads(&printing);
    for (size_t i = 0; i < table->threads->list.n; i++)
        print_thread(&printing, &table->threads->list.at[i]);
    end_line(&printing);
    for (int s = 0; s < STATISTICS; s++) {
        add_values(&printing, table->threads->statistics[s], s != SUM);
        text_printf(&printing.line, "%*s", ID_WIDTH, statistic_name((enum statistic)s));
        end_line(&printing);
    }
    vec_free(&printing.line);
}
