#include "hpcrun/launch/kernel-option.h"

#include "hpcrun/base/kernel-text.h"
#include "hpcrun/source/source-perf.h"
#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/kernel-symbols.h"
#include "lib/safe-output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Whether perf may sample the kernel. If not, prints why. */
static bool kernel_may_be_sampled(void)
{
    char buffer[256];
    struct text reason = TEXT(buffer);
    long error = perf_probe_task_clock();
    if (error == 0)
        return true;
    perf_explain_refusal(&reason, error);
    diag_note(NULL, "no kernel frames: %s%s", buffer,
              strstr(buffer, "paranoid") ? "; as root, allow it by: sysctl kernel.perf_event_paranoid=1" : "");
    return false;
}

static bool may_have_frames(const struct event *event)
{
    return event->kind != EVENT_REALTIME && !(event->options & EVENT_EXCLUDE_KERNEL);
}

void kernel_option_apply(struct config *config)
{
    bool any = false;
    if (!kernel_may_be_sampled())
        return;
    for (unsigned i = 0; i < config->event_count; i++)
        if (may_have_frames(&config->events[i])) {
            config->events[i].options |= EVENT_KERNEL_FRAMES;
            any = true;
        }
    if (!any)
        diag_note(NULL, "no kernel frames: samples of REALTIME have none; add -e CPUTIME");
    else if (kernel_text_start() == 0)
        diag_note(NULL, "kernel frames have no names: kernel.kptr_restrict hides them; as root, allow it by: sysctl "
                        "kernel.kptr_restrict=0");
}

void kernel_option_save_names(const struct measurement_directory *directory, bool shared)
{
    struct utsname host = {0};
    struct kernel_wanted all = {.start = kernel_text_start(), .boot = kernel_boot()};
    char *cause = NULL;
    int fd = all.start ? own_directory_open(directory->path, &cause) : -1;
    free(cause);
    if (fd < 0)
        return;
    uname(&host);
    char *name = mem_printf("%s" KERNEL_SYMBOLS_SUFFIX, host.nodename);
    if (faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && !kernel_symbols_save(fd, name, shared, &all))
        diag_error(name, "%s: kernel frames have no names", strerror(errno));
    free(name);
    close(fd);
}
