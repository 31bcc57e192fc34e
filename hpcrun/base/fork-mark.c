#include "hpcrun/base/fork-mark.h"

#include "hpcrun/base/sys.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define PAGE 4096

static _Atomic uint32_t *mark; /* a page; NULL: no mark */

void fork_mark_set(void)
{
    if (!mark) {
        void *page = sys_pages(PAGE);
        if (page && sys3(SYS_madvise, page, PAGE, MADV_WIPEONFORK) != 0) {
            sys_pages_free(page, PAGE);
            page = NULL;
        }
        mark = page;
    }
    if (mark)
        atomic_store(mark, 1);
}

bool fork_mark_is_wiped(void)
{
    return mark && atomic_load(mark) == 0;
}
