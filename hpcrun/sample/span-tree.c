#include "hpcrun/sample/span-tree.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/logical/agent-query.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/creation.h"
#include "hpcrun/span/frame-span.h"
#include "hpcrun/span/strand-clock.h"
#include "hpcrun/span/task-span.h"
#include "hpcrun/span/work-span.h"

/* Call paths at which computations began. Further ones begin below the tree's root. */
#define MAX_ROOTS 512

/* A value is not shown if its error is more than this part of it. */
#define MOST_ERROR 10

static struct root_path {
    uint32_t thread, node;  /* of the path, when it was entered */
    const void *number;     /* index + 1: stands for the site of the root's context */
    bool is_dag;            /* of struct agent_dag: only procedures themselves spawn */
    struct saved_path path; /* to the call that began the computation */
} * roots;
static uint32_t root_count;

/* What the tree of a thread already got of a context's values, when an exec failed. */
static struct entered {
    uint64_t work, span, burdened_span;
} * entered;

static bool is_on, has_run;
static const char *why_untold; /* by a runtime that cannot tell its events; NULL: there is none */
static bool has_entered; /* the last span_tree_enter returned true */
static struct span_totals totals; /* of that time */

/* ---- while the program runs ---- */

/* The record of the calling thread's path to the call that returns to `site`. */
static struct root_path *root_path_at(uint64_t site)
{
    static struct root_path none;
    if (root_count == MAX_ROOTS || !thread_self)
        return &none;
    struct root_path *new = &roots[root_count];
    new->node = creation_save_path(&new->path, site - 1);
    new->thread = thread_self->index;
    for (uint32_t i = 0; i < root_count; i++)
        if (roots[i].node == new->node && roots[i].thread == new->thread)
            return &roots[i];
    new->number = (const void *)(uintptr_t)++root_count;
    return new;
}

/* Computations begin one after the other. */
static void run_begins(const void *key, struct agent_activation root)
{
    if (!is_on)
        return;
    has_run = true;
    struct strand_pause pause = strand_pause(true);
    struct root_path *path = root_path_at((uint64_t)*root.site);
    strand_go_on(&pause);
    path->is_dag = true;
    root.site = &path->number;
    work_span_run_begins(key, root);
}

static void cannot_tell(const char *why)
{
    why_untold = why;
}

static uint64_t region_site(uint64_t site)
{
    has_run = true;
    return (uint64_t)root_path_at(site)->number;
}

static void init_tasks(void)
{
    static const struct agent_tasks events = {.region_begins = task_span_region_begins,
                                              .region_code = task_span_region_code,
                                              .region_ended = task_span_region_ended,
                                              .member_begins = task_span_member_begins,
                                              .member_ended = task_span_member_ended,
                                              .created = task_span_created,
                                              .creation_ended = task_span_creation_ended,
                                              .task_begins = task_span_task_begins,
                                              .task_ended = task_span_task_ended,
                                              .part_ended = task_span_part_ended,
                                              .ended_elsewhere = task_span_ended_elsewhere,
                                              .waits = task_span_waits,
                                              .wait_ended = task_span_wait_ended,
                                              .group_begins = task_span_group_begins,
                                              .cannot_follow = task_span_cannot_follow};
    task_span_init(SPAN_BURDEN_NS, region_site);
    host_observe_tasks(&events);
}

bool span_tree_init(void)
{
    static struct agent_dag events = {.cannot_tell = cannot_tell,
                                      .run_begins = run_begins,
                                      .run_ended = work_span_run_ended,
                                      .resumed = work_span_resumed,
                                      .paused = work_span_paused,
                                      .spawned = work_span_spawned,
                                      .returned = work_span_returned,
                                      .orphaned = work_span_orphaned,
                                      .synced = work_span_synced,
                                      .suspended = work_span_suspended,
                                      .ended = work_span_ended,
                                      .stolen = work_span_stolen};
    roots = sys_pages(MAX_ROOTS * sizeof *roots);
    entered = sys_pages(SPAN_CONTEXTS * sizeof *entered);
    is_on = roots && entered && work_span_init(SPAN_BURDEN_NS);
    if (is_on) {
        host_observe_dag(&events);
        init_tasks();
        frame_span_init(SPAN_BURDEN_NS, region_site);
    }
    return is_on;
}

void span_tree_main_begins(void)
{
    if (is_on)
        work_span_go_on();
}

bool span_tree_is_on(void)
{
    return is_on;
}

void span_tree_stop(void)
{
    is_on = false;
    span_fail(); /* the dag's events do nothing after a failure */
    task_span_stop();
    frame_span_stop();
}

void span_tree_thread_ends(void)
{
    task_thread_ends();
}

/* ---- at the end ---- */

/* Where values go: one thread's tree. */
struct target {
    struct thread *thread;
    struct strand_excess excess;
    struct context_nodes {
        uint32_t caller;    /* at which the context's procedures are called */
        uint32_t procedure; /* of these */
        bool is_dag;        /* struct root_path */
    } * nodes;              /* by context */
};

/* The child of a node with an l-note only; CCT_NO_MEMORY if that fails. */
static uint32_t child(const struct target *to, uint32_t parent, struct lnote lnote)
{
    struct cct_note note = {.association = ASSOC_1_M};
    note.lip = lnotes_lip(&to->thread->logical.lnotes, lnote);
    if (note.lip == 0 || parent == CCT_NO_MEMORY)
        return CCT_NO_MEMORY;
    return cct_child(&to->thread->cct, parent, &note);
}

/* `to->thread` need not be the calling thread. Others may be unloading modules. */
static uint64_t ask(const struct target *to, rule_cache_question *question, uint64_t address)
{
    struct guard none = {0};
    struct guard *guard = thread_self ? &thread_self->unwinder.guard : &none;
    return rule_cache_ask(guard, question, to->thread->unwinder.cache, address);
}

static uint64_t ip_at(const struct target *to, uint64_t address)
{
    uint64_t ip = ask(to, rule_cache_ip, address);
    return ip ? ip : modules_ip_outside(address);
}

static struct context_nodes root_nodes(const struct target *to, uint64_t number)
{
    if (number == 0)
        return (struct context_nodes){.caller = CCT_ROOT};
    const struct root_path *root = &roots[number - 1];
    uint32_t caller = saved_path_insert(&root->path, &to->thread->cct, &to->thread->logical.lnotes);
    return (struct context_nodes){.caller = caller, .is_dag = root->is_dag};
}

/* The function that has an address. */
static uint64_t function_at(const struct target *to, uint64_t address)
{
    return ask(to, rule_cache_function, address);
}

/* Whether a context's site is in the procedure that is the parent, else in a function that this has
 * called. A procedure may be several functions, for example Cilk-5's clones. */
static bool is_site_in_parent(const struct target *to, const struct span_context *context)
{
    return to->nodes[context->parent].is_dag ||
           function_at(to, context->site - 1) ==
               function_at(to, span_context(context->parent)->procedure);
}

/* The node from which a context's procedures are called is that of its site. */
static struct context_nodes nodes_of(const struct target *to, const struct span_context *context)
{
    if (context->parent == CONTEXT_PROGRAM)
        return root_nodes(to, context->site);
    uint64_t site = ip_at(to, context->site - 1);
    const struct context_nodes *parent = &to->nodes[context->parent];
    uint32_t above = is_site_in_parent(to, context) ? parent->caller : parent->procedure;
    return (struct context_nodes){.caller =
                                      child(to, above, (struct lnote){.value = site, .site = site}),
                                  .is_dag = parent->is_dag};
}

/* Adds what a value has grown by since it was entered. It may shrink, since what is subtracted for
 * measuring is known better later. */
static bool add(const struct target *to, uint32_t node, unsigned metric, uint64_t value,
                uint64_t *before)
{
    uint64_t amount = value > *before ? value - *before : 0;
    *before += amount;
    return amount == 0 ||
           (node != CCT_NO_MEMORY && cct_add(&to->thread->cct, node, metric, amount));
}

/* Strands may be so short that the sum of their uncertainties is a large part of it. */
static bool is_too_short(const struct span_time *total)
{
    return total->error > total->time / MOST_ERROR;
}

static bool enter_values(const struct target *to, uint32_t id, uint32_t node)
{
    const struct metrics *metrics = &process.metrics;
    struct span_values values = work_span_values(id, &to->excess);
    struct entered *before = &entered[id];
    bool good = true;
    if (!is_too_short(&totals.work))
        good &= add(to, node, metrics->strand_work, values.work, &before->work);
    if (!is_too_short(&totals.span))
        good &= add(to, node, metrics->span, values.span, &before->span);
    if (!is_too_short(&totals.burdened_span))
        good &= add(to, node, metrics->burdened_span, values.burdened_span, &before->burdened_span);
    return good;
}

static uint32_t serial_node(struct cct *cct)
{
    const struct cct_note serial = {.ip = ip_placeholder(PLACEHOLDER_SERIAL), .first = true};
    return cct_child(cct, CCT_ROOT, &serial);
}

/* The values of a context lie in its procedure, at no statement. */
static bool enter_context(const struct target *to, uint32_t id)
{
    const struct span_context *context = span_context(id);
    if (id == CONTEXT_PROGRAM)
        return enter_values(to, id, serial_node(&to->thread->cct));
    if (context->procedure == 0)
        return true; /* another worker added the same context: this id is unused */
    struct context_nodes *nodes = &to->nodes[id];
    *nodes = nodes_of(to, context);
    nodes->procedure =
        child(to, nodes->caller, (struct lnote){.value = ip_at(to, context->procedure)});
    return enter_values(to, id, nodes->procedure);
}

static bool has_any_run(void)
{
    return is_on && (has_run || frame_span_has_run() || frame_span_problem());
}

/* Why values are not right; NULL: they are, but for memory. */
static const char *problem(void)
{
    if (is_on && frame_span_problem())
        return frame_span_problem();
    if (!has_any_run())
        return why_untold ? why_untold : "no runtime that can report them ran a computation";
    return task_span_problem();
}

bool span_tree_enter(struct thread *thread)
{
    has_entered = false;
    if (is_on)
        frame_span_end();
    totals = work_span_totals();
    span_totals_correct(&totals);
    if (problem() || totals.is_incomplete)
        return false;
    struct target to = {.thread = thread,
                        .excess = span_excess(),
                        .nodes = sys_pages(SPAN_CONTEXTS * sizeof *to.nodes)};
    bool good = to.nodes;
    for (uint32_t id = 0; good && id < span_contexts_end(); id++)
        good = enter_context(&to, id);
    sys_pages_free(to.nodes, SPAN_CONTEXTS * sizeof *to.nodes);
    has_entered = good;
    return good;
}

void span_tree_exec_failed(void)
{
    has_entered = false;
    if (is_on)
        work_span_go_on();
}

static const char *why_not(void)
{
    return problem() ? problem() : "memory ran out";
}

/* "strands are too short to be measured: 84 ns on average, uncertain by 15 ns" */
static void describe_short_strands(struct text *why, const struct span_time *total)
{
    uint64_t strands = total->strands ? total->strands : 1;
    text_add(why, "strands are too short to be measured: ");
    text_add_number(why, total->time / strands >> STRAND_SHIFT);
    text_add(why, " ns on average, uncertain by ");
    text_add_number(why, total->error / strands >> STRAND_SHIFT);
    text_add(why, " ns");
}

static struct span_knowledge knowledge_of(const struct span_time *total, bool is_lower_bound,
                                          struct text *why)
{
    struct span_knowledge of = {.state = RECORDED_EXACT, .error = total->error};
    if (!has_entered) {
        of = (struct span_knowledge){.state = RECORDED_NOTHING, .why = why_not()};
    } else if (is_too_short(total)) {
        describe_short_strands(why, total);
        of = (struct span_knowledge){.state = RECORDED_NOTHING, .why = why->at};
    } else if (is_lower_bound) {
        of.state = RECORDED_LOWER_BOUND;
        of.why = "the order of OpenMP's dependences and ordered loops was not followed";
    }
    return of;
}

struct span_state span_tree_state(void)
{
    static char buffers[3][128];
    struct text whys[] = {TEXT(buffers[0]), TEXT(buffers[1]), TEXT(buffers[2])};
    bool is_lower_bound = task_span_is_lower_bound();
    return (struct span_state){
        .work = knowledge_of(&totals.work, false, &whys[0]),
        .span = knowledge_of(&totals.span, is_lower_bound, &whys[1]),
        .burdened_span = knowledge_of(&totals.burdened_span, is_lower_bound, &whys[2]),
        .has_run = has_any_run() || why_untold};
}
