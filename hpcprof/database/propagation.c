#include "hpcprof/database/propagation.h"

const char *const propagation_names[PROPAGATIONS] = {
    [PROPAGATE_POINT] = "point",
    [PROPAGATE_FUNCTION] = "function",
    [PROPAGATE_LEX_AWARE] = "lex_aware",
    [PROPAGATE_EXECUTION] = "execution",
};
