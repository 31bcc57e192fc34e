#include "hpcrun/logical/last-wakers.h"

struct waker last_wakers[1 << WAKER_BITS];
