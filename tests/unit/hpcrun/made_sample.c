#include "tests/unit/hpcrun/made_sample.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/sample/lock-wait-record.h"

struct process process;
struct sampling sampling;

struct frame path[3] = {
    {.pc = 1000, .bp = 0x7100}, {.pc = OWN_CODE, .bp = OWN_FRAME}, {.pc = 3000, .bp = OWN_FRAME}};
enum unwind_end path_end;
struct thread thread;
struct thread_event *const event = &thread.events[0];
struct thread_status status;
uint32_t node_of_path, full_metric, running;
struct lock_waiters waiters;
uint64_t paid[KEPT + 1][METRICS], charged;
uint32_t recorded_workers, recorded_n;
bool kernel_is_hidden;
uint64_t entered_ips[KERNEL_FRAMES];
unsigned entered;
struct trace_record found;

static struct arena_thread image;
static struct rule_cache cache;

__thread struct agent_slot *own_slot;

/* ---- stubs for sample.c ---- */

void slots_find_long_calls(uint64_t ticks)
{
}

uint32_t slots_running(void)
{
    return running;
}

struct rule rule_cache_fill(struct rule_cache *of, uint64_t pc)
{
    return (struct rule){.hidden = pc == OWN_CODE};
}

struct lock_waiters lock_waiters_charge(struct memory *memory, int tid, const struct agent_query *query, unsigned which,
                                        uint64_t amount)
{
    assert_ptr_equal(query, &thread.logical.query);
    assert_ptr_equal(memory, &thread.unwinder.memory);
    assert_int_equal(tid, thread.tid);
    assert_int_equal(which, 0);
    charged = amount;
    return waiters;
}

enum unwind_end unwind(struct unwinder *u, const ucontext_t *context)
{
    u->depth = 3;
    u->path = path;
    u->cache = &cache;
    return path_end;
}

const struct thread_status *agent_query_status(struct agent_query *query, struct unwinder *u,
                                               int tid)
{
    return &status;
}

uint32_t lock_kept_node(struct thread *self)
{
    assert_ptr_equal(self, &thread);
    return KEPT;
}

uint32_t agent_query_path(struct agent_query *query)
{
    return 0;
}

uint32_t logical_enter(struct logical *logical, struct unwinder *u, struct cct *cct,
                       enum unwind_end end, uint32_t unchanged)
{
    assert_int_equal(end, path_end);
    return node_of_path;
}

uint32_t logical_unknown(struct cct *cct)
{
    return UNKNOWN;
}

uint64_t modules_kernel_ip(uint64_t address)
{
    return kernel_is_hidden ? KERNEL_IP : KERNEL_IP + address;
}

uint32_t cct_child(struct cct *cct, uint32_t parent, const struct cct_note *note)
{
    assert_in_range(entered, 0, KERNEL_FRAMES - 1);
    entered_ips[entered++] = note->ip;
    return parent == NODE ? UNKNOWN : parent;
}

bool cct_add(struct cct *cct, uint32_t node, uint32_t metric, uint64_t amount)
{
    assert_in_range(node, NODE, KEPT);
    assert_in_range(metric, 0, METRICS - 1);
    if (metric == full_metric)
        return false;
    paid[node][metric] += amount;
    return true;
}

void workers_record(unsigned agent, uint32_t workers, uint32_t n)
{
    recorded_workers = workers;
    recorded_n = n;
}

/* ---- one sample ---- */

int begin_sample(void **state)
{
    memset(&process, 0, sizeof process);
    memset(&thread, 0, sizeof thread);
    memset(&image, 0, sizeof image);
    memset(&paid, 0, sizeof paid);
    thread.image = thread.own_image = &image;
    process.usable_cpus = 8;
    *event = (struct thread_event){.work = WORK,
                                   .wall_time = WALL,
                                   .off_cpu = OFF_CPU,
                                   .ready = READY,
                                   .idleness = IDLENESS,
                                   .incomplete = INCOMPLETE,
                                   .waiting = WAITING,
                                   .lock_blame = LOCK_BLAME,
                                   .fates = image.fates[0]};
    own_slot = NULL;
    waiters = (struct lock_waiters){0};
    running = 0;
    status = (struct thread_status){.kind = AGENT_FOREIGN};
    path_end = UNWIND_COMPLETE;
    node_of_path = NODE;
    full_metric = METRICS;
    recorded_workers = recorded_n = 0;
    kernel_is_hidden = false;
    entered = 0;
    return 0;
}

void take_increment(const struct increment *increment)
{
    static const ucontext_t context;
    sample_record(&thread, event, increment, &context, &found);
}

void take(uint64_t amount)
{
    take_increment(&(struct increment){.fired = true, .amount = amount});
}

void set_status(enum agent_thread_status kind, uint32_t workers, uint32_t working)
{
    status =
        (struct thread_status){.kind = kind, .counts = {.workers = workers, .working = working}};
}

const struct fate_count *fate(enum fate which)
{
    return &event->fates[fate_slot(which)];
}

void assert_fate(enum fate which, uint64_t count, uint64_t amount)
{
    assert_int_equal(fate(which)->count, count);
    assert_int_equal(fate(which)->amount, amount);
}

void assert_only_fate(enum fate which, uint64_t amount)
{
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
        bool has = fate_of_slot(slot) == FATE_FIRED || fate_of_slot(slot) == which;
        assert_int_equal(event->fates[slot].count, has);
        assert_int_equal(event->fates[slot].amount, has ? amount : 0);
    }
}

void assert_paid(uint64_t work, uint64_t idleness, uint64_t incomplete)
{
    assert_int_equal(paid[NODE][WORK], work);
    assert_int_equal(paid[NODE][IDLENESS], idleness);
    assert_int_equal(paid[NODE][INCOMPLETE], incomplete);
}
