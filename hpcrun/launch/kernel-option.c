#include "hpcrun/launch/kernel-option.h"

#include "hpcrun/base/kernel-text.h"
#include "hpcrun/source/source-perf.h"
#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/gzip.h"
#include "lib/kernel-symbols.h"
#include "lib/safe-output.h"

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

void kernel_option_apply(struct config *config)
{
    unsigned real = 0, without = 0;
    if (!kernel_may_be_sampled())
        return;
    for (unsigned i = 0; i < config->event_count; i++) {
        bool is_real = config->events[i].kind == EVENT_REALTIME;
        bool excludes = config->events[i].options & EVENT_EXCLUDE_KERNEL;
        real += is_real;
        without += excludes && !is_real;
        if (!is_real && !excludes)
            config->events[i].options |= EVENT_KERNEL_FRAMES;
    }
    if (real + without == config->event_count)
        diag_note(NULL, "no kernel frames: samples of %s%s%s have none; add -e CPUTIME", real ? "REALTIME" : "",
                  real && without ? " and " : "", without ? "events without the kernel (:u)" : "");
    else if (kernel_text_start() == 0)
        diag_note(NULL, "kernel frames have no names: the kernel hides its addresses from you; as root, allow it by: "
                        "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
}

#define MOST_BYTES (64u << 20)

/* Files of other boots, or with the names that a run from outside has needed, are no replacement. */
static bool has_all_names(const struct measurement_directory *directory, const char *file)
{
    size_t size;
    char *path = mem_printf("%s/%s", directory->path, file), *text = gzip_read(path, MOST_BYTES, &size);
    bool has_all = text && kernel_symbols_are_all(text, kernel_boot());
    free(text);
    free(path);
    return has_all;
}

static long save_names(int directory, const char *file, uint64_t start, bool shared)
{
    struct kernel_procedures procedures = {0};
    size_t size;
    kernel_procedures_read(&procedures, start);
    char *bytes = kernel_symbols_packed(&procedures, kernel_boot(), NULL, 0, &size);
    long error = kernel_names_append(directory, file, (int)own_file_mode(shared), bytes, size);
    free(bytes);
    kernel_procedures_free(&procedures);
    return error;
}

void kernel_option_save_names(const struct measurement_directory *directory, bool shared)
{
    struct utsname host = {0};
    uint64_t start = kernel_text_start();
    char *cause = NULL;
    int fd = start ? own_directory_open(directory->path, &cause) : -1;
    free(cause);
    if (fd < 0)
        return;
    uname(&host);
    char *file = mem_printf("%s" KERNEL_SYMBOLS_SUFFIX, host.nodename);
    long error = has_all_names(directory, file) ? 0 : save_names(fd, file, start, shared);
    if (error)
        diag_error(file, "%s: kernel frames have no names", strerror((int)-error));
    free(file);
    close(fd);
}
