#include "hpcrun/thread/thread-image.h"

#include "hpcrun/base/shared-pages.h"
#include "hpcrun/process/process.h"
#include "hpcrun/thread/ready-time.h"

#include <string.h>
#include <sys/prctl.h>

_Static_assert(MAX_EVENTS == ARENA_EVENTS, "room for all events");

static void use_image(struct thread *thread, struct arena_thread *image)
{
    thread->image = image;
    thread->cct.undo = &image->undo;
    for (unsigned i = 0; i < MAX_EVENTS; i++)
        thread->events[i].fates = image->fates[i];
}

void thread_image_init(struct thread *thread)
{
    use_image(thread, thread->own_image);
}

void thread_image_after_fork(struct thread *thread)
{
    segments_forget_shared(&thread->cct.nodes);
    segments_forget_shared(&thread->cct.values);
    segments_forget_shared(&thread->logical.lnotes.notes);
    segments_forget_shared(&thread->trace);
    segments_forget_shared(&thread->marks);
    segments_forget_shared(&thread->wake_ups);
    use_image(thread, thread->own_image);
    thread->image->state = THREAD_IMAGE_UNUSED;
}

void thread_image_clear(struct thread *thread)
{
    struct arena_thread *image = thread->image;
    image->nodes = image->lnotes = image->values = 0;
    image->undo.count = 0;
    image->join_count = 0;
    image->trace = image->trace_recent_count = 0;
    image->marks = image->lost_marks = thread->marks_written = thread->open_ranges = 0;
    image->wake_ups = image->lost_wake_ups = image->wake_up_scale = 0;
    image->name[0] = '\0';
    memset(image->fates, 0, sizeof image->fates);
    memset(image->source, 0, sizeof image->source);
    use_image(thread, image);
}

void thread_image_clear_trace(struct thread *thread)
{
    uint32_t scale = trace_extent(thread->image->trace).scale;
    thread->image->trace = trace_word((struct trace_extent){.scale = scale});
    thread->image->trace_recent_count = 0;
}

bool thread_image_share(struct thread *thread, struct arena_thread *shared)
{
    const struct arena_thread *own = thread->own_image;
    struct logical *logical = &thread->logical;
    if (!thread_image_is_shared(thread)) {
        memcpy(shared->fates, own->fates, sizeof own->fates);
        memcpy(shared->joins, own->joins, own->join_count * sizeof *own->joins);
        shared->join_count = own->join_count;
        shared->trace = own->trace;
        shared->trace_recent_count = own->trace_recent_count;
        shared->marks = own->marks;
        shared->lost_marks = own->lost_marks;
        shared->wake_ups = own->wake_ups;
        shared->lost_wake_ups = own->lost_wake_ups;
        shared->wake_up_scale = own->wake_up_scale;
        memcpy(shared->trace_open, own->trace_open, sizeof own->trace_open);
        memcpy(shared->trace_recent, own->trace_recent, own->trace_recent_count * sizeof *own->trace_recent);
        use_image(thread, shared);
    }
    return segments_share(&thread->cct.nodes, &thread->image->node_segments) &&
           segments_share(&thread->cct.values, &thread->image->value_segments) &&
           segments_share(&logical->lnotes.notes, &thread->image->lnote_segments) &&
           segments_share(&thread->trace, &thread->image->trace_segments) &&
           segments_share(&thread->marks, &thread->image->mark_segments) &&
           segments_share(&thread->wake_ups, &thread->image->wake_up_segments);
}

void thread_image_identify(struct thread *thread)
{
    struct arena_thread *image = thread->image;
    image->index = thread->index;
    image->tid = (uint32_t)thread->tid;
    image->kind = thread->kind;
    image->creator = thread->creator;
    image->creation_node = thread->creation_node;
    image->began_wall = thread->began_wall;
    image->began_cpu = thread->began_cpu;
    image->start_ip = thread->start_ip;
    image->trace_event = process.config.traced;
    image->trace_is_in_ns = process.config.is_outside ||
                            process.config.events[image->trace_event].kind == EVENT_REALTIME;
}

void thread_image_begin(struct thread *thread)
{
    struct arena_thread *image = thread->image;
    thread_image_identify(thread);
    thread_image_look(thread, moment_now(NEAR_TICKS));
    thread_image_commit(thread, image->looked_ticks);
    __atomic_store_n(&image->state, THREAD_IMAGE_LIVE, __ATOMIC_RELEASE);
}

void thread_image_end(struct thread *thread)
{
    __atomic_store_n(&thread->image->state, THREAD_IMAGE_UNUSED, __ATOMIC_RELEASE);
    __asm__ volatile("" ::: "memory"); /* the data is cleared after this */
}

bool thread_image_take_name(struct thread *thread)
{
    const char *name = thread->logical.query.thread_name;
    if (*name)
        memcpy(thread->image->name, name, sizeof thread->image->name);
    return *name;
}

void thread_image_look(struct thread *thread, struct moment now)
{
    struct arena_thread *image = thread->image;
    for (unsigned i = 0; i < thread->event_count; i++)
        image->source[i] = (uint8_t)thread->events[i].opened_as;
    if (!thread_image_take_name(thread))
        sys2(SYS_prctl, PR_GET_NAME, image->name);
    image->looked_cpu = sys_clock(CLOCK_THREAD_CPUTIME_ID);
    struct cpu_waits waits = own_cpu_waits_since_begin(thread);
    image->looked_ready = waits.ready + 1;
    image->looked_timeslices = waits.timeslices;
    image->looked_wall = now.wall;
    image->looked_ticks = now.ticks;
}
