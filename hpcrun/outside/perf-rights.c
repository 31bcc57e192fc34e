#include "hpcrun/outside/perf-rights.h"

#include "hpcrun/base/text-buffer.h"
#include "hpcrun/outside/perf-events.h"
#include "hpcrun/source/sample-source.h"
#include "hpcrun/source/source-perf.h"
#include "lib/diag.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What root can do about kernel.perf_event_paranoid. */
#define REMEDY                                                                                     \
    "; as root, allow it by: sysctl kernel.perf_event_paranoid=2, or for hpcrun alone by: setcap " \
    "cap_perfmon+ep %s"

static void explain(int pid, int error)
{
    char who[32], buffer[256] = "", self[PATH_MAX] = "";
    struct text reason = TEXT(buffer);
    snprintf(who, sizeof who, "process %d", pid);
    if (error == -ESRCH) {
        diag_error(who, "it has ended");
        return;
    }
    if (pid < 0 && (error == -EACCES || error == -EPERM)) {
        diag_error(NULL, "-a measures the processes of all users, which only root may; "
                         "--name '*' measures your own");
        return;
    }
    if (error == -ENOBUFS) {
        diag_error(NULL, "can't measure from outside: this user may not lock memory for perf's rings, or other "
                         "programs have taken it; allow more by: ulimit -l, or as root: "
                         "sysctl kernel.perf_event_mlock_kb");
        return;
    }
    perf_explain_refusal(&reason, error);
    bool is_level = strstr(buffer, "perf_event_paranoid");
    if (is_level && readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        diag_error(NULL, "can't measure from outside: %s" REMEDY, buffer, self);
    else
        diag_error(NULL, "can't measure from outside: %s", buffer);
}

bool perf_rights_suffice(int pid, int error)
{
    if (error != 0)
        explain(pid, error);
    return error == 0;
}

bool perf_rights_check(int pid)
{
    return perf_rights_suffice(pid, perf_events_probe(pid));
}

/* ---- what the measurement file and the summary ask of sample sources; from outside, there is one ---- */

const char *sources_fallback_reason(void)
{
    static char buffer[256];
    struct text reason = TEXT(buffer);
    if (!perf_events_see_kernel())
        perf_explain_refusal(&reason, -EACCES);
    return buffer;
}

uint32_t sources_refused(unsigned event)
{
    (void)event;
    return 0;
}
