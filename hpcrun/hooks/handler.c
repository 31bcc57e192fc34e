#include "hpcrun/hooks/handler.h"

#include "hpcrun/hooks/restart.h"
#include "hpcrun/hooks/signals.h"
#include "hpcrun/sample/take.h"
#include "hpcrun/sample/tracer.h"
#include "hpcrun/source/source.h"

void handler_on_signal(int signal, siginfo_t *info, void *context)
{
    struct thread *thread = thread_self;
    struct thread_event *event = thread ? source_of_signal(thread, info) : NULL;
    if (event) {
        thread_samples_handled++;
        restart_mark(context);
        sample_take(thread, event, info, context);
    } else if (thread && tracer_sent(info)) {
        thread_samples_handled++;
        restart_mark(context);
        sample_take_due(thread, context);
    } else {
        signals_pass_on(signal, info, context);
    }
}
