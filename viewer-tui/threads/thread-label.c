#include "viewer-tui/threads/thread-label.h"

#include "viewer-tui/db/run.h"

#include <inttypes.h>

void thread_label(const struct thread *thread, bool with_host, bool ascii, struct text *out)
{
    if (thread->pid < 0) {
        text_add_clean(out, thread->id, ascii);
        return;
    }
    run_add_place(thread->process, with_host, ascii, out);
    text_add_clean(out, thread->name, ascii);
    text_printf(out, "%s%" PRId64, *thread->name ? " " : "", thread->pid);
    if (thread->tid >= 0)
        text_printf(out, "/%" PRId64, thread->tid);
}
