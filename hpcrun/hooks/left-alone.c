#include "hpcrun/hooks/left-alone.h"

#include "hpcrun/base/fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"

#include <unistd.h>

/* The thread sanitizer's runtime stands before libc's functions. It can't be called before it is
 * initialised, which is later than we begin, and from a sample it would report races of ours. */
void __tsan_init(void) __attribute__((weak, visibility("default")));

bool is_left_alone(void)
{
#ifdef __SANITIZE_THREAD__
    return false; /* a test of this library */
#else
    return __tsan_init;
#endif
}

void tell_left_alone(void)
{
    char buffer[128];
    struct text line = TEXT(buffer);
    if (!config_read(&process.config, environ))
        return;
    text_add(&line, "the program is built with the thread sanitizer: it is not measured");
    process.pid = sys_getpid();
    fds_init();
    report_init();
    report_loss(&line);
    report_after_fork();
}
